"""Reports: from records to tables and figures."""

from robustssl.reports.folder import report
from robustssl.reports.notebook import curves
from robustssl.reports.site import site
from robustssl.reports.table import metrics

__all__ = ["curves", "metrics", "report", "site"]
