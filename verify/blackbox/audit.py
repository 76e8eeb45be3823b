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
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import stats

from ...exact.number import ExactInput, ParameterError, whole
from ...mechanisms.mechanism import Mechanism
from ..guarantee import Guarantee
from .bounds import Notion, from_excess, from_guesses
from .choice import Guessing, Plan, choose
from .claimed import claimed_outputs
from .fit import Fit, fit
from .partition import claimed_partition, trained_partitions
from .result import SampleAudit, SampleTest
from .sampler import Outputs, Sampler, alike, draw
from .verdict import ERROR, SampleVerdict, read_error

_TRAINING = 4  # one sample in four chooses the event ...
_MOST_TRAINING = 400_000  # ... of each input, but no more than these
_LARGEST_EPSILON = 500  # e^epsilon is a float
_FEWEST, _MOST = 100, 10**8


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
    bit patterns (`view`). Raises ParameterError for bad input, also where they are not.

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
    skipped = None
    for pair in pairs:  # one pair in memory at a time
        drawn = alike([draw(sampler, value, size, source) for value in pair])
        if mechanism is not None and (drawn[0].ndim > 1 or drawn[0].dtype.kind == "f"):
            raise ParameterError("law must not be given for a sampler of floats or of vectors")
        tests += _tests(drawn[0], drawn[1], notion, pair, share, source, mechanism)
        if check_law and mechanism is not None:
            try:
                fits += _fits(drawn, mechanism, pair, share)
            except ParameterError as refused:
                skipped = f"the distribution was not checked: {refused}"
    return _audit(claim, notion, tests, size, level, fits, skipped)


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


def _fits(
    drawn: Sequence[Outputs], mechanism: Mechanism, inputs: tuple[Any, Any], error: float
) -> list[Fit]:
    return [
        fit(values, out.law, offset=out.offset, modulus=out.modulus, error=error / 2)
        for values, out in zip(drawn, claimed_outputs(mechanism, inputs), strict=True)
    ]


def _tests(
    first: Outputs,
    second: Outputs,
    notion: Notion,
    inputs: tuple[Any, Any],
    error: float,
    rng: Generator,
    mechanism: Mechanism | None,
) -> list[SampleTest]:
    found = []
    share = error if mechanism is None else error / 2
    if mechanism is not None:
        outputs = claimed_outputs(mechanism, inputs)
        plan = choose([claimed_partition(*outputs, len(first))], notion, share, len(first))
        found.append(_test(plan, "claimed law", first, second, notion, inputs, share, rng))
    # A coin for each sample: independent draws that come in some order are split fairly.
    quota = max(1, min(256 // _TRAINING, 256 * _MOST_TRAINING // len(first)))
    trains = [np.frombuffer(rng.bytes(len(first)), np.uint8) < quota for _ in range(2)]
    one, two = first[~trains[0]], second[~trains[1]]
    partitions = trained_partitions(first[trains[0]], second[trains[1]])
    plan = choose(partitions, notion, share, min(len(one), len(two)))
    found.append(_test(plan, "training samples", one, two, notion, inputs, share, rng))
    return found


def _test(
    plan: Plan,
    chosen_by: str,
    first: Outputs,
    second: Outputs,
    notion: Notion,
    inputs: tuple[Any, Any],
    error: float,
    rng: Generator,
) -> SampleTest:
    if isinstance(plan, Guessing):
        spent = error / 1000
        size = min(len(first), len(second))
        trials = _fair_trials(size, spent)
        # The coins of the trials: as many first inputs as a fair coin says, up to what there is;
        # that it says more has probability at most `spent`, which is paid for.
        heads = min(max(int(rng.binomial(trials, 0.5)), trials - size), size)
        # Which samples these are is drawn as well: how many of them lie in which event.
        in_first, in_second = (
            rng.multivariate_hypergeometric([inside, other, len(values) - inside - other], chosen)
            for values, chosen in ((first, heads), (second, trials - heads))
            for inside, other in [(plan.first.count(values), plan.second.count(values))]
        )
        right = int(in_first[0] + in_second[1])
        made = right + int(in_first[1] + in_second[0])
        counts = {"right": right, "made": made, "trials": trials}
        bounds = from_guesses(right, made, trials, notion, error - spent, plan.events)
    else:
        ordered = (first, second) if plan.likelier == 0 else (second, first)
        more, less = (plan.event.count(values) for values in ordered)
        sizes = len(ordered[0]), len(ordered[1])
        counts = {"likelier": more, "of": sizes[0], "other": less, "of other": sizes[1]}
        bounds = from_excess(more, sizes[0], less, sizes[1], notion, error)
    return SampleTest(inputs, plan, chosen_by, counts, bounds)


def _fair_trials(size: int, error: float) -> int:
    """How many fair coins can be tossed so that neither side needs more than `size` samples,
    but for this probability.
    """
    trials = 2 * size - math.ceil(float(stats.norm.isf(error / 4)) * math.sqrt(2 * size))
    while trials > size and 2 * stats.binom.sf(size, trials, 0.5) > error:
        trials -= 1 + size // 1000
    return max(trials, size)


def _audit(
    claim: Guarantee,
    notion: Notion,
    tests: Sequence[SampleTest],
    samples: int,
    error: float,
    fits: Sequence[Fit] = (),
    note: str | None = None,
) -> SampleAudit:
    found = [test for test in tests if test.bounds.epsilon > notion.epsilon]
    best = max(found or tests, key=lambda test: (test.bounds.epsilon, test.bounds.delta))
    return SampleAudit(
        claim,
        SampleVerdict.VIOLATION if found else SampleVerdict.NONE,
        max(test.bounds.epsilon for test in tests),
        max(test.bounds.delta for test in tests),
        error,
        samples,
        min(test.bounds.detectable_epsilon for test in tests),
        min(test.bounds.detectable_delta for test in tests),
        best,
        tuple(tests),
        tuple(fits),
        note,
    )
