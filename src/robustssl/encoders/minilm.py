"""all-MiniLM-L6-v2 (W. Wang et al., 2020: arXiv:2002.10957; N. Reimers and I. Gurevych, 2019:
arXiv:1908.10084), trained on a billion pairs of sentences.
"""

from dataclasses import dataclass
from typing import ClassVar

from robustssl.encoders._sentences import SentenceEncoder


@dataclass(frozen=True, kw_only=True)
class MiniLM(SentenceEncoder):
    """all-MiniLM-L6-v2, trained on pairs of sentences: 384 numbers of a text, quick on a CPU."""

    carried: ClassVar[str] = "minilm"
