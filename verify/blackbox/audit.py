"""Audit a sampler that somebody else wrote, from nothing but its outputs on neighbouring inputs.

*What a violation means.* If the claim were true, and all samples independent, an answer
VIOLATION FOUND would come up with probability at most `error`.

*What no violation does not mean.* It does not mean that the claim is true. It says nothing about
other inputs, about events that were not tried (single outcomes among thousands, rare events that
these samples did not show), or about violations smaller than the power stated beside it. Nor is
either answer worth anything for samples that depend on each other, such as those of a sampler
that seeds itself and so draws the same noise on both inputs. Only a proof about the mechanism
verifies: `exactdp.verify.audit`.

*How the error is spent.* Half of it goes to the fit of the claimed law, where that is asked for.
The rest is divided equally among the pairs of inputs, and within a pair among at most two tests:
one of an event chosen by the claimed laws, before any sample is seen, and one of an event chosen
on a quarter of the samples and tested on the others. By the union bound all bounds hold together
with probability 1 - error, so the largest one holds too. Which kind of test, which direction and
which event are choices made before the tested samples are looked at: they cost nothing. How a
test spends its share between P and Q: see `bounds`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from attrs import frozen
from numpy.random import Generator

from ...exact.number import ExactInput, ParameterError, whole
from ...mechanisms.mechanism import Mechanism
from ..guarantee import Guarantee
from .bounds import ERROR, POWER, Bounds, Notion, SampleVerdict, read_error
from .choice import Plan, choose
from .event import Outputs
from .fit import Fit, fit
from .partition import Output, claimed_outputs, claimed_partition, trained_partitions
from .sampler import Sampler, alike, draw

_TRAINING = 4  # one sample in four chooses the event ...
_MOST_TRAINING = 400_000  # ... of each input, but no more than these
_LARGEST_EPSILON = 500  # e^epsilon is a float
_FEWEST, _MOST = 100, 10**8
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
        return {
            "inputs": [str(value) for value in self.inputs],
            "chosen_by": self.chosen_by,
            "plan": self.plan.to_json(),
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


def audit_sampler(
    sampler: Sampler,
    claim: Guarantee,
    inputs: tuple[Any, Any] | Sequence[tuple[Any, Any]] = (0, 1),
    samples: ExactInput = 100_000,
    *,
    rng: Generator | int | None = None,
    mechanism: Mechanism | None = None,
    check_law: bool = False,
    error: ExactInput = ERROR,
) -> SampleAudit:
    """Look for evidence that a sampler breaks a claim.

    sampler: `sampler(input, size, rng)`; see `sampler.OneByOne` and `sampler.Command`.
    claim: PureDP or ApproxDP. inputs: a pair of neighbouring inputs, or several pairs.
    samples: how many are drawn on each input of each pair. rng: a generator or a seed.
    mechanism: what the sampler claims to be, if known; its likelihood ratio is then tried as well.
    check_law: test also whether the outputs follow the mechanism's laws, for half of the error.
    Outputs are numbers, or vectors of the same length: integers or floats, which are seen by their
    bit patterns (`event`). Raises ParameterError for bad input, also where they are not.

    >>> from exactdp.verify import PureDP
    >>> def sampler(input, size, rng):  # truly 0.92
    ...     return input + rng.geometric(0.6, size) - rng.geometric(0.6, size)
    >>> audit_sampler(sampler, PureDP("0.5"), samples=20_000, rng=0).verdict.value
    'VIOLATION FOUND'
    """
    source = np.random.default_rng(rng)
    size = whole(samples, "samples", at_least=_FEWEST, at_most=_MOST)
    pairs = _pairs(inputs)
    if check_law and mechanism is None:
        raise ParameterError("mechanism must be given where its distribution is to be checked")
    notion, level = _notion(claim), read_error(error)
    share = level / len(pairs) / (2 if check_law else 1)
    tests: list[SampleTest] = []
    fits: list[Fit] = []
    note = None
    for pair in pairs:  # one pair in memory at a time
        drawn = alike([draw(sampler, value, size, source) for value in pair])
        claimed = None
        if mechanism is not None:
            if drawn[0].ndim > 1 or drawn[0].dtype.kind == "f":
                raise ParameterError("law must not be given for a sampler of floats or of vectors")
            claimed = claimed_outputs(mechanism, pair)
        tests += _tests(drawn[0], drawn[1], notion, pair, share, source, claimed)
        if check_law and claimed is not None:
            try:
                fits += [
                    fit(values, out.law, offset=out.offset, modulus=out.modulus, error=share / 2)
                    for values, out in zip(drawn, claimed, strict=True)
                ]
            except ParameterError as refused:
                note = f"the distribution was not checked: {refused}"
    found = [test for test in tests if test.bounds.epsilon > notion.epsilon]
    return SampleAudit(
        claim,
        SampleVerdict.VIOLATION if found else SampleVerdict.NONE,
        max(test.bounds.epsilon for test in tests),
        max(test.bounds.delta for test in tests),
        level,
        size,
        min(test.bounds.detectable_epsilon for test in tests),
        min(test.bounds.detectable_delta for test in tests),
        max(found or tests, key=lambda test: (test.bounds.epsilon, test.bounds.delta)),
        tuple(tests),
        tuple(fits),
        note,
    )


def _pairs(inputs: Any) -> list[tuple[Any, Any]]:
    given = list(inputs)
    if len(given) == 2 and not all(isinstance(each, (tuple, list)) for each in given):
        given = [given]
    if not given or any(not isinstance(p, (tuple, list)) or len(p) != 2 for p in given):
        raise ParameterError("inputs must be a pair of inputs, or several pairs")
    return [(pair[0], pair[1]) for pair in given]


def _notion(claim: Guarantee) -> Notion:
    stated = claim.as_approx
    if stated is None:
        raise ParameterError(f"samples can test a pure or an approx claim, got {claim}")
    if stated.epsilon > _LARGEST_EPSILON:
        raise ParameterError(f"epsilon must be at most {_LARGEST_EPSILON} here, got {claim}")
    return Notion(float(stated.epsilon), float(stated.delta))


def _tests(
    first: Outputs,
    second: Outputs,
    notion: Notion,
    inputs: tuple[Any, Any],
    error: float,
    rng: Generator,
    claimed: tuple[Output, Output] | None,
) -> list[SampleTest]:
    found = []
    share = error if claimed is None else error / 2
    asked = (notion, share, rng)
    if claimed is not None:
        plan = choose([claimed_partition(*claimed, len(first))], notion, share, len(first))
        found.append(SampleTest(inputs, plan, "claimed law", *plan.tested(first, second, *asked)))
    # A coin for each sample: independent draws that come in some order are split fairly.
    quota = max(1, min(256 // _TRAINING, 256 * _MOST_TRAINING // len(first)))
    trains = [np.frombuffer(rng.bytes(len(first)), np.uint8) < quota for _ in range(2)]
    one, two = first[~trains[0]], second[~trains[1]]
    partitions = trained_partitions(first[trains[0]], second[trains[1]])
    plan = choose(partitions, notion, share, min(len(one), len(two)))
    found.append(SampleTest(inputs, plan, "training samples", *plan.tested(one, two, *asked)))
    return found


def _power(epsilon: float, delta: float) -> dict[str, str]:
    return {"probability": str(POWER), "epsilon": _text(epsilon), "delta": _text(delta)}


def _from(lower: float, top: str) -> dict[str, str]:
    rounded = Context(prec=_DIGITS, rounding=ROUND_FLOOR).create_decimal(Decimal(lower))
    return {"lower": format(rounded.normalize(), "f"), "upper": top}


def _text(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "inf"
