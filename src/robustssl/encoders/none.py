"""Texts as they are, for nets that read texts."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from robustssl.encoders import Encoder, Rows
from robustssl.errors import InputError
from robustssl.spec import Count
from robustssl.views.texts import with_views


@dataclass(frozen=True, kw_only=True)
class Texts(Encoder):
    """No encoder: a net that reads texts, text_encoder, gets them as they are.

    weak, strong: how many views of each text there are: with words replaced by synonyms or left
    out, and in strong ones sentences in another order.
    """

    weak: Count = 4
    strong: Count = 8

    kind: ClassVar[Literal["image", "text"]] = "text"

    def with_views(self, rows: Rows) -> Rows:
        """The texts and their views, (n, 1 + weak + strong)."""
        return with_views(rows, self.weak, self.strong)

    def features(self, rows: Rows) -> Any:
        raise InputError(
            "encoder=none leaves texts as they are, and only nets that read texts take them, such "
            "as supervised_net[net=text_encoder[weights=minilm]]; use encoder=minilm or tfidf"
        )
