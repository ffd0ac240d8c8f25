"""Reports: from records to tables and figures."""

from robustssl.reports.choosing import choose
from robustssl.reports.folder import report
from robustssl.reports.notebook import curves

__all__ = ["choose", "curves", "report"]
