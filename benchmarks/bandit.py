"""Runs of the bandit, beside a plain loop over all rounds, which does what every user does.

    python benchmarks/run.py --only runs [--json]

One run is timed with its mechanisms verified beforehand, which stands by itself: the median of 25
runs, an instance and a seed each. The loop is one run of the same algorithm, in plain Python with
numpy's generator: each round a reward, its rounding, a share of the noise, a sum mod m.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import case
from case import Case

from exactdp.exact import Enclosure

if TYPE_CHECKING:
    from exactdp.bandit.plan import Plan
    from exactdp.bandit.run import Config

RUNS, ARMS, EPSILON = 25, 10, "0.5"


def config(name: str, horizon: int) -> Config:
    """Easy instances, the paper's radius, batches of 2^b users an arm."""
    from exactdp.bandit.algorithms import ALGORITHMS
    from exactdp.bandit.instances import easy
    from exactdp.bandit.run import Config
    from exactdp.bandit.setting import Setting

    algorithm = next(each for each in ALGORITHMS if each.name == name)
    return Config(algorithm, Setting(ARMS, horizon, EPSILON), easy(ARMS))


def plain(given: Config, plan: Plan, seed: int) -> float:
    """The regret of one run of dist-dp-se (Algorithm 1, Theorem 1), round by round.

    On the instance of our own first run with this seed.
    """
    import numpy as np

    setting, rng = given.setting, np.random.default_rng(seed)
    place = np.random.SeedSequence(seed, spawn_key=(0, 0))
    environment = given.instances.environment(place)
    arms = [(law.location, law.sigma) for law in environment.arms]
    gaps = environment.gaps.tolist()
    active, regret, left, batch = list(range(len(arms))), 0.0, setting.horizon, 0
    while left:
        batch += 1
        batch = plan.batch(batch, len(active)) if len(active) > 1 else None
        if batch is None:  # too few rounds for a whole batch, or one arm
            users = setting.horizon if len(active) == 1 else 2**batch
            for arm in active:
                pulls = min(users, left)
                for _ in range(pulls):
                    regret += gaps[arm]
                left -= pulls
            continue
        users, protocol = batch.users, batch.release.protocol
        g, tau, m = batch.release.precision, protocol.accuracy, protocol.modulus
        shape, odds = 1 / users, 1 / math.expm1(float(setting.epsilon) / g)
        means: dict[int, float] = {}
        for arm in active:
            (location, sigma), total = arms[arm], 0
            for _ in range(min(users, left)):
                scaled = min(max(rng.normal(location, sigma), 0.0), 1.0) * g
                message = int(scaled) + (rng.random() < scaled - int(scaled))
                message += rng.poisson(rng.gamma(shape, odds))
                message -= rng.poisson(rng.gamma(shape, odds))
                total = (total + int(message)) % m
                regret += gaps[arm]
                left -= 1
            means[arm] = (total - m if total > users * g + tau else total) / (users * g)
        best = max(means.values())
        if left:
            active = [arm for arm in active if best - means[arm] <= 2 * batch.radius]
    return regret


@dataclass(frozen=True)
class Row:
    """One run; its goal in milliseconds; whether the loop runs it as well."""

    algorithm: str
    horizon: int
    goal: float = math.inf
    loop: bool = False


ROWS: Sequence[Row] = (
    Row("dist-dp-se", 10**6, 10, loop=True),
    Row("dist-rdp-se", 10**6, 10),
    Row("dist-cdp-se", 10**6, 10),
    Row("cdp-se", 10**6, 10),
    Row("ldp-se", 10**6, 10),
    Row("dp-se", 10**6),
    Row("dist-dp-se", 10**9, 1000),
)


def measured(row: Row) -> dict[str, Any]:
    from exactdp.bandit.run import run

    given = config(row.algorithm, row.horizon)
    start = time.perf_counter()
    plan = given.plan()
    found: dict[str, Any] = {"algorithm": row.algorithm, "horizon": row.horizon}
    found["prepared_seconds"] = time.perf_counter() - start
    taken, regret = [], []
    for seed in range(RUNS):
        start = time.perf_counter()
        regret.append(run(given, 1, seed, plan=plan).total_regret().mean)
        taken.append(time.perf_counter() - start)
    found["milliseconds"] = 1e3 * statistics.median(taken)
    found["regret"] = regret[0]
    if row.goal < math.inf:
        found |= {"goal": row.goal, "met": found["milliseconds"] <= row.goal}
    if row.loop:
        start = time.perf_counter()
        found["loop_regret"] = plain(given, plan, 0)
        found["loop_seconds"] = time.perf_counter() - start
        found["ratio"] = 1e3 * found["loop_seconds"] / found["milliseconds"]
    return found


def billion() -> Sequence[Enclosure]:
    from exactdp.bandit.run import run

    return [Enclosure.exactly(round(run(config("dist-dp-se", 10**9), 1).total_regret().mean))]


CASES = (
    Case("bandit", "dist-dp-se, T = 1e9, verified and run", billion, seconds=1, megabytes=300),
)


def records() -> list[dict[str, Any]]:
    """All rows."""
    return [measured(row) for row in ROWS]


def show(rows: Sequence[dict[str, Any]]) -> None:
    headings = ["algorithm", "T", "verified in, s", "run, ms", "goal", "met", "its regret"]
    headings += ["loop, s", "its regret", "loop / own"]
    cells = []
    for row in rows:
        own = [row["algorithm"], f"{row['horizon']:.0e}", f"{row['prepared_seconds']:.2f}"]
        own += [f"{row['milliseconds']:.1f}", *case.goal_cells(row), f"{row['regret']:,.0f}"]
        loop = ["", "", ""]
        if "ratio" in row:
            loop = [f"{row['loop_seconds']:.1f}", f"{row['loop_regret']:,.0f}"]
            loop += [f"{row['ratio']:,.0f}"]
        cells.append([*own, *loop])
    case.show(f"one run, K = {ARMS}, ε = {EPSILON}, easy instances", headings, cells, 140)
