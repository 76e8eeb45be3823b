"""An instance by its name, its means or its file: `--instance` besides easy and hard."""

from __future__ import annotations

from pathlib import Path

from ...common.regular_file import open_regular
from ...exact.number import ExactInput, ParameterError, exact, located, whole
from .clustering import LINE, fair_instance, read_letor
from .environment import Environment
from .files import read_json, read_rewards
from .rewards import Bernoulli

_COINS = "coins:"
_SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".letor": "letor",
    ".svm": "letor",
    ".svmlight": "letor",
    ".libsvm": "letor",
}


def instance(
    name: str | Path, arms: ExactInput | None = None, *, cache: Path | None = None
) -> Environment:
    """`fair`, `coins:MEAN,MEAN,...`, or else a file, as `read_instance` reads it.

    (For `easy` and `hard` see `instances`.)

    arms: 50 where data are clustered, unless given; a file that says which its arms are must have
    as many.
    """
    if name == "fair":
        return fair_instance(50 if arms is None else arms, cache=cache)
    if isinstance(name, str) and name.startswith(_COINS):
        return _fits(_coins(name), arms, name)
    if isinstance(name, str) and not _exists(name):
        raise ParameterError(
            f"instance must be easy, hard, fair or a file, got {name!r}; coins:0.7,0.6 are coins, "
            "published and published-hard the instances of the published experiments"
        )
    return read_instance(name, arms, cache=cache)


def read_instance(
    path: str | Path, arms: ExactInput | None = None, *, cache: Path | None = None
) -> Environment:
    """Read a CSV of arm,reward, an instance in JSON, or a LETOR or svmlight file.

    Which of them is told by the suffix (.csv, .json, .letor, .svm, .svmlight, .libsvm), and by
    the first line where that says nothing. Errors as those of the readers, ParameterError with
    the file and the line.
    """
    kind = _SUFFIXES.get(Path(path).suffix.lower()) or _sniff(Path(path))
    if kind == "letor":
        return read_letor(path, 50 if arms is None else arms, cache=cache)
    found = read_rewards(path) if kind == "csv" else read_json(path)
    return _fits(found, arms, path)


def _fits(found: Environment, arms: ExactInput | None, where: str | Path) -> Environment:
    if arms is not None and len(found.arms) != whole(arms, "arms"):
        raise ParameterError(f"arms must be {len(found.arms)}, as in {where}, got {arms}")
    return found


def _coins(name: str) -> Environment:
    """Bernoulli arms of these means."""
    means = name.removeprefix(_COINS).split(",")
    if len(means) < 2:
        raise ParameterError(f"instance must have at least two coins, got {name[:40]!r}")
    read = [exact(mean, "the mean of a coin", at_least=0, at_most=1) for mean in means]
    return Environment(name, tuple(map(Bernoulli, read)))


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a name that no file system can hold
        return False


def _sniff(path: Path) -> str:
    with located(path), open_regular(path) as file:
        first = file.readline(100_000)
        while first and not first.partition(b"#")[0].strip():
            first = file.readline(100_000)
    if first.lstrip().startswith(b"{"):
        return "json"
    if LINE.fullmatch(first.partition(b"#")[0]):
        return "letor"
    if b"arm" in first and b"," in first:
        return "csv"
    raise ParameterError(
        f"{path}: neither a CSV of arm,reward, nor an instance in JSON, nor lines of "
        f"label qid:NUMBER INDEX:VALUE"
    )
