"""The site: pages that open from disk, a function of records."""

from robustssl.sites.build import site

__all__ = ["site"]
