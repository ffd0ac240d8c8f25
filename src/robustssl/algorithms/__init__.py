"""Algorithms: one a file, ordinary scikit-learn classifiers that take -1 for unlabeled.

Class attributes: `version`, raised when its numbers change; `baseline`, the name of the matched
supervised algorithm (None for one that is itself supervised); `supervised`; `targets`, the
inconsistencies it is meant for, by its authors or, where they name none, here; `presets`, named
settings.
"""
