"""Real ratings that need no download: `fair`, which comes with statsmodels.

6,366 women rated their marriage from 1 (very poor) to 5 (very good), in a survey of Redbook
magazine in 1974; eight features describe each (age, years married, children, religiousness,
education, two occupations, affairs). Ray Fair, "A Theory of Extramarital Affairs", Journal of
Political Economy 86 (1978). The arms are clusters of the features: see `clustering`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...exact.extra import bring
from ...exact.number import ExactInput, whole
from . import clustering
from .environment import Environment
from .instance_file import Counts, cached

__all__ = ["fair_instance"]

_RATING = "rate_marriage"


def fair_instance(
    arms: ExactInput = 50, seed: ExactInput = 0, cache: Path | None = None
) -> Environment:
    """The ratings of `fair`, (rating - 1)/4, in this many clusters; `seed` is that of K-means.

    cache: a folder to keep the clusters in. Raises ImportError without `exactdp[data]`.
    """
    count = whole(arms, "arms", at_least=2)
    start = whole(seed, "seed", at_least=0, at_most=2**32 - 1)
    clustering.load_sklearn()
    features, ratings = _load()
    digest = hashlib.sha256(features.tobytes() + ratings.tobytes()).hexdigest()

    def build() -> Counts:
        labels, rewards = clustering.scaled_labels(ratings)
        return clustering.cluster_arms(features, labels, rewards, count, start)

    return cached(cache, clustering.key(digest, count, start), "fair", build)


def _load() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = bring("statsmodels.datasets", "data").fair.load_pandas().data
    features = table.drop(columns=_RATING).to_numpy(dtype=np.float64, copy=True)
    return np.ascontiguousarray(features), table[_RATING].to_numpy(dtype=np.float64)
