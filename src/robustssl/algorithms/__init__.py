"""Algorithms, one per file: scikit-learn classifiers whose `fit` takes -1 for unlabeled rows.

Class attributes. `version`: raised when its numbers change. `baseline`: the name of the matched
supervised algorithm; None if the algorithm is itself supervised. `supervised`: whether it ignores
unlabeled rows. `targets`: the inconsistencies it is built for, as its authors say or, where they do
not say, as chosen here. `presets`: named settings.
"""
