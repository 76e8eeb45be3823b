"""A privacy odometer: what has been spent so far, with no limit set beforehand.

Mechanisms may be chosen from earlier outputs (as in `filters`, whose notation this uses), and so
may the moment T to stop; the report e_T, read from the transcript, is valid there:

    E_P (1 - e^(e_T - L_T))^+ <= delta,

which says that for each event S of the transcript up to T, and each number e,

    P(S and e_T <= e) <= e^e Q(S and e_T <= e) + delta.

So if a rule always stops at a report of at most e, the whole run is (e, delta)-DP; otherwise this
bounds what the runs that do can reveal. It is a statement about one rule to stop, whichever it is;
not about all reports at once.

*One order a > 1.* With R_t = r_1 + ... + r_t the supermartingale of the Rényi filter reads
E_P e^((a-1)(L_T - R_T)) <= 1 (T finite). Since (1 - e^(c-x))^+ <= e^((a-1)(x-c)) (1/a)(1-1/a)^(a-1)
for all real x and c (both sides touch at e^(c-x) = 1 - 1/a), with x = L_T - R_T the report R_T + c
is valid as soon as e^(-(a-1)c) (1/a)(1-1/a)^(a-1) <= delta: c = surcharge(a, delta) as in Lemma
10. What was spent may be random, because only L_T - R_T enters.

*Several orders.* Order a_j gets delta_j; the least of the reports is valid for the sum of the
delta_j, since (1 - e^(min_j e_j - L))^+ <= sum_j (1 - e^(e_j - L))^+. The orders are those that
suit targets which double from level to level, delta_j = delta/(j (j+1)): they sum to less than
delta. (Filters with doubling budgets would report the limit of the level reached. Here it is what
was spent at the level's order, which is never more.)

*Pure.* L_T <= the sum of the pure epsilons always: that sum is one more report, and costs no delta.

Sources: Rogers, Roth, Ullman, Vadhan, "Privacy odometers and filters: pay-as-you-go composition",
NeurIPS 2016; Feldman, Zrnic, "Individual privacy accounting via a Rényi filter", NeurIPS 2021;
Lécuyer, "Practical privacy filters and odometers with Rényi differential privacy and applications
to differentially private deep learning", 2021. The argument above is complete without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from attrs import evolve, field, frozen

from ...exact import Enclosure, ExactInput, ParameterError, exact, refine
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import compose
from ..levels import read_failure
from .charges import Charges, admit, measured, read_times, total, with_use
from .filter_order import best_order, surcharge

_ZERO = Enclosure.exactly(0)
_TARGETS = tuple(Fraction(2) ** power for power in range(-3, 6))  # 1/8 ... 32


class Level(NamedTuple):
    """An order at which costs are counted, and the share of delta that its report uses."""

    order: Fraction
    delta: Fraction

    def report(self, cost: Enclosure) -> Enclosure:
        """The epsilon for what was spent at this order."""
        return cost.plus(refine(lambda: surcharge(self.order, self.delta)))


def _read_targets(values: Sequence[ExactInput]) -> tuple[Fraction, ...]:
    if not values:
        raise ParameterError("targets must have at least one epsilon")
    return tuple(exact(value, "targets", above=0) for value in values)


@frozen
class RenyiOdometer:
    """What was spent so far, as the epsilon of (epsilon, delta)-DP. An immutable value.

    delta: of the whole run, 0 < delta < 1. targets: the epsilons near which the report is to be
    good, nearest first; best when they double. charges: at each level, then the pure epsilons.

    Raises ParameterError for numbers out of range.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> one = AdditiveNoise(DiscreteLaplace(10))  # pure epsilon 0.1
    >>> RenyiOdometer("1e-6").spend(one, times=4).epsilon() < 1
    True
    """

    delta: Fraction = field(converter=read_failure)
    targets: tuple[Fraction, ...] = field(default=_TARGETS, converter=_read_targets)
    charges: tuple[Charges, ...] = field(kw_only=True)

    @charges.default
    def _nothing(self) -> tuple[Charges, ...]:
        return ((),) * (len(self.targets) + 1)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The order that suits each target, and its share delta/(j (j+1)) of delta."""
        shares = [self.delta / (j * (j + 1)) for j in range(1, len(self.targets) + 1)]
        return tuple(
            Level(best_order(target, share), share)
            for target, share in zip(self.targets, shares, strict=True)
        )

    def spend(self, mechanism: Mechanism, times: ExactInput = 1) -> RenyiOdometer:
        """The odometer after so many uses more. No cost is refused; the report may be infinite.

        Raises ParameterError for neighbours other than those of what was spent before.
        """
        count = read_times(times)
        admit(self.charges[-1], mechanism)
        known = any(charge.mechanism == mechanism for charge in self.charges[-1])
        nothing = [_ZERO] * len(self.charges)
        costs = nothing if known else measured(lambda: self._costs(mechanism))
        return evolve(
            self,
            charges=tuple(
                with_use(charges, mechanism, count, cost)
                for charges, cost in zip(self.charges, costs, strict=True)
            ),
        )

    def epsilon(self) -> Enclosure:
        """The report: the least over all levels, 0 before anything is spent.

        It is the formula's value that is enclosed: `upper` holds in any case.
        """
        *costs, pure = map(total, self.charges)
        reports = [level.report(cost) for level, cost in zip(self.levels, costs, strict=True)]
        lowers, uppers = zip(*((each.lower, each.upper) for each in [pure, *reports]), strict=True)
        return Enclosure(min(lowers), min(uppers)).maximum(_ZERO)

    def _costs(self, mechanism: Mechanism) -> list[Enclosure]:
        one = compose(mechanism)
        return [*one.renyi_curve([level.order for level in self.levels]), one.pure()]
