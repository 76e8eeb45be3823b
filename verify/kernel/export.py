"""From a verdict to its theorem: which form, its numbers, and hints. Nothing rests on the hints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction

from ...accounting.composition.composed import compose
from ..audit import Audit, Verdict
from ..checker.arithmetic import INFINITY
from ..checker.binomial import Binomial
from ..checker.kinds import read_use
from ..checker.laws import DiscreteGaussian, DiscreteLaplace, Skellam
from ..checker.mechanisms import Additive, Response, TwoLaws, Vector
from ..checker.statement import Statement, read_claim
from ..fields import NotCertifiedError, use_fields
from .on_grid import MOST_OUTCOMES, far_ratio, last_outcome, on_grid, pair_on_grid, too_wide
from .renyi import (
    Uses,
    are_gaussian,
    are_sampled,
    concentrated,
    converted,
    listed,
    plain,
    renyi,
    sampled,
)
from .verdicted import (
    FAR_BITS,
    NotWrittenError,
    Verdicted,
    bits,
    columns,
    quotient,
    squared,
    unknown,
)

_MOST_WAYS = 1_000_000  # sequences of outcomes that a proof may visit one by one
_LARGEST_LATTICE = 2_000  # points: each use moves by at most the sensitivity
_MOST_POINTS = 20_000  # of the product of all lattices of a list


def theorem_of(audit: Audit) -> str:
    """The verdict of an audit as the text of a Coq file.

    audit: verified or refuted. Raises NotWrittenError where there is no form.

    >>> import exactdp
    >>> text = theorem_of(exactdp.audit("randomized-response:epsilon=1", "pure:1"))
    >>> text.splitlines()[-1]
    'Print Assumptions verdict.'
    """
    if audit.verdict is Verdict.UNDECIDED:
        raise NotWrittenError("--coq: an undecided claim has no theorem")
    try:
        uses = [read_use(use_fields(use)) for use in compose(audit.mechanism).uses]
    except NotCertifiedError as error:
        raise unknown() from error
    kind, numbers = read_claim(audit.claim.fields())
    verified = audit.verdict is Verdict.VERIFIED
    end = audit.measured.upper if verified else audit.measured.lower
    return _written(uses, kind, numbers, verified, end)


def theorem_in(statement: Statement) -> str:
    """What a certificate states as a Coq file. Raises NotWrittenError where there is no form."""
    verified = statement.verdict == "VERIFIED"
    end = statement.measured[verified]
    return _written(statement.uses, statement.kind, statement.numbers, verified, end)


def _written(
    uses: Uses,
    kind: str,
    numbers: Mapping[str, Fraction],
    verified: bool,
    end: Fraction | Decimal | float,
) -> str:
    if kind not in ("pure", "approx", "zcdp", "rdp") or not uses:
        raise unknown()
    if all(getattr(one, "rate", 1) == 1 for one, _ in uses):  # whose neighbours are any's theorem
        uses = [(plain(one), times) for one, times in uses]
    mechanism, times = uses[0]
    several = len(uses) > 1 or isinstance(mechanism, Vector)
    if kind == "zcdp":
        rho = Verdicted(times, numbers["rho"], Fraction(0), verified, Fraction(0))
        return listed(uses, rho, None) if several else concentrated(rho, mechanism)
    room = Fraction(1) if end == INFINITY else abs(Fraction(end) - numbers["epsilon"])
    delta, total = numbers.get("delta", Fraction(0)), sum(count for _, count in uses)
    asked = Verdicted(total, numbers["epsilon"], delta, verified, room)
    if are_sampled(uses):
        return sampled(uses, asked, numbers.get("order"))
    if kind == "rdp":
        order = numbers["order"]
        return listed(uses, asked, order) if several else renyi(asked, mechanism, order)
    if are_gaussian(uses) and (several or times > 1):
        return _gaussians(uses, asked, several)
    if several:
        return _list(uses, asked)
    match mechanism:
        case Additive():
            return _additive(asked, mechanism)
        case Response():
            return _response(asked, mechanism)
        case TwoLaws():
            return _pair(asked, mechanism)
    raise unknown()


def _gaussians(uses: Uses, asked: Verdicted, several: bool) -> str:
    """By their rho, which is short, and where that is not enough tightly: of one kind of use."""
    try:
        return converted(uses, asked)
    except NotWrittenError:
        mechanism = uses[0][0]
        if several or not isinstance(mechanism, Additive) or not asked.verified or not asked.delta:
            raise
        return on_grid(asked, mechanism)


def _list(uses: Uses, asked: Verdicted) -> str:
    """Of each: uses, scale, sensitivity (0: randomized response of epsilon 1/scale)."""
    fours, points, moved, step = [], 1, Fraction(0), Fraction(0)
    for mechanism, times in uses:
        match mechanism:
            case Additive(law=DiscreteLaplace(inverted=False) as law, modulus=None) if (
                mechanism.sensitivity > 0
            ):
                scale, reach = law.scale, mechanism.sensitivity
            case Response(delta=0) if mechanism.epsilon:
                scale, reach = 1 / mechanism.epsilon, 0
            case _:
                raise unknown()
        fours += [times, *scale.as_integer_ratio(), reach]
        points *= times * max(reach, 1) + 1
        moved += times * max(reach, 1) / scale
        step = max(step, max(reach, 1) / scale)
    if asked.verified and moved <= asked.epsilon:
        return asked.write("list of uses, pure", {"W": fours})
    if points > _MOST_POINTS:
        raise NotWrittenError(f"--coq: no theorem on more than {_MOST_POINTS:,} privacy losses")
    return asked.write("list of uses", {"W": fours, **_lattice_precision(asked, points, step)})


def _lattice_precision(asked: Verdicted, points: int, step: Fraction) -> dict[str, int]:
    """An error of e^x counts as one of epsilon, times e^(2 step) where no loss is near epsilon."""
    near = bits(1 / asked.room) if asked.room else FAR_BITS
    r = near + 2 * bits(asked.epsilon) + bits(asked.times) + math.ceil(3 * step) + 10
    rare = bits(1 / asked.delta) if asked.delta else 0
    return {"r": r, "p": 2 * r + rare + math.ceil(3 * asked.epsilon / 2) + bits(points) + 16}


def _additive(asked: Verdicted, noise: Additive) -> str:
    law = noise.law
    if isinstance(law, DiscreteLaplace) and not law.inverted:
        if noise.modulus is None:
            return _laplace(asked, law.scale, noise.sensitivity)
        if asked.times == 1:
            return _reduced(asked, law.scale, noise.sensitivity, noise.modulus)
    if asked.times != 1:
        return on_grid(asked, noise)
    if noise.modulus is not None:
        raise unknown()
    if isinstance(law, DiscreteGaussian):
        return _gaussian(asked, law.sigma2, noise.sensitivity)
    if isinstance(law, Skellam):
        return _skellam(asked, law, noise.sensitivity)
    if isinstance(law, Binomial) and isinstance(law.probability, Fraction):
        return _binomial(asked, law.trials, law.probability, noise.sensitivity)
    raise unknown()


def _laplace(asked: Verdicted, scale: Fraction, moved: int) -> str:
    """Noise that is (epsilon, 0)-DP is (epsilon, delta)-DP; the lattice tells all the rest."""
    numbers = quotient("tu", scale) | {"s": moved}
    pure, once = asked.times * moved / scale <= asked.epsilon, asked.times == 1
    if asked.verified and pure:
        return asked.write(f"discrete Laplace{'' if once else ', K uses'}, pure", numbers)
    if once and not (asked.verified or pure or asked.delta):
        return asked.write("discrete Laplace, pure", numbers)
    if asked.times * moved > _LARGEST_LATTICE:
        raise NotWrittenError(f"--coq: no theorem on more than {_LARGEST_LATTICE:,} privacy losses")
    precise = _lattice_precision(asked, asked.times * moved + 1, moved / scale)
    return asked.write("discrete Laplace, K uses", numbers | precise)


def _reduced(asked: Verdicted, scale: Fraction, moved: int, modulus: int) -> str:
    """Seen mod m it costs no more than unseen: how much less has no form."""
    if not asked.verified or moved / scale > asked.epsilon:
        raise unknown()
    numbers = quotient("tu", scale) | {"s": moved, "m": modulus}
    return asked.write("discrete Laplace mod m, pure", numbers)


def _gaussian(asked: Verdicted, sigma2: Fraction, moved: int) -> str:
    """Hints: so many outcomes that the rest weighs less than the precision."""
    start = math.floor(asked.epsilon * sigma2 / moved - Fraction(moved, 2))
    far = 0 if asked.delta else math.ceil(Fraction(start * start) / sigma2)
    precision = asked.precision(far)
    half = math.isqrt(math.ceil(2 * sigma2 * precision["r"])) + moved
    if half > MOST_OUTCOMES:
        raise too_wide()
    shape = quotient("tu", sigma2) | {"s": moved, "l": max(1, half - start), "h": half}
    return asked.write("discrete Gaussian", shape | precision)


def _skellam(asked: Verdicted, law: Skellam, moved: int) -> str:
    """Hints: the weights that are not lost in the precision, and where their ratios start."""
    far = 0 if asked.delta else _bits_of_loss(law, asked.epsilon / moved, moved)
    r = asked.precision(far)["r"]
    last = last_outcome(law, r)
    width = r + bits(last) + 10
    shape = {"s": moved, "q": width, "o": far_ratio(law, last, width), "l": last} | squared(r)
    return asked.write("Skellam", quotient("tu", law.variance / 2) | shape)


def _bits_of_loss(law: Skellam, epsilon: Fraction, moved: int) -> int:
    """About -log2 p(k) where p(k - 1)/p(k) passes e^epsilon."""
    v = float(law.variance)
    if epsilon > 20 or v * math.sinh(epsilon) > _LARGEST_LATTICE:
        raise NotWrittenError(f"--coq: no theorem of outcomes above {_LARGEST_LATTICE:,}")
    return math.ceil(law.rough(v * math.sinh(epsilon) + 2 * moved) / math.log(2)) + 2 * moved


def _binomial(asked: Verdicted, trials: int, chance: Fraction, moved: int) -> str:
    if trials > MOST_OUTCOMES:
        raise NotWrittenError(f"--coq: no theorem of more than {MOST_OUTCOMES:,} trials")
    numbers = {"t": trials, **asked.precision()}
    if chance == Fraction(1, 2) and moved == 1:
        threshold = _threshold(trials, asked.epsilon)
        return asked.write("fair bits, sensitivity 1", numbers | {"m": threshold})
    return asked.write("binomial", numbers | quotient("uv", chance) | {"s": moved})


def _threshold(trials: int, epsilon: Fraction) -> int:
    """The least k with (N - k)/(k + 1) <= e^epsilon or about that: a hint."""
    context = Context(prec=80 + len(str(trials)))
    power = context.exp(context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))
    return int(context.divide(Decimal(trials + 1), context.add(power, Decimal(1))))


def _response(asked: Verdicted, one: Response) -> str:
    if one.delta:
        raise unknown()
    numbers = quotient("ef", one.epsilon)
    pure = asked.times * one.epsilon <= asked.epsilon
    if asked.verified and pure and asked.times > 1 and one.epsilon:
        return _list([(one, asked.times)], asked)  # of all bits, each chosen by the answers before
    if asked.verified == pure and (pure or not asked.delta):
        return asked.write("randomized response, pure", numbers)
    return asked.write("randomized response", numbers | asked.precision())


def _pair(asked: Verdicted, pair: TwoLaws) -> str:
    if pair.slack:
        raise NotWrittenError("--coq: no theorem of a pair that is known up to slack")
    ways = len(pair.p) ** min(asked.times, 100)
    if ways > _MOST_WAYS:
        return pair_on_grid(asked, pair)
    return asked.write("pair of tables", {**columns(pair), **asked.precision()})
