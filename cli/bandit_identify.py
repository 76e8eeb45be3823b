"""`exactdp bandit identify`: which arm is best, with an error that is proved."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from ..bandit.algorithms import HALVINGS, IDENTIFIERS
from ..bandit.evidence import cached_evidence
from ..bandit.evidence import to_json as evidence_to_json
from ..bandit.identification.identify import Identified, identify, ready
from ..bandit.instances import Fixed
from ..bandit.lower_bound import Barrier
from ..bandit.privacy import Privacy
from ..bandit.run import Config
from ..bandit.setting import Setting
from ..common.content_cache import default_cache
from ..exact import ParameterError, decimal_text, whole
from . import output
from .bandit_options import (
    Cluster,
    ProofTime,
    Runs,
    Seed,
    Workers,
    arm_name,
    count_range,
    named_arms,
    number,
    private,
    proved,
    read_algorithm,
    read_instances,
    verifying,
)
from .bandit_options import spent as account
from .options import option, read_time
from .parts import at_most
from .result import Part, Result, printed

_UNDECIDED = 3
_NAMED = 10  # arms that are named as chosen
_LEVEL = 0.99  # of the interval of the measured error


@printed
def identify_command(
    epsilon: Annotated[str | None, option("E", "all but lucb need it")] = None,
    instance: Annotated[
        str,
        option("I", "coins:MEAN,MEAN,…, fair, a file, or easy or hard (one drawn for each run)"),
    ] = "easy",
    algorithm: Annotated[
        str,
        option(
            "A",
            "dist-dp-lucb, dp-lucb (a trusted server), dist-rdp-lucb, dist-cdp-lucb, "
            "dist-gauss-lucb, local-lucb (users randomise their reports), or lucb (not private); "
            "with halving for lucb: of a fixed budget",
        ),
    ] = "dist-dp-lucb",
    confidence: Annotated[
        str | None,
        option("P", "p < 1/2, 0.01 if not given: what bounds the probability of a wrong answer"),
    ] = None,
    most: Annotated[
        str, option("T", "users at most, or the budget; who needs more is undecided")
    ] = "1e7",
    arms: Annotated[str | None, option("K", "10 if drawn, else those of the data")] = None,
    sigma: Annotated[
        str | None, option("σ", "of the Gaussian rewards of easy and hard; 0 for coins")
    ] = None,
    delta: Annotated[str, option("D", "δ of dist-gauss-lucb")] = "1e-6",
    scaling: Annotated[
        str, option("S", "s of the grid of dist-rdp-lucb, dist-cdp-lucb, dist-gauss-lucb")
    ] = "10",
    growth: Annotated[
        str, option("ETA", "after b batches an arm has had n₁ η^(b-1) users")
    ] = "1.5",
    returning: Annotated[
        str | None, option("B", "what a user spends who is in B of the batches")
    ] = None,
    runs: Runs = "20",
    seed: Seed = "0",
    workers: Workers = "1",
    cluster: Cluster = None,
    seconds: ProofTime = "600",
) -> Result:
    """Find the best arm, wrongly with probability at most p: how long it takes, and its privacy.

    Exit code 3 if a run is undecided. The same seed gives the same numbers, whatever the number of
    workers.
    """
    count = whole(runs, "runs", at_least=1, at_most=10**7)
    start = whole(seed, "seed", at_least=0)
    chosen = read_algorithm(algorithm, (*IDENTIFIERS, *HALVINGS))
    if epsilon is None and chosen.private:
        raise ParameterError(f"--epsilon must be given for {chosen.name}")
    if confidence is not None and chosen in HALVINGS:
        raise ParameterError(
            f"--confidence must not be given for {chosen.name}: how often it errs follows from "
            "--most"
        )
    instances = read_instances(instance, arms, sigma)
    setting = Setting(
        instances.arms,
        whole(most, "most", at_least=1, at_most=10**12),
        1 if epsilon is None else epsilon,
        delta=delta,
        scaling=scaling,
        confidence=confidence,
        growth=growth,
    )
    config = Config(chosen, setting, instances)
    with verifying(read_time(seconds), "verifying mechanisms"):
        shared = ready(config, cached_evidence(default_cache() / "evidence"))
        spent = account(shared.plan, returning, delta)
    with output.progress("runs", count) as tick:
        found = identify(
            config, count, start, workers, ready_made=shared, cluster=cluster, progress=tick
        )
    code = _UNDECIDED if found.undecided else 0
    return Result(lambda: _json(config, found, spent), _parts(config, found, spent), code)


def _json(config: Config, found: Identified, spent: Privacy) -> dict[str, Any]:
    plan = found.ready.plan
    least = found.least
    return {
        "algorithm": config.algorithm.name,
        "source": config.algorithm.source,
        "most": config.setting.horizon,
        "runs": found.runs,
        "setting": config.setting,
        "instance": config.instances.name,
        **named_arms(config),
        "error_at_most": config.setting.confidence if found.error is None else None,
        "error_bound": found.error,
        "error_measured": {
            "mean": found.wrong / found.runs,
            "level": _LEVEL,
            "interval": list(found.error_interval(_LEVEL)),
        },
        "chosen": [None if arm < 0 else arm for arm in found.chosen.tolist()],
        "right": found.right.tolist(),
        "wrong": found.wrong,
        "undecided": found.undecided,
        "stopping_time": found.time(),
        "lower_bound": None if least is None else {"for": _whose(config), "users": least},
        "time_over_bound": found.ratio(),
        "upper_bound": None
        if found.most is None
        else {"users": found.most, "probability": 1 - 3 * config.setting.confidence},
        "pulls": found.results.pulls.tolist(),
        "batches": found.results.batches.tolist(),
        "privacy": spent,
        "reports": None
        if (local := plan.local) is None
        else {"mechanism": local.spec, "verdict": local.verified().verdict.name},
        "certificates": [evidence_to_json(held) for _, held in plan.releases() if held is not None],
    }


def _parts(config: Config, found: Identified, spent: Privacy) -> Iterator[Part]:
    setting, answers = config.setting, found.chosen
    given = {
        "algorithm": f"{config.algorithm.name}: {config.algorithm.source}",
        "instance": f"{config.instances.name}, {setting.arms} arms",
        "users": f"at most {setting.horizon:,}, {_counted(found.runs, 'run')}",
    }
    shown = {
        "right": f"{int(found.right.sum())} of {_counted(found.runs, 'run')}",
        "wrong": f"{found.wrong}; with probability at most {_error(config, found)}",
        "stopping time" if found.error is None else "users each": number(found.time()),
    }
    if found.runs == 1 and answers[0] >= 0:
        shown = {"best arm": arm_name(config, answers[0])} | shown
    elif isinstance(config.instances, Fixed):
        arms, counts = np.unique(answers[answers >= 0], return_counts=True)
        often = sorted(zip((-counts).tolist(), arms.tolist(), strict=True))
        names = [f"{arm_name(config, arm)} in {_counted(-n, 'run')}" for n, arm in often]
        more = [] if len(names) <= _NAMED else [f"{len(names) - _NAMED} more"]
        shown = {"chosen": ", ".join(names[:_NAMED] + more) or "none"} | shown
    if found.undecided:
        shown["undecided"] = f"{found.undecided}: the next batch would go beyond --most"
    ratio = found.ratio()
    if found.least is not None:
        shown["lower bound"] = f"{float(found.least):,.1f} in the mean, the known one of " + (
            f"{_whose(config)}" + ("" if ratio is None else f": the time is {ratio.mean:.2f} of it")
        )
    if found.most is not None:
        sure = decimal_text(1 - 3 * setting.confidence)
        shown["upper bound"] = (
            f"{found.most:,} with probability {sure}, proved for these means: the time is "
            f"{found.time().mean / found.most:.2f} of it"
        )
    shown["releases"] = count_range(found.results.batches)
    yield given
    if (local := found.ready.plan.local) is not None:
        shown["reports"] = f"{local.spec}, {local.verified().verdict.name}"
    yield {**shown, **proved(found.ready.plan), **private(spent)}


def _error(config: Config, found: Identified) -> str:
    """The bound that is proved; of a fixed budget beside what was measured."""
    if found.error is None:
        return f"{decimal_text(config.setting.confidence)}, proved"
    low, high = found.error_interval(_LEVEL)
    return (
        f"{at_most(Fraction(found.error.upper))}, proved for these means; measured "
        f"{found.wrong / found.runs:.3g}, {low:.3g} to {high:.3g} at a confidence of {_LEVEL:.0%}"
    )


def _whose(config: Config) -> str:
    """Which algorithms the lower bound is of."""
    if config.algorithm.barrier is Barrier.LOCAL:
        return "every algorithm that sees such reports"
    return str(config.algorithm.barrier.value)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
