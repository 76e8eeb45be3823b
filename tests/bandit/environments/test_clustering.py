""""""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.environments import clustering
from exactdp.bandit.environments.clustering import fair_instance, read_letor
from exactdp.bandit.environments.rewards import RewardTable

CENTRES = np.array([[0.0, 0, 1], [50, 0, 1], [0, 800, 1], [50, 800, 1]])


def ratings(folder: Path, rows: int = 400, qid: bool = True) -> tuple[Path, np.ndarray, np.ndarray]:
    """Rows of four clusters far apart, in shuffled order; the label depends on the cluster."""
    rng = np.random.default_rng(1)
    cluster = rng.permutation(np.arange(rows) % 4)
    labels = np.where(rng.random(rows) < 0.2 * (cluster + 1), 4, cluster)
    labels[cluster == 0] = 0
    features = CENTRES[cluster] + rng.normal(size=(rows, 3)) * [0.5, 5, 0]
    path = folder / "train.txt"
    with path.open("w") as file:
        file.write("# made up\n\n")
        for label, row in zip(labels, features, strict=True):
            query = f"qid:{rng.integers(9)} " if qid else ""
            cells = " ".join(f"{i + 1}:{x:.6g}" for i, x in enumerate(row))
            file.write(f"{label} {query}{cells}   # doc\n")
    return path, cluster, labels


@pytest.mark.parametrize("qid", [True, False])
def test_clusters_are_arms_that_pay_their_labels(tmp_path: Path, qid: bool) -> None:
    path, cluster, labels = ratings(tmp_path, qid=qid)
    found = read_letor(path, arms=4)
    assert found.name == "train"
    truth = set()
    for index in range(4):
        seen, counts = np.unique(labels[cluster == index], return_counts=True)
        total = int(counts.sum())
        truth.add(
            RewardTable(
                tuple(Fraction(int(label), 4) for label in seen),
                tuple(Fraction(int(count), total) for count in counts),
            )
        )
    assert set(found.arms) == truth
    assert read_letor(path, arms=4) == found  # the same seed gives the same arms, in order


def test_large_files_go_in_chunks_and_batches(tmp_path: Path, monkeypatch) -> None:
    path, _, _ = ratings(tmp_path)
    whole = read_letor(path, arms=4)
    monkeypatch.setattr(clustering, "_CHUNK", 7)
    assert read_letor(path, arms=4) == whole
    monkeypatch.setattr(clustering, "_ALL_AT_ONCE", 100)
    assert set(read_letor(path, arms=4).arms) == set(whole.arms)


def test_kept_by_content_and_parameters(tmp_path: Path, monkeypatch) -> None:
    path, _, _ = ratings(tmp_path)
    cache = tmp_path / "cache"
    first = read_letor(path, arms=4, cache=cache)
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(clustering, "_read", None)  # not called again
    assert read_letor(path, arms=4, cache=cache) == first
    renamed = path.rename(tmp_path / "other.txt")
    assert read_letor(renamed, arms=4, cache=cache).arms == first.arms
    for arms, seed in ((3, 0), (4, 1)):
        with pytest.raises(TypeError):
            read_letor(renamed, arms=arms, seed=seed, cache=cache)
    renamed.write_text(renamed.read_text() + "0 qid:1 1:1\n")
    with pytest.raises(TypeError):
        read_letor(renamed, arms=4, cache=cache)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("good qid:1 1:2", "must be a label, perhaps qid:NUMBER, and features INDEX:VALUE, got"),
        ("1 qid:1 1:2 three", "must be a label"),
        ("1 qid:1 1:2 3:", "must be a label"),
        ("1 qid:x 1:2", "must be a label"),
        ("1 qid:1 2:1 1:1", "the indices of features must rise"),
        ("1 qid:1 1:nan", "must be a label"),
        ("inf qid:1 1:1", "must be a label"),
        ("1 qid:1 1:1e400", "a number is too large"),
        ("1 qid:1 20000:1", "more than 10000 features"),
        ("\xff\xfe 1:1", "must be a label"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, monkeypatch, line: str, message: str) -> None:
    monkeypatch.setattr(clustering, "_CHUNK", 3)
    path = tmp_path / "bad.letor"
    good = "1 qid:1 1:2 2:3\n" * 3 + "# comment\n\n"
    path.write_bytes((good + line + "\n" + good).encode("latin-1"))
    with pytest.raises(ParameterError) as caught:
        read_letor(path, arms=2)
    assert f"bad.letor, line 6: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no ratings"),
        ("# nothing\n\n", "no ratings"),
        ("1 1:1\n" * 5, "all ratings are 1"),
        ("1 1:1\n0 1:2\n", "arms must be at most the number of ratings, 2"),
        ("1 1:1\n0 1:2\n" * 5, "the number of clusters that the data has, 2, got 3"),
    ],
)
def test_too_little_data(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "little.letor"
    path.write_text(text)
    with pytest.raises(ParameterError, match=message):
        read_letor(path, arms=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
def test_arms_are_ratings_of_the_survey(folder: Path) -> None:
    found = fair_instance(cache=folder)
    assert found.name == "fair" and len(found.arms) == 50
    quarters = {Fraction(k, 4) for k in range(5)}
    assert all(isinstance(arm, RewardTable) and set(arm.values) <= quarters for arm in found.arms)
    # The figures of the construction: K-means moves a little from machine to machine.
    assert len(found.best) == 1
    assert 0.85 <= found.means.max() <= 0.95
    assert 0.5 <= found.means.min() <= 0.65
    assert 0.005 <= np.sort(found.gaps)[1] <= 0.06


def test_every_rating_is_in_one_arm() -> None:
    fair = pytest.importorskip("statsmodels.datasets.fair")
    ratings = fair.load_pandas().data["rate_marriage"].to_numpy()
    found = fair_instance(2)
    # The two arms' laws, weighted by their sizes n and 6366 - n, are the law of all ratings.
    overall = np.array([np.mean(ratings == k) for k in range(1, 6)])
    laws = []
    for arm in found.arms:
        assert isinstance(arm, RewardTable)
        masses = dict(zip(arm.values, arm.probabilities, strict=True))
        laws.append([float(masses.get(Fraction(k, 4), Fraction(0))) for k in range(5)])
    first, second = np.array(laws)
    share = (overall - second)[0] / (first - second)[0]
    assert 0 < share < 1
    assert share * first + (1 - share) * second == pytest.approx(overall, abs=1e-12)
    assert share * 6366 == pytest.approx(round(share * 6366), abs=1e-6)
