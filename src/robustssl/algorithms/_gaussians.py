"""One Gaussian per class, fitted to rows that belong to each class with a weight."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.special import softmax

from robustssl.classifier import Matrix

Covariance = Literal["full", "diag", "tied"]


@dataclass(frozen=True)
class Gaussians:
    """p(k | x) is proportional to share_k N(x | mean_k, covariance_k)."""

    shares: Matrix  # (K,)
    means: Matrix  # (K, d)
    whiteners: Matrix  # (K, d, d): the inverse Cholesky factors of the covariances

    @classmethod
    def fit(cls, X: Matrix, weights: Matrix, covariance: Covariance, shrinkage: float) -> Self:
        """Weighted maximum likelihood with a prior that weighs as much as `shrinkage` * d rows: it
        draws each covariance towards the pooled one, and the pooled one towards its diagonal.
        """
        N, d = weights.sum(0), X.shape[1]
        means = weights.T @ X / N[:, None]
        scatters = np.stack(
            [
                (X - mean).T @ (w[:, None] * (X - mean))
                for mean, w in zip(means, weights.T, strict=True)
            ]
        )
        pooled = scatters.sum(0) / N.sum()
        prior = shrinkage * d
        target = (N.sum() * pooled + prior * np.diag(np.diag(pooled))) / (N.sum() + prior)
        covariances = (scatters + prior * target) / (N + prior)[:, None, None]
        if covariance == "tied":
            covariances[:] = target
        if covariance == "diag":
            covariances *= np.eye(d)
        variances = np.diag(pooled)  # added below, so that no covariance is singular
        least = 1e-9 * (variances.mean() or 1.0)
        covariances += np.diag(np.where(variances > 0, 1e-6 * variances, least))
        return cls(N / N.sum(), means, np.linalg.inv(np.linalg.cholesky(covariances)))

    def predict_proba(self, X: Matrix) -> Matrix:
        joint = [
            np.log(share) + np.log(np.diag(W)).sum() - 0.5 * (((X - mean) @ W.T) ** 2).sum(1)
            for share, mean, W in zip(self.shares, self.means, self.whiteners, strict=True)
        ]
        return np.asarray(softmax(np.stack(joint, 1), axis=1))
