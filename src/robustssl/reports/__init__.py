"""Reports: from records to tables and figures."""

from robustssl.reports.folder import report
from robustssl.reports.table import metrics

__all__ = ["metrics", "report"]
