"""Images of your own, or of Image-CLEF, VisDA, Office: folders of classes, maybe within domains."""

from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from robustssl.data import Dataset
from robustssl.errors import InputError

version = 1
kind = "image"
owner = "you"
licence = "yours"

_SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".webp"}


def load(path: str = "", size: int = 32, encoder: str = "pixels") -> Dataset:
    """A folder CLASS/*.png or DOMAIN/CLASS/*.png: image_folder[path=FOLDER,size=PIXELS].

    size: the pixels, across and along, to which images are brought. encoder: what makes vectors of
    them, such as efficientnet_lite0.
    """
    root = Path(path)
    if not path or not root.is_dir():
        raise InputError(f"there is no folder {path!r}; write image_folder[path=FOLDER]")
    if not isinstance(size, int) or size < 1:
        raise InputError(f"size must be a whole number of pixels, at least 1, got {size!r}")
    files = image_files(root)
    depths = {len(file.relative_to(root).parts) for file in files}
    if depths not in ({2}, {3}):
        raise InputError(f"{path} must hold images as CLASS/file or as DOMAIN/CLASS/file")
    names = [file.parent.name for file in files]
    classes, y = np.unique(names, return_inverse=True)
    domain = (
        np.array([file.parent.parent.name for file in files], object) if depths == {3} else None
    )
    return Dataset(
        root.name,
        np.stack([read_image(file, size) for file in files]),
        y.astype(np.intp),
        kind="image",
        domain=domain,
        meta={"classes": classes.tolist(), "owner": owner, "licence": licence},
        encoder=encoder,
    )


def image_files(root: Path) -> list[Path]:
    """The images below a folder, but for hidden ones."""
    return sorted(
        file
        for file in root.rglob("*")
        if file.suffix.lower() in _SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(root).parts)
    )


def read_image(file: Path, size: int) -> np.ndarray:
    """An image as bytes of three colours, size x size."""
    try:
        with Image.open(file) as image:
            if image.mode.startswith("I"):  # 16 bits a pixel
                whole = Image.fromarray((np.asarray(image) // 256).astype(np.uint8))
            else:
                whole = image.convert("RGB")
            small = whole.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
            return np.asarray(small)
    except (UnidentifiedImageError, OSError) as error:
        raise InputError(f"{file} is not an image: {error}") from error
