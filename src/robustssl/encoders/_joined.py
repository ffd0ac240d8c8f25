"""Several encoders side by side, `a+b`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from robustssl import registry
from robustssl.downloads.banks import Vectors
from robustssl.encoders import Blocks, Encoded, Pretrained, Rows
from robustssl.errors import InputError
from robustssl.records.catalog import composed_version
from robustssl.spec import spell


@dataclass(frozen=True, kw_only=True)
class Joined(Pretrained):
    """The vectors of several encoders side by side, a block each, from the banks of these encoders.

    weak, strong: how many views of each row every encoder keeps.
    """

    names: ClassVar[tuple[str, ...]]

    @property
    def members(self) -> list[Pretrained]:
        views = {"weak": self.weak, "strong": self.strong}
        return [registry.encoder(spell(name, views)) for name in self.names]

    @property
    def width(self) -> int:
        return sum(member.width for member in self.members)

    def _spelt(self, options: dict[str, Any]) -> str:
        return spell("+".join(self.names), options)

    def features(self, rows: Rows) -> Pipeline:
        """The leading components of each block."""
        widths = tuple(member.width for member in self.members)
        return make_pipeline(Encoded(self.spec), Blocks(widths))

    def vectors(self, rows: Rows) -> Vectors:
        return np.concatenate([member.vectors(rows) for member in self.members], axis=-1)

    def views(self, rows: Rows) -> Vectors:
        return np.concatenate([member.views(rows) for member in self.members], axis=-1)


def joined(names: Sequence[str]) -> type[Joined]:
    """The encoder `a+b`, whose members stand in the order of the alphabet."""
    names = tuple(sorted(names))
    members = [registry.find("encoder", name) for name in names]
    able = all(issubclass(member, Pretrained) for member in members)
    kinds = {member.kind for member in members}
    if not able or len(kinds) > 1 or len(set(names)) < len(names):
        raise InputError(
            f"cannot compose {'+'.join(names)!r}: it takes different pretrained encoders of one "
            "kind of data, such as efficientnet_lite0+resnet50"
        )
    body = {
        "__doc__": f"The vectors of {' and of '.join(names)} side by side, a block each.",
        "names": names,
        "kind": kinds.pop(),
        "version": composed_version(*(member.version for member in members)),
    }
    return type("".join(member.__name__ for member in members), (Joined,), body)
