"""Texts as they are, for nets that read texts."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from robustssl.encoders import Encoder, Rows
from robustssl.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Texts(Encoder):
    """No encoder: a net that reads texts, text_encoder, gets them as they are."""

    kind: ClassVar[Literal["image", "text"]] = "text"

    def features(self, rows: Rows) -> Any:
        raise InputError(
            "encoder=none leaves texts as they are, and only nets that read texts take them, such "
            "as supervised_net[net=text_encoder[weights=minilm]]; use encoder=minilm or tfidf"
        )
