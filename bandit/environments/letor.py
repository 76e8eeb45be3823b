"""Learning-to-rank data that a user has: MSLR-WEB10K, -WEB30K, or any LETOR or svmlight file.

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
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...common.regular_file import open_regular
from ...exact.number import ExactInput, ParameterError, located, whole
from . import clustering
from .environment import Environment
from .instance_file import Counts, cached

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
