"""Reports: from records to tables and figures."""

from robustssl.reports.folder import report
from robustssl.reports.notebook import curves

__all__ = ["curves", "report"]
