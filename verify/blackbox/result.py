"""What an audit of a sampler hands back: frozen values, and the same as plain JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

from attrs import frozen

from ..guarantee import Guarantee
from .bounds import Bounds
from .choice import Guessing, Plan
from .fit import Fit
from .verdict import POWER, SampleVerdict

_DIGITS = 12


@frozen
class SampleTest:
    """One test on one pair of `inputs`: the plan, what was counted, and the bounds that follow.

    chosen_by: "claimed law" or "training samples". counts: `right`, `made` and `trials` of
    guesses; or how often the event occurred on the likelier and on the other input, and in how many
    samples.

    >>> from exactdp.verify import PureDP
    >>> from exactdp.verify.blackbox import audit_sampler
    >>> def sampler(input, size, rng):
    ...     return input + rng.geometric(0.6, size) - rng.geometric(0.6, size)
    >>> found = audit_sampler(sampler, PureDP("0.5"), samples=20_000, rng=0).best
    >>> found.inputs, found.chosen_by
    ((0, 1), 'training samples')
    """

    inputs: tuple[Any, Any]
    plan: Plan
    chosen_by: str
    counts: Mapping[str, int]
    bounds: Bounds

    def to_json(self) -> dict[str, Any]:
        """Everything, the events with all their intervals."""
        plan: dict[str, Any] = {"text": str(self.plan)}
        if isinstance(self.plan, Guessing):
            plan |= {"first": self.plan.first.to_json(), "second": self.plan.second.to_json()}
        else:
            plan |= {"event": self.plan.event.to_json(), "likelier": self.plan.likelier}
        return {
            "inputs": [str(value) for value in self.inputs],
            "chosen_by": self.chosen_by,
            "plan": plan,
            "counts": dict(self.counts),
            "epsilon": _from(self.bounds.epsilon, "inf"),
            "delta": _from(self.bounds.delta, "1"),
            "error": self.bounds.error,
            "power": _power(self.bounds.detectable_epsilon, self.bounds.detectable_delta),
        }


@frozen
class SampleAudit:
    """The answer about the claim: `verdict`, and all `tests` behind it.

    epsilon, delta: the largest of the lower confidence bounds, on epsilon at the claimed delta and
    on delta at the claimed epsilon (0 where nothing is known; delta stays 0 where guesses test a
    pure claim). They hold together with probability 1 - error.
    detectable_epsilon, detectable_delta: the power, where nothing was found: the smallest true
    value, on an event that was tested, that this many samples would have found with probability
    0.95. inf: none.
    samples: of each input of each pair. best: the test with the largest bound.
    fits: whether the outputs follow the claimed law, one for each input, where that was asked for.
    note: anything that a reader must know besides.

    >>> from exactdp.verify import PureDP
    >>> from exactdp.verify.blackbox import audit_sampler
    >>> def sampler(input, size, rng):
    ...     return input + rng.geometric(0.6, size) - rng.geometric(0.6, size)
    >>> found = audit_sampler(sampler, PureDP("0.5"), samples=20_000, rng=0)
    >>> 0.5 < found.epsilon < 1
    True
    """

    claim: Guarantee
    verdict: SampleVerdict
    epsilon: float
    delta: float
    error: float
    samples: int
    detectable_epsilon: float
    detectable_delta: float
    best: SampleTest
    tests: tuple[SampleTest, ...]
    fits: tuple[Fit, ...] = ()
    note: str | None = None

    def __bool__(self) -> bool:
        raise TypeError("an audit of samples is not true or false: ask .verdict or .overall")

    @property
    def misfits(self) -> tuple[Fit, ...]:
        """Where the outputs do not follow the claimed law."""
        return tuple(each for each in self.fits if each.verdict is SampleVerdict.VIOLATION)

    @property
    def overall(self) -> SampleVerdict:
        """A violation of the claim, or of the claimed law."""
        return SampleVerdict.VIOLATION if self.misfits else self.verdict

    def to_json(self) -> dict[str, Any]:
        """Everything; bounds rounded down, as decimal text."""
        shown: dict[str, Any] = {
            "claim": str(self.claim),
            "verdict": self.verdict.value,
            "epsilon": _from(self.epsilon, "inf"),
            "delta": _from(self.delta, "1"),
            "samples": self.samples,
            "error": self.error,
            "power": _power(self.detectable_epsilon, self.detectable_delta),
            "event": str(self.best.plan),
            "tests": [test.to_json() for test in self.tests],
        }
        if self.fits:
            shown["fits"] = [each.to_json() for each in self.fits]
        return shown if self.note is None else shown | {"note": self.note}


def _power(epsilon: float, delta: float) -> dict[str, str]:
    return {"probability": str(POWER), "epsilon": _text(epsilon), "delta": _text(delta)}


def _from(lower: float, top: str) -> dict[str, str]:
    rounded = Context(prec=_DIGITS, rounding=ROUND_FLOOR).create_decimal(Decimal(lower))
    return {"lower": format(rounded.normalize(), "f"), "upper": top}


def _text(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "inf"
