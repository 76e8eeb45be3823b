"""Ratings with features become arms: K-means clusters, each paying the ratings in it.

"We cluster the data by running K-means algorithm with K = 50. We treat each cluster as a bandit
arm with mean reward as the empirical mean of the individual ratings in the cluster" (Chowdhury
and Zhou, ICLR 2023, section 7). An arm here pays a rating picked at random from its cluster, which
has that mean. Features are standardised first, so that none counts more for its units.

`fair` needs no download, it comes with statsmodels: 6,366 women rated their marriage from 1 (very
poor) to 5 (very good), in a survey of Redbook magazine in 1974; eight features describe each (age,
years married, children, religiousness, education, two occupations, affairs). Ray Fair, "A Theory of
Extramarital Affairs", Journal of Political Economy 86 (1978).

Learning-to-rank data that a user has: MSLR-WEB10K, -WEB30K, or any LETOR or svmlight file.

    2 qid:1 1:3 2:0.5 136:7   # label, query (optional), features: index:value, indices rising

The label is the rating, the features are clustered into arms (see `clustering`): the construction
of Chowdhury and Zhou (ICLR 2023), section 7. scikit-learn reads the lines; one that it refuses is
looked at again to say which it is, and why.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import re
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...common.extra import bring
from ...common.regular_file import open_regular
from ...exact.number import ExactInput, ParameterError, located, whole
from . import clustering
from .environment import Environment
from .files import Counts, cached

CONSTRUCTION = 1  # to be raised when the same data would give other arms
_ALL_AT_ONCE = 100_000  # rows; beyond, in mini-batches
_BATCH = 4096
_ROWS = 65_536  # standardised at a time
_RATING = "rate_marriage"


def cluster_arms(
    features: NDArray[Any],
    labels: NDArray[np.int64],
    rewards: list[Fraction],
    arms: int,
    seed: int,
) -> Counts:
    """K-means on the rows of `features`, which are standardised in place (and so are floats).

    labels: for each row, the index of its reward among `rewards`. The clusters are numbered as
    scikit-learn does; the same data, seed and libraries give the same ones.
    Raises ParameterError where there are fewer different rows than arms.
    """
    if len(features) < arms:
        raise ParameterError(f"arms must be at most the number of ratings, {len(features)}")
    sklearn = load_sklearn()
    from sklearn import exceptions

    _standardise(features)
    if len(features) <= _ALL_AT_ONCE:
        method = sklearn.KMeans(arms, n_init=1, random_state=seed, copy_x=False)
    else:
        method = sklearn.MiniBatchKMeans(arms, n_init=1, batch_size=_BATCH, random_state=seed)
    with warnings.catch_warnings():  # of too few different rows: an error below
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        clusters = method.fit(features).labels_
    counts = np.zeros((arms, len(rewards)), dtype=np.int64)
    np.add.at(counts, (clusters, labels), 1)
    if not counts.any(axis=1).all():
        raise ParameterError(
            f"arms must be at most the number of clusters that the data has, "
            f"{np.count_nonzero(counts.any(axis=1))}, got {arms}"
        )
    return [
        {reward: int(count) for reward, count in zip(rewards, row, strict=True) if count}
        for row in counts
    ]


def scaled_labels(
    labels: NDArray[np.float64],
) -> tuple[NDArray[np.int64], list[Fraction]]:
    """Each label's index among the different ones, and these scaled to [0, 1], least to largest."""
    values, indices = np.unique(labels, return_inverse=True)
    exact = [Fraction(repr(float(value))) for value in values]
    span = exact[-1] - exact[0]
    if not span:
        raise ParameterError(f"all ratings are {values[0]:g}: there is nothing to learn from them")
    return indices.astype(np.int64), [(value - exact[0]) / span for value in exact]


def asked(digest: str, arms: int, seed: int) -> dict[str, Any]:
    """All that such an instance depends on, to keep it under."""
    import sklearn  # its K-means differs in detail from version to version

    return {
        "data": digest,
        "construction": CONSTRUCTION,
        "sklearn": sklearn.__version__,
        "arms": arms,
        "seed": seed,
    }


def load_sklearn() -> Any:
    """The package sklearn.cluster, or an ImportError that says how to get it."""
    return bring("sklearn.cluster", "data")


def _standardise(features: NDArray[Any]) -> None:
    """Mean 0 and standard deviation 1 for each column; constant columns become 0."""
    mean = features.mean(axis=0, dtype=np.float64)
    spread = np.zeros(features.shape[1])
    for start in range(0, len(features), _ROWS):
        spread += ((features[start : start + _ROWS] - mean) ** 2).sum(axis=0)
    spread = np.sqrt(spread / len(features))
    spread[spread <= 1e-12 * np.abs(mean)] = np.inf
    for start in range(0, len(features), _ROWS):
        part = features[start : start + _ROWS]
        part[:] = (part - mean) / spread


def fair_instance(
    arms: ExactInput = 50, seed: ExactInput = 0, cache: Path | None = None
) -> Environment:
    """The ratings of `fair`, (rating - 1)/4, in this many clusters; `seed` is that of K-means.

    cache: a folder to keep the clusters in. Raises ImportError without `exactdp[data]`.
    """
    count = whole(arms, "arms", at_least=2)
    start = whole(seed, "seed", at_least=0, at_most=2**32 - 1)
    load_sklearn()
    features, ratings = _load()
    digest = hashlib.sha256(features.tobytes() + ratings.tobytes()).hexdigest()

    def build() -> Counts:
        labels, rewards = scaled_labels(ratings)
        return cluster_arms(features, labels, rewards, count, start)

    return cached(cache, asked(digest, count, start), "fair", build)


def _load() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = bring("statsmodels.datasets", "data").fair.load_pandas().data
    features = table.drop(columns=_RATING).to_numpy(dtype=np.float64, copy=True)
    return np.ascontiguousarray(features), table[_RATING].to_numpy(dtype=np.float64)


_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
LINE = re.compile(rb"\s*%b(?:\s+qid:\d+)?(?:\s+\d+:%b)*\s*" % (_NUMBER, _NUMBER))
_TOKEN = re.compile(rb"(\d+):(%b)" % _NUMBER)
_CHUNK = 20_000  # lines read at a time
_MOST_FEATURES = 10_000
_LONGEST_LINE = 1_000_000  # bytes
_MOST_LABELS = 1000


def read_letor(
    path: str | Path,
    arms: ExactInput = 50,
    seed: ExactInput = 0,
    cache: Path | None = None,
) -> Environment:
    """The labels of such a file, scaled to [0, 1] from least to largest, in K-means clusters.

    seed: that of K-means (in mini-batches beyond 100,000 lines). cache: a folder to keep the
    clusters in, by the file's content, so that a large file is read once.
    Raises ParameterError, with the file and the line, for anything but such a file; ImportError
    without `exactdp[data]`.
    """
    count = whole(arms, "arms", at_least=2)
    start = whole(seed, "seed", at_least=0, at_most=2**32 - 1)
    source = Path(path)
    clustering.load_sklearn()
    with located(path), open_regular(source) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()

    def build() -> Counts:
        features, labels = _read(source)
        with located(path):
            indices, rewards = clustering.scaled_labels(labels)
            if len(rewards) > _MOST_LABELS:
                raise ParameterError(f"more than {_MOST_LABELS} different labels")
            return clustering.cluster_arms(features, indices, rewards, count, start)

    return cached(cache, clustering.asked(digest, count, start), source.stem, build)


def _read(path: Path) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Dense features, one row a line (4 bytes a value), and the labels."""
    from sklearn.datasets import load_svmlight_file

    chunks: list[NDArray[np.float32]] = []
    labels: list[NDArray[np.float64]] = []
    number = 0  # of lines before this chunk
    with open_regular(path) as file:
        bounded = iter(lambda: file.readline(_LONGEST_LINE), b"")
        while lines := list(itertools.islice(bounded, _CHUNK)):
            try:
                sparse, found, _ = load_svmlight_file(
                    io.BytesIO(b"".join(lines)), dtype=np.float32, zero_based=True, query_id=True
                )
                if not np.isfinite(found).all() or not np.isfinite(sparse.data).all():
                    raise ValueError("numbers that are not finite")
                if sparse.shape[1] > _MOST_FEATURES + 1:
                    raise ValueError(f"more than {_MOST_FEATURES} features")
            except (ValueError, OverflowError, MemoryError) as error:
                _blame(path, number, lines)
                raise ParameterError(f"{path}, lines {number + 1} on: {error}") from error
            number += len(lines)
            if len(found):
                chunks.append(sparse.toarray())
                labels.append(found)
    if not chunks:
        raise ParameterError(f"{path}: no ratings in it")
    width = max(chunk.shape[1] for chunk in chunks)
    features = np.zeros((sum(map(len, chunks)), width), dtype=np.float32)
    end = len(features)
    while chunks:  # each is let go as soon as it is copied
        chunk = chunks.pop()
        features[end - len(chunk) : end, : chunk.shape[1]] = chunk
        end -= len(chunk)
    return features, np.concatenate(labels)


def _blame(path: Path, before: int, lines: list[bytes]) -> None:
    """Raise ParameterError for the first of these lines that is not as it should be."""
    for number, line in enumerate(lines, before + 1):
        data = line.partition(b"#")[0]
        if not data.strip():
            continue
        where = f"{path}, line {number}"
        if not LINE.fullmatch(data):
            shown = data.decode("utf-8", "replace").strip()
            raise ParameterError(
                f"{where}: must be a label, perhaps qid:NUMBER, and features INDEX:VALUE, "
                f"got {shown if len(shown) <= 60 else shown[:57] + '...'!r}"
            )
        indices = [int(index) for index, _ in _TOKEN.findall(data)]
        if any(after <= index for index, after in itertools.pairwise(indices)):
            raise ParameterError(f"{where}: the indices of features must rise")
        if indices and indices[-1] > _MOST_FEATURES:
            raise ParameterError(f"{where}: more than {_MOST_FEATURES} features")
        numbers = [data.split()[0], *(value for _, value in _TOKEN.findall(data))]
        if not np.isfinite(np.array([float(value) for value in numbers], dtype=np.float32)).all():
            raise ParameterError(f"{where}: a number is too large")
