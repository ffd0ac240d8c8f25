"""all-mpnet-base-v2 (K. Song et al., 2020: arXiv:2004.09297; N. Reimers and I. Gurevych, 2019:
arXiv:1908.10084), trained on a billion pairs of sentences.
"""

from dataclasses import dataclass
from typing import ClassVar

from robustssl.encoders._sentences import SentenceEncoder


@dataclass(frozen=True, kw_only=True)
class MPNet(SentenceEncoder):
    """all-mpnet-base-v2, trained on pairs of sentences: 768 numbers of a text; wants a GPU."""

    carried: ClassVar[str] = "mpnet"
