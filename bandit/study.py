"""Studies: algorithms x epsilon x horizons x arms x instances, each cell a row with its evidence.

A cell is one configuration with its runs. Its numbers depend on the configuration, the seed and how
many runs there are, on nothing else: neither on the workers nor on which cells were done before. So
a finished cell is a file of its own, written whole or not at all and found again by all that it
depends on, and a study that was killed goes on where it was: what is finished is not played again.

Certificates stand beside them, one file each, before the first cell that rests on them: a file of a
cell is only believed where all of its evidence is there.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from attrs import frozen

from ..common.atomic_write import atomic_write, remove_unfinished, write_atomically
from ..common.content_cache import ContentCache
from ..common.extra import bring
from ..common.parallel import each
from ..exact.budget import time_limit
from ..exact.number import ParameterError, decimal_text, located
from ..exact.rounding import float_below
from ..verify.certificate import Certificate
from .algorithms.algorithm import Elimination, OwnPolicy
from .evidence import Evidence, Proof, evidence, identity, to_json
from .plan import admissible
from .privacy import privacy
from .results import VERSION, checkpoints
from .run import Config, run
from .yardsticks import yardsticks

CELLS, EVIDENCE, ROWS, CURVES = "cells", "evidence", "rows", "curves"  # in a study's folder
_VERSION = 1  # of what a cell's file holds
_ABOUT = ("label", "algorithm", "radius", "epsilon", "delta", "scaling", "confidence", "growth")
_WHERE = ("instance", "arms", "horizon", "runs", "seed")
_FOUND = ("regret", "standard_error", "lower_bound", "regret_over_bound", "expected_regret")
_SPENT = ("best_arm_eliminated", "batches", "claim", "trust", "quantity", "once", "evidence")
COLUMNS = ("cell", *_ABOUT, *_WHERE, *_FOUND, *_SPENT)
CURVE_COLUMNS = ("cell", "label", "epsilon", "instance", "arms", "horizon", "round", "mean")


@frozen
class Cell:
    """One configuration, how often it runs from which seed, and what to call its algorithm."""

    config: Config
    runs: int
    seed: int
    label: str

    @property
    def asked(self) -> dict[str, Any]:
        """All that its numbers depend on, for JSON."""
        rounds = checkpoints(self.config.setting.horizon).tolist()
        versions = {"study": _VERSION, "version": VERSION}
        return {**versions, **self.config.identity(self.seed, rounds), "runs": self.runs}

    def about(self) -> dict[str, Any]:
        """The columns that say what it is of; epsilon and delta only where they matter."""
        algorithm, setting = self.config.algorithm, self.config.setting
        numbers: dict[str, Any] = setting.to_json()
        if not algorithm.private:
            numbers |= dict.fromkeys(("epsilon", "delta", "scaling"))
        return {
            "label": self.label,
            "algorithm": algorithm.name,
            "radius": self.config.radius.value if isinstance(algorithm.rule, Elimination) else None,
            **{name: numbers[name] for name in _ABOUT[3:]},
            "arms": setting.arms,
            "horizon": setting.horizon,
            "instance": self.config.instances.name,
            "runs": self.runs,
            "seed": self.seed,
        }


@frozen
class Result:
    """A finished cell, as its file holds it.

    row       its row but for what `Cell.about` says
    curve     time-average regret: round, mean, standard error (None where there is one run only)
    regret    of each run, after the horizon
    evidence  what is proved of its releases, by its files' stems; empty once it is in the folder
    """

    row: Mapping[str, Any]
    curve: Sequence[Sequence[float | None]]
    regret: Sequence[float]
    evidence: Mapping[str, Any]


@frozen
class Study:
    """Finished cells in order, and how many of them were played now and not found."""

    cells: tuple[Cell, ...]
    results: tuple[Result, ...]
    played: int

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One for each cell: `COLUMNS`."""
        pairs = zip(self.cells, self.results, strict=True)
        return [
            {name: row[name] for name in COLUMNS}
            for cell, result in pairs
            for row in [{"cell": _name(cell), **cell.about(), **result.row, **_untold(cell)}]
        ]

    @cached_property
    def curves(self) -> list[dict[str, Any]]:
        """One for each checkpoint of each cell: regret by rounds, with its standard error."""
        return [
            {name: row[name] for name in CURVE_COLUMNS[:-2]}
            | {"round": rounds, "mean": mean, "standard_error": error}
            for row, result in zip(self.rows, self.results, strict=True)
            for rounds, mean, error in result.curve
        ]


def study(
    cells: Sequence[Cell],
    folder: Path,
    workers: int = 1,
    *,
    cluster: str | None = None,
    seconds: float = math.inf,
    prove: Proof = evidence,
    progress: Callable[[int], None] = lambda done: None,
) -> Study:
    """Play the cells that the folder does not hold yet, and keep each as soon as it is finished.

    workers, cluster: as in `bandit.run.run`; a task is a cell, and what cells give is written here,
    so that workers elsewhere need no common folder. seconds: for the proofs of a cell, and again
    for its bounds of regret, which are left out where they take longer. prove: as for `prepare`.
    progress: is told how many more cells are finished.

    Raises ParameterError, before anything is written, for cells that cannot run or come twice, and
    where the folder cannot be written; NotVerifiedError and OutOfTimeError as `prepare`.
    """
    check(cells)
    with located(f"out: {folder}"):
        for name in (CELLS, EVIDENCE):
            (folder / name).mkdir(parents=True, exist_ok=True)
            remove_unfinished(folder / name)
    cache = ContentCache(folder / CELLS)
    found: dict[int, Result] = {}
    for place, cell in enumerate(cells):
        if (kept := cache.find(cell.asked, partial(_read, folder))) is not None:
            found[place] = kept
    progress(len(found))
    due = [(place, cell) for place, cell in enumerate(cells) if place not in found]
    for place, result in each(partial(_played, prove, seconds), _spread(due), workers, cluster):
        with located(f"out: {folder}"):
            _keep_evidence(folder, result.evidence)
            kept_as = {"row": result.row, "curve": result.curve, "regret": result.regret}
            cache.keep(cells[place].asked, kept_as)
        found[place] = result
        progress(1)
    ordered = tuple(found[place] for place in range(len(cells)))
    return Study(tuple(cells), ordered, len(due))


def check(cells: Sequence[Cell]) -> None:
    """Raise ParameterError for cells that come twice, or that no run could be of."""
    if not cells:
        raise ParameterError("a study must have at least one cell")
    twice = next((name for name, count in Counter(map(_name, cells)).items() if count > 1), None)
    if twice is not None:
        cell = next(each for each in cells if _name(each) == twice)
        raise ParameterError(f"a study must have every cell once: {_told(cell)} comes twice")
    for cell in cells:
        with located(_told(cell)):
            admissible(cell.config.algorithm, cell.config.setting, cell.config.radius)


def write_rows(folder: Path, done: Study, parquet: bool = False) -> list[Path]:
    """Write rows.csv and curves.csv, and rows.parquet where it is asked for; each whole.

    Floats read back exactly; what does not apply is empty. Raises ParameterError where the folder
    cannot be written, ImportError without pyarrow.
    """
    files = [folder / f"{ROWS}.csv", folder / f"{CURVES}.csv"]
    texts = (done.rows, COLUMNS), (done.curves, (*CURVE_COLUMNS, "standard_error"))
    with located(f"out: {folder}"):
        for file, (rows, columns) in zip(files, texts, strict=True):
            write_atomically(file, _csv(rows, columns))
        if parquet:
            bring("pyarrow", "parquet")
            from pyarrow import Table
            from pyarrow.parquet import write_table

            files.append(folder / f"{ROWS}.parquet")
            with atomic_write(files[-1]) as temporary:
                write_table(Table.from_pylist(done.rows), temporary)
    return files


def _csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _name(cell: Cell) -> str:
    """That of its file, without folder and suffix."""
    return ContentCache(Path()).path(cell.asked).stem


def _untold(cell: Cell) -> dict[str, None]:
    """A policy of its own does not say which arms it has given up."""
    own = isinstance(cell.config.algorithm.rule, OwnPolicy)
    return {} if not own else {"best_arm_eliminated": None}


def _told(cell: Cell) -> str:
    setting = cell.config.setting
    epsilon = f", epsilon {decimal_text(setting.epsilon)}" if cell.config.algorithm.private else ""
    where = f"{cell.config.instances.name}, {setting.arms} arms, horizon {setting.horizon}"
    return f"{cell.label} on {where}{epsilon}"


def _spread(tasks: Sequence[tuple[int, Cell]]) -> list[tuple[int, Cell]]:
    """First one cell of each group that has the same mechanisms, then another one of each, and so
    on: who comes second finds the proofs where `prove` keeps them."""
    seen = Counter[Any]()
    order = []
    for place, cell in tasks:
        setting = cell.config.setting
        same = (cell.config.algorithm, setting.epsilon, setting.horizon, setting.scaling)
        order.append((seen[same], place, cell))
        seen[same] += 1
    return [(place, cell) for _, place, cell in sorted(order, key=lambda each: each[:2])]


def _played(prove: Proof, seconds: float, task: tuple[int, Cell]) -> tuple[int, Result]:
    """Verify the mechanisms of this cell, and run it."""
    place, cell = task
    config = cell.config
    with time_limit(seconds):
        plan = config.plan(prove)
        spent = privacy(plan)
    results = run(config, cell.runs, cell.seed, plan=plan)
    total = results.total_regret()
    with time_limit(seconds):
        beside = yardsticks(config, results, cell.seed)
    held = [one for _, one in plan.releases() if one is not None]
    proofs = dict(map(_evidence, held))
    ratio = beside.ratio(total)
    row = {
        "regret": total.mean,
        "standard_error": total.to_json()["standard_error"],
        "lower_bound": None
        if beside.lower_bound is None
        else float_below(beside.lower_bound.lower),
        "regret_over_bound": None if ratio is None else ratio.mean,
        "expected_regret": None if beside.expected is None else float(beside.expected),
        "best_arm_eliminated": int(results.eliminated.sum()),
        "batches": float(results.batches.mean()),
        "claim": None if spent.claim is None else str(spent.claim),
        "trust": spent.trust,
        "quantity": spent.quantity,
        "once": None if spent.once is None else spent.once.to_json()["upper"],
        "evidence": " ".join(proofs),
    }
    curve = [
        [rounds, mean.mean, mean.to_json()["standard_error"]]
        for rounds, mean in results.time_average()
    ]
    return place, Result(row, curve, results.regret[:, -1].tolist(), proofs)


def _evidence(held: Evidence) -> tuple[str, Any]:
    """The stem of its file, and a certificate as `exactdp check` reads it, or what was audited."""
    if isinstance(held, Certificate):
        return f"certificate-{identity(held)}", held.content
    return f"audit-{identity(held)}", to_json(held)


def _keep_evidence(folder: Path, held: Mapping[str, Any]) -> None:
    for stem, content in held.items():
        path = folder / EVIDENCE / f"{stem}.json"
        if not path.is_file():
            write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _read(folder: Path, kept: Any) -> Result | None:
    """The result that a file holds; None where it is another thing, or evidence is missing."""
    row, curve, regret = kept["row"], kept["curve"], kept["regret"]
    if set(row) != {*_FOUND, *_SPENT} or not all(len(point) == 3 for point in curve):
        return None
    stems = row["evidence"].split()
    if not all((folder / EVIDENCE / f"{stem}.json").is_file() for stem in stems):
        return None
    return Result(row, curve, [float(value) for value in regret], {})
