"""The last part of `make demo`: the audited bandit on real ratings."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console

from exactdp.bandit.algorithms import DIST_DP_SE
from exactdp.bandit.environments.clustering import fair_instance
from exactdp.bandit.instances import Fixed
from exactdp.bandit.pictures import write_pictures
from exactdp.bandit.plan import Plan, Radius
from exactdp.bandit.privacy import privacy
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.study import Cell, Study, study
from exactdp.cli import output
from exactdp.cli.bandit_study import folder_for
from exactdp.cli.parts import at_most
from exactdp.cli.render import show
from exactdp.common.content_cache import default_cache
from exactdp.common.table import Bar, Table
from exactdp.exact import ParameterError, decimal_text
from exactdp.verify.certificate import Certificate

_EPSILON, _HORIZON, _RUNS, _RETURNS, _DELTA = Fraction(1), 10**6, 20, 4, "1e-6"
_NUMBERS = ("batch", "users an arm", "leave", "stay")
_FOLDER = Path("build")


def bandit(out: Console) -> None:
    """Mechanisms verified, arms eliminated, regret, privacy, and a picture.

    Says what to install where something for it is missing.
    """
    try:
        with output.working("clustering ratings, verifying mechanisms, running"):
            cells = _cells(Fixed(fair_instance(cache=default_cache())))
            with tempfile.TemporaryDirectory() as folder:
                done = study(cells, Path(folder))
    except ImportError as error:
        show(f"left out: {error}", out=out)
        return
    certified = cells[1].config
    plan = certified.plan()
    _verified(out, plan)
    _eliminated(out, run(certified, 1, plan=plan, transcript=True).lines)
    _regret(out, done)
    _private(out, plan)
    try:
        files = write_pictures(done, folder_for(_FOLDER))
    except (ImportError, ParameterError) as error:
        show(f"left out: {error}", out=out)
        return
    show(f"picture  {files[0].resolve()}", out=out)


def _cells(ratings: Fixed) -> list[Cell]:
    """One algorithm, with the paper's radius and with the certified one."""
    setting = Setting(ratings.arms, _HORIZON, _EPSILON)
    paper = Config(DIST_DP_SE, setting, ratings)
    certified = Config(DIST_DP_SE, setting, ratings, Radius.CERTIFIED)
    return [Cell(paper, _RUNS, 0, "the paper's"), Cell(certified, _RUNS, 0, "certified")]


def _verified(out: Console, plan: Plan) -> None:
    held = [each for _, each in plan.releases()]
    certificates = [each for each in held if isinstance(each, Certificate)]
    with output.working("checking certificates"):
        valid = sum(each.check().valid for each in certificates)
    users, setting = [release.users for release, _ in plan.releases()], plan.setting
    show(
        {
            "ratings": f"fair: 6,366 real ratings in {setting.arms} clusters, each an arm",
            "algorithm": f"dist-dp-se, ε = {decimal_text(setting.epsilon)}, "
            f"{setting.horizon:,} users, one a round",
            "mechanisms": f"batches of {users[0]} to {users[-1]:,} users: {len(held)} VERIFIED",
            "certificates": f"{len(certificates)}; {valid} of them checked again, and valid",
            "certified": f"the best arm leaves with probability at most "
            f"{at_most(Fraction(plan.failure.upper))}"
            if plan.failure is not None
            else "",
        },
        out=out,
    )


def _eliminated(out: Console, lines: Sequence[Mapping[str, Any]]) -> None:
    """Batch by batch, in one run: who takes part, and who leaves."""
    rows: list[tuple[str | Bar, ...]] = []
    total = 0
    batches = (line for line in lines if "batch" in line)
    for number, group in groupby(batches, key=lambda line: int(line["batch"])):
        arms = list(group)
        total = total or len(arms)
        stay = sum(bool(line["stays"]) for line in arms)
        users, radius = f"{arms[0]['users']:,}", f"{arms[0]['radius']:.4f}"
        leave = str(len(arms) - stay or "")
        rows.append((str(number), users, radius, leave, str(stay), Bar(stay / total, 25)))
    columns = ("batch", "users an arm", "radius", "leave", "stay", "")
    said = "arms eliminated in one run, with the certified radius"
    show(said, Table(columns, rows, right=_NUMBERS), out=out)


def _regret(out: Console, done: Study) -> None:
    ends = [result.curve[-1] for result in done.results]
    top = max(mean or 0.0 for _, mean, _ in ends)
    rows = [
        (
            row["label"],
            f"{mean:.5f} ±{error:.5f}",
            f"in {row['best_arm_eliminated']} of {row['runs']} runs",
            Bar((mean or 0.0) / top),
        )
        for row, (_, mean, error) in zip(done.rows, ends, strict=True)
    ]
    said = f"regret after {_HORIZON:,} rounds, on the same {_RUNS} seeds"
    show(said, Table(("radius", "regret by round", "best arm eliminated", ""), rows), out=out)


def _private(out: Console, plan: Plan) -> None:
    with output.working("composing"):
        once, again = privacy(plan, 1), privacy(plan, _RETURNS, _DELTA)
    show(
        {
            "privacy": "towards the server too: it sees sums only, noise included",
            "once": f"a user who took part once has spent ε ≤ {once.once:.6g}",
            f"{_RETURNS} times": f"ε ≤ {again.together:.6g}; at δ = {_DELTA}: {again.epsilon}",
        },
        out=out,
    )
