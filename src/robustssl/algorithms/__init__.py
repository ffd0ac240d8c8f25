"""Algorithms, one per file: scikit-learn classifiers whose `fit` takes -1 for unlabeled rows.

Class attributes. `version`: raised when its numbers change. `baseline`: the name of the matched
supervised algorithm; None if the algorithm is itself supervised. `supervised`: whether it ignores
unlabeled rows. `targets`: the inconsistencies that its authors claim to answer, each with the place
of the claim; "consistent" is a claim about t = 0 alone. `presets`: named settings, each with its
source; `paper` holds those of the authors that are not the defaults. `collapses`: kinds of
consistent rows on which a deep method is known to fall behind its baseline, with the reason. The
docstring of the class ends with its departures from the authors' code.
"""
