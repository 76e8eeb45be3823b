"""What several uses cost together, measured: epsilon(delta) and delta(epsilon), rho, and mu.

*epsilon and delta*, of one scenario. One use and Gaussian noise narrowly (`losses.continuous`:
`profile`, `allocated`), all else by its losses together (`losses.sums`): exactly on a lattice, else
moved to one. Where neither applies, a Gaussian or Rényi divergences bound the figure (`known`).

*rho* is the supremum of the *sum* of their curves over all orders. Their own suprema add up to an
upper bound, which is exact only where one order attains all of them. Where the pairs can be listed,
every choice of one pair for each mechanism is searched by itself (`concentrated.joint`): at each
order costs add up, so the worst choice is one of these.

*mu* is at most the root of the sum of their squares: each use is post-processing of N(mu_i, 1)
against N(0, 1); independent ones turn into N(mu, 1) against N(0, 1) with mu^2 = sum of mu_i^2, by a
rotation (Dong, Roth, Su, "Gaussian differential privacy", JRSS B 2022, Corollary 3.3; the worst
pairs of adaptive uses are such a product, see `composed`). Gaussian noise attains it, and so does
sampled Gaussian noise, by its rho. What others attain is bounded from below by any one of the uses,
by rho and by the composed profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice, product

from attrs import evolve

from ...common.rows import written
from ...exact import Enclosure, refine
from ...exact.budget import QUICK, OutOfTimeError, quickly
from ...exact.enclosure import ContradictionError
from ...exact.square_root import squared as exact_square
from ...mechanisms.continuous import Shape, continuous
from ...mechanisms.sampling.allocation import allocation
from ..divergences import concentrated
from ..divergences.gaussian_dp import bounded_mu, root_of, squared
from ..figure import MU, PURE, RHO, Figure, meeting
from ..losses.continuous import allocated, profile
from ..losses.continuous.profile import has_no_outcomes, parts_of
from ..losses.sums import Enough, coarse, composed, most_costly, never
from ..scenario import Scenario, Use
from . import divergence
from .divergence import added_up
from .known import by_envelope

COARSE = "with the work or the time allowed it was measured on a coarse lattice only"
FROM_ABOVE = "with the work or the time allowed only a bound from above was found"
FROM_SOME = "with the work or the time allowed the uses of most noise count from above only"
_VAGUE, _ROUGHLY = Fraction(1, 2), Fraction(1, 10**6)
_EACH = 2 * QUICK  # units of work for each
_ORDERS = tuple(map(Fraction, ("1.01", "1.5", "2", "4", "16", "64")))
_MOST_CHOICES = 8
_CAP = 384  # bits
_INFINITY = Decimal("Infinity")


# -- epsilon and delta ----------------------------------------------------------------------------


def measured(
    uses: Scenario, figure: Figure, width: Fraction, cap: int, work: float, enough: Enough = never
) -> Enclosure:
    """Of these uses together: discrete or continuous noise or both, allocations, or batches.

    cap: of the precision, in bits. work: about how many seconds. enough: what of a first enclosure
    makes a narrower one needless. Raises ContradictionError where two ways do not agree.
    """
    try:
        try:
            found = narrowly(uses, figure, width, cap, work, enough)
        except OutOfTimeError:
            return measured_roughly(uses, figure)
        except ArithmeticError:  # not known of so many outcomes
            return measured_roughly(uses, figure, ())
        return _met(found, uses, figure)
    except ContradictionError as error:
        listed = " + ".join(f"{times} * {written(one)}" for one, times in uses)
        raise ContradictionError(f"{error}: {listed}") from error


def measured_roughly(uses: Scenario, figure: Figure, why: Sequence[str] = (COARSE,)) -> Enclosure:
    """On a coarse lattice, for these reasons; where there is none, by what bounds it from above.

    That is quick, and done whatever time is left. Raises OutOfTimeError where it tells nothing.
    """
    if (found := _coarsely(uses, figure)) is not None:
        return _met(found, uses, figure).because(*why)
    above, few = _from_above(uses, figure), most_costly(uses)
    if len(few) == len(uses) or (found := _coarsely(few, figure)) is None:
        return above
    # the other uses tell nothing that makes it less than what these cost
    below = Enclosure(found.lower, figure.trivial.upper, by=found.by)
    return meeting(figure, evolve(above, why=()), below).because(FROM_SOME)


def _met(known: Enclosure, uses: Scenario, figure: Figure) -> Enclosure:
    """What is known, and if that is next to nothing, what bounds it from above."""
    if known.is_within(_VAGUE):
        return known
    with suppress(OutOfTimeError):
        return meeting(figure, known, evolve(_from_above(uses, figure), why=()))
    return known


def _coarsely(uses: Scenario, figure: Figure) -> Enclosure | None:
    """On a coarse lattice; None where that does not apply."""
    try:
        return quickly(partial(coarse, uses, figure), None, _EACH)
    except ArithmeticError:  # not covered, or no lattice that fits is known
        return None


def _from_above(uses: Scenario, figure: Figure) -> Enclosure:
    """By Gaussians. Raises OutOfTimeError where these tell nothing."""
    found = nothing = figure.trivial
    if figure.at or figure.quantity == "delta":
        with suppress(ArithmeticError):  # not known
            found = quickly(partial(by_envelope, uses, figure), nothing, _EACH)
    if found == nothing:
        raise OutOfTimeError("the time allowed is over")
    return found.because(FROM_ABOVE)


def narrowly(
    uses: Scenario, figure: Figure, width: Fraction, cap: int, work: float, enough: Enough = never
) -> Enclosure:
    """What is exact, or as narrow as asked."""
    at, known = figure.at, figure.trivial
    assert at is not None
    if figure == Figure("epsilon", Fraction(1)):
        return Enclosure.exactly(0)
    with suppress(ArithmeticError):  # not known
        unknown, largest = Enclosure.unknown(), partial(added_up, uses, PURE, _ROUGHLY)
        if figure.quantity == "delta" and quickly(largest, unknown).upper <= at:
            return Enclosure.exactly(0)  # no loss is above epsilon, however seldom the outcome
    if (parts := parts_of(uses)) is not None:
        known = profile.measured(parts, figure, width, work)
    elif all(allocation(use.mechanism) for use in uses):
        epochs = [(one, use.times) for use in uses if (one := allocation(use.mechanism))]
        known = allocated.measured(epochs, figure, width)
    if known.is_within(width) or enough(known):
        return known
    failed: Exception | None = None
    try:
        found = composed(uses, figure, width, cap, work, enough)
        known = meeting(figure, Enclosure(known.lower, known.upper), found)
    except (ArithmeticError, OutOfTimeError) as error:
        failed = error
    if failed is not None and known == figure.trivial:
        raise failed
    return known


# -- what adds up ---------------------------------------------------------------------------------


def composed_zcdp(uses: Scenario, width: Fraction, cap: int) -> Enclosure:
    """Enclose the least rho for which these uses together are rho-zCDP."""
    known = added_up(uses, RHO, width, cap)
    if len(uses) == 1 or known.lower == _INFINITY:
        return known
    each = (added_up(uses, Figure("renyi", order), width).times(1 / order) for order in _ORDERS)
    found = Enclosure(max(one.lower for one in each), known.upper)
    return found if found.is_within(width) else _searched(uses, found, width, cap)


def _searched(uses: Scenario, known: Enclosure, width: Fraction, cap: int) -> Enclosure:
    if any(has_no_outcomes(use.mechanism) for use in uses):
        return known
    menus = [(tuple(islice(one.pairs(), _MOST_CHOICES + 1)), times) for one, times in uses]
    menus = [menu for menu in menus if menu[0]]  # what has no pair tells nothing
    if math.prod(len(pairs) for pairs, _ in menus) > _MOST_CHOICES:
        return known
    best = Enclosure.exactly(0)
    for choice in product(*(pairs for pairs, _ in menus)):
        pairs = [(pair, times) for pair, (_, times) in zip(choice, menus, strict=True)]
        try:
            together = partial(concentrated.joint, pairs)
            best = best.maximum(refine(together, width=width, cap=min(cap, _CAP)))
        except (ArithmeticError, OutOfTimeError):
            return known
    return known.intersection(best)


def composed_gdp(
    uses: Sequence[Use], ask: Callable[[Figure], Enclosure], width: Fraction, cap: int
) -> Enclosure:
    """Enclose the least mu for which these uses together are mu-GDP.

    ask: for other figures of all of them together, where each use by itself does not tell.
    """
    each = [divergence.figure_of(use.mechanism, MU, width, cap) for use in uses]
    if len(uses) == uses[0].times == 1:
        return each[0]
    squares = (_square(use, mu).times(use.times) for mu, use in zip(each, uses, strict=True))
    most = root_of(Enclosure.total(squares)).upper
    least = max(each, key=lambda mu: mu.lower).lower  # the others' outputs may be ignored
    if least == _INFINITY:
        return Enclosure.infinite()
    reasons = [reason for mu in each for reason in mu.why]
    found = bounded_mu(Enclosure(least, most), ask, width)
    return found if found.is_within(width) else found.because(*reasons)


def _square(use: Use, mu: Enclosure) -> Enclosure:
    """mu^2 of one use; exactly of Gaussian noise, of which it is rational where mu is not."""
    noise = continuous(use.mechanism)
    if noise is None or noise.shape is not Shape.GAUSSIAN or noise.rate != 1:
        return squared(mu)
    return Enclosure.exactly(exact_square(noise.move))
