"""What a record may hold beside the scores."""

from typing import NamedTuple

FOLDS = "folds"  # in a provenance: how many there were; 0 if there are too few labels


class Extras(NamedTuple):
    """What a study may ask of its records beside the scores: `criteria`, by which settings may be
    chosen (`CRITERIA`), and `bits`, which test rows are right.
    """

    criteria: bool = False
    bits: bool = False

    def within(self, others: "Extras") -> bool:
        """Whether others hold all of these."""
        return all(its or not mine for mine, its in zip(self, others, strict=True))


NO_EXTRAS = Extras()
