"""How runs of a bandit look: a table with a sparkline of regret, or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..bandit.algorithms.algorithm import Elimination, LargestIndex, OwnPolicy
from ..bandit.evidence import to_json as evidence_to_json
from ..bandit.instances import Fixed
from ..bandit.plan import Plan
from ..bandit.privacy import Privacy, privacy
from ..bandit.results import Mean, Results
from ..bandit.run import Config
from ..bandit.yardsticks import Yardsticks
from ..common.table import Bar, Cell, Table
from ..exact import Enclosure, decimal_text, whole
from ..verify.certificate import Certificate
from .parts import at_most
from .result import Part

_SHOWN = 12  # checkpoints in the table
_ARMS = 20  # arms whose pulls are shown
_NAME = 40  # letters of an arm's name


def spent(plan: Plan, returning: str | None, delta: str) -> Privacy:
    """The privacy statement; with a number of batches also the composed epsilon."""
    if returning is None:
        return privacy(plan)
    batches = whole(returning, "returning", at_least=1, at_most=10**6)
    return privacy(plan, batches, delta)


def to_json(config: Config, results: Results, spent: Privacy, beside: Yardsticks) -> dict[str, Any]:
    """The shape that is promised to scripts, and a little more."""
    plan, setting = results.plan, config.setting
    return {
        "algorithm": config.algorithm.name,
        "source": config.algorithm.source,
        "horizon": setting.horizon,
        "runs": results.runs,
        "setting": setting,
        "instance": config.instances.name,
        **named_arms(config),
        "radius": {
            "kind": plan.radius.value,
            "failure": plan.failure,
        },
        "regret": results.total_regret(),
        **beside.to_json(results.total_regret()),
        "checkpoints": [
            {"round": rounds, "time_average_regret": mean}
            for rounds, mean in results.time_average()
        ],
        "pulls": results.pulls.tolist(),
        "best_arm_eliminated": int(results.eliminated.sum()),
        "batches": results.batches.tolist(),
        "privacy": spent,
        "certificates": [evidence_to_json(held) for _, held in plan.releases() if held is not None],
        "bits_per_user": _bits(plan),
    }


def parts(config: Config, results: Results, spent: Privacy, beside: Yardsticks) -> Iterator[Part]:
    """For people."""
    setting, plan = config.setting, results.plan
    given = {
        "algorithm": f"{config.algorithm.name}: {config.algorithm.source}",
        "instance": f"{config.instances.name}, {setting.arms} arms",
        "horizon": f"{setting.horizon:,} rounds, {_runs(results)}",
        "radius": _radius(plan),
    }
    eliminated = int(results.eliminated.sum())
    found = {
        "regret": number(results.total_regret()),
        **_beside(results.total_regret(), beside),
        **_lost(config, f"in {eliminated} of {_runs(results)}"),
        "pulls": _pulls(config, results),
        "batches released": f"{_range(results.batches.tolist())}, {_whose(config)}",
        **proved(plan),
        **private(spent),
    }
    bits = _bits(plan)
    if bits is not None:
        found["bits per user"] = f"at most {bits}"
    yield given
    yield _table(results.time_average())
    yield found


def _table(average: Sequence[tuple[int, Mean]]) -> Table:
    rows = []
    top = max(mean.mean for _, mean in average) or 1.0
    step = max(1, len(average) // _SHOWN)
    chosen = list(average[::-step][:_SHOWN])[::-1]
    for rounds, mean in chosen:
        error = "" if mean.standard_error != mean.standard_error else f"{mean.standard_error:.2g}"
        rows.append((f"{rounds:,}", f"{mean.mean:.5f}", error, Bar(mean.mean / top, 24)))
    columns = ("round", "regret by round", "± s.e.", "")
    return Table(columns, rows, right=("round", "± s.e."))


def named_arms(config: Config) -> dict[str, list[str]]:
    """What a file calls its arms; nothing where none does."""
    labels = config.instances.labels if isinstance(config.instances, Fixed) else ()
    return {"arms": list(labels)} if labels else {}


def arm_name(config: Config, arm: int) -> str:
    """By its number, and the name that a file gave it."""
    numbered = f"arm {arm}, counted from 0"
    if not (labels := named_arms(config).get("arms")):
        return numbered
    return f"{_plain(labels[arm])} ({numbered})"


def _plain(label: str) -> str:
    plain = "".join(c if c.isprintable() else "?" for c in label)
    return plain if len(plain) <= _NAME else f"{plain[:_NAME]}…"


def _pulls(config: Config, results: Results) -> str:
    """By arm where all runs have the same arms; the most pulled first where they do not."""
    pulls = results.pulls if isinstance(config.instances, Fixed) else -np.sort(-results.pulls)
    what = "by arm" if isinstance(config.instances, Fixed) else "the arm pulled most first"
    mean = ", mean over runs" if results.runs > 1 else ""
    shown = [f"{count:,.0f}" for count in pulls.mean(axis=0)[:_ARMS]]
    if labels := named_arms(config).get("arms"):
        shown = [f"{_plain(name)} {count}" for name, count in zip(labels, shown, strict=False)]
    more = [] if pulls.shape[1] <= _ARMS else ["..."]
    return f"{' '.join(shown + more)}  ({what}{mean})"


def _runs(results: Results) -> str:
    return "1 run" if results.runs == 1 else f"{results.runs:,} runs"


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def number(mean: Mean) -> str:
    """With its standard error, if it has one."""
    if mean.standard_error != mean.standard_error:
        return f"{mean.mean:,.1f}"
    return f"{mean.mean:,.1f} ± {mean.standard_error:,.1f} (standard error)"


def _beside(regret: Mean, beside: Yardsticks) -> dict[str, Cell]:
    shown: dict[str, Cell] = {}
    ratio = beside.ratio(regret)
    if beside.lower_bound is not None and ratio is not None:
        shown["lower bound"] = (
            f"{float(beside.lower_bound):,.1f}, the known one of {beside.barrier.value} times "
            f"log T: regret is {ratio.mean:.2f} of it"
        )
    if beside.expected is not None:
        shown["expected regret"] = f"at most {float(beside.expected):,.1f}, proved"
    return shown


def _lost(config: Config, count: str) -> dict[str, Cell]:
    """How often best arms were lost, which policies of their own do not say."""
    if isinstance(config.algorithm.rule, OwnPolicy):
        return {}
    return {
        "best index below mean"
        if isinstance(config.algorithm.rule, LargestIndex)
        else "best arm eliminated": count
    }


def _whose(config: Config) -> str:
    return "of each active arm" if isinstance(config.algorithm.rule, Elimination) else "of all arms"


def _radius(plan: Plan) -> str:
    shown = plan.radius.value
    if isinstance(plan.algorithm.rule, OwnPolicy):
        return "none: its decisions are its own, and nothing is proved of them"
    if plan.index is not None:
        return f"none: indices, a best arm's below its mean with probability {plan.failure}"
    if plan.failure is None:
        return f"{shown}, p = {decimal_text(plan.setting.confidence)}"
    return f"{shown}: a best arm is eliminated with probability at most {plan.failure}"


def proved(plan: Plan) -> dict[str, Cell]:
    """How much is certified of the releases."""
    held = [each for _, each in plan.releases() if each is not None]
    if not held:
        return {}
    certificates = sum(isinstance(each, Certificate) for each in held)
    shown = f"{len(held)} batch sizes VERIFIED"
    if certificates == len(held):
        shown += ", each with a certificate"
    elif certificates:
        shown += f", {certificates} with a certificate; of the others by the prover alone"
    else:
        shown += " by the prover alone: they are beyond its independent checker"
    return {"mechanisms": shown}


def private(spent: Privacy) -> dict[str, Cell]:
    """What users spend."""
    if spent.once is None:
        return {"privacy": spent.note or "none"}
    shown: dict[str, Cell] = {
        "privacy": f"{spent.claim} of every batch, {_TRUST.get(spent.trust, spent.trust)}",
        "one batch": f"{spent.quantity} {spent.once}",
    }
    if spent.batches > 1 and spent.together is not None:
        value = _exactly_or_at_most(spent.together)
        shown[f"{spent.batches} batches"] = f"{spent.quantity} {value}"
    if spent.one_sum is not None and spent.batches > 1:
        places = f"{spent.batches} places in one sum"
        shown[places] = f"{spent.quantity} {_exactly_or_at_most(spent.one_sum)}"
    if spent.epsilon is not None and spent.delta is not None:
        shown["together"] = f"epsilon {spent.epsilon} at delta = {decimal_text(spent.delta)}"
    if spent.note:
        shown["note"] = spent.note
    return shown


def _exactly_or_at_most(value: Enclosure) -> str:
    most = "infinity" if not value.is_finite() else at_most(Fraction(value.upper))
    return str(value) if value.lower else f"at most {most}"


_TRUST = {
    "central": "towards all who see what a trusted server releases",
    "distributed": "towards the server, which sees sums only",
    "local": "towards everybody",
}


def _bits(plan: Plan) -> int | None:
    sent = [release.bits_per_user for release, _ in plan.releases()]
    known = [bits for bits in sent if bits is not None]
    return max(known, default=None)
