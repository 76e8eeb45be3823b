"""Noise used K times: from a verdict to its theorem by pairs on a grid of losses. Hints, all of it:
floats choose how fine and how far the grid goes, the proof decides."""

from __future__ import annotations

import math
from fractions import Fraction

from ...exact.roots import first_met
from ..checker.binomial import Binomial
from ..checker.laws import DiscreteGaussian, Skellam
from ..checker.mechanisms import Additive, TwoLaws
from .verdicted import NotWrittenError, Verdicted, bits, columns, quotient, unknown

MOST_OUTCOMES = 100_000
_MOST_POINTS = 6_000  # of the product of all uses
_LN2 = math.log(2)


def on_grid(asked: Verdicted, noise: Additive) -> str:
    """(epsilon, delta) of Skellam or discrete Gaussian noise, or sums of fair bits, verified."""
    law, moved = noise.law, noise.sensitivity
    if not isinstance(law, Skellam | DiscreteGaussian | Binomial) or noise.modulus is not None:
        raise unknown()
    if isinstance(law, Binomial) and law.probability != Fraction(1, 2):
        raise unknown()
    if not (asked.verified and asked.delta and asked.epsilon and moved):
        raise NotWrittenError(
            "--coq: no theorem of such noise used more than once but what is verified at a delta"
        )
    far = _far(asked)
    last = last_outcome(law, far)
    if last + moved > MOST_OUTCOMES:
        raise too_wide()
    hints = _hints(asked, far, moved / math.sqrt(_variance(law)), _loss(law, last, moved))
    numbers = {"s": moved, "l": last, **hints}
    if isinstance(law, Binomial):
        return asked.write("fair bits, K uses", numbers | {"t": law.trials})
    if isinstance(law, DiscreteGaussian):
        return asked.write("discrete Gaussian, K uses", numbers | quotient("tu", law.sigma2))
    width = far + bits(last) + 10
    weights = {"q": width, "o": far_ratio(law, last, width)}
    return asked.write("Skellam, K uses", numbers | weights | quotient("tu", law.variance / 2))


def pair_on_grid(asked: Verdicted, pair: TwoLaws) -> str:
    """(epsilon, delta) of a user's own pair of laws, verified."""
    possible = asked.verified and asked.delta and asked.epsilon
    sides = zip(pair.p, pair.q, strict=True) if possible else ()
    finite = [(p, q, math.log(p / q)) for p, q in sides if p and q]
    if not finite:
        raise NotWrittenError(
            "--coq: no theorem of so many sequences of outcomes but what is verified"
        )
    one = math.sqrt(sum(float(max(p, q)) * loss**2 for p, q, loss in finite))
    hints = _hints(asked, _far(asked), one, max(abs(loss) for _, _, loss in finite))
    return asked.write("pair of tables, on a grid", {**columns(pair), **hints})


def _far(asked: Verdicted) -> int:
    """Bits of what is so rare that it does not count."""
    if not asked.room:
        raise _too_near()
    return bits(1 / asked.delta) + bits(asked.epsilon / asked.room) + bits(asked.times) + 6


def _hints(asked: Verdicted, far: int, one: float, loss: float) -> dict[str, int]:
    """Of losses of this standard deviation, at most so large unless they are infinite or rare."""
    if not one:
        raise _too_near()
    near, spread = float(asked.room / asked.epsilon), one * math.sqrt(asked.times)
    # splitting adds at most h^2/4 to the variance of each loss, and so this share to epsilon, half
    # of the room, where losses are spread; where they are few and wide, somewhat more
    share = (float(asked.epsilon) + spread**2 / 2) / float(asked.epsilon)
    step = min(1.0, one / (1 + one) * math.sqrt(4 * min(near, 0.1) / share))
    m = math.ceil(1 / math.expm1(step))
    step = math.log1p(1 / m)
    deep = math.sqrt(2 * _LN2 * far)
    sums = min(deep, spread) * deep - min(deep, spread) ** 2 / 2
    high = max(deep * spread + spread**2 / 2 + loss, float(asked.epsilon) + 4 * step)
    below, above = (math.ceil(each / step) + 2 for each in (sums + loss, high))
    if below + above > _MOST_POINTS:
        raise _too_near()
    cells = math.ceil(loss / step) + 2
    units = far + bits(below + above) + bits(asked.times)
    r = far + 2 * bits(asked.epsilon) + 2 * bits(far)
    p = max(2 * r + 16, units + 2 * math.ceil(loss / _LN2) + bits(cells) + 10)
    grid = {"m": m, "g": units, "e": cells, "f": 2 * cells, "h": below, "j": above}
    return grid | {"r": r, "p": p}


def far_ratio(law: Skellam, last: int, width: int) -> int:
    """Where ratios have to start that are known to so many bits at the last outcome."""
    # a step from k to k - 1 narrows f(k)/f(k - 1) by about its square, e^(-2 asinh(k/v))
    start, narrowed, v = last, 0.0, float(law.variance)
    while start <= MOST_OUTCOMES and narrowed < width * _LN2:
        start += 1
        narrowed += 2 * math.asinh(start / v)
    if start > MOST_OUTCOMES:
        raise too_wide()
    return start


def _variance(law: Skellam | DiscreteGaussian | Binomial) -> float:
    if isinstance(law, Binomial):
        return law.trials / 4
    return float(law.variance if isinstance(law, Skellam) else law.sigma2)


def last_outcome(law: Skellam | DiscreteGaussian | Binomial, far: int) -> int:
    """How far from the middle outcomes lie that are not lost in so many bits."""
    if isinstance(law, Binomial):
        return min((law.trials + 1) // 2, math.isqrt(math.ceil(law.trials * far * _LN2 / 2)) + 1)
    return first_met(lambda k: law.rough(k) > far * _LN2, -1, MOST_OUTCOMES)


def _loss(law: Skellam | DiscreteGaussian | Binomial, last: int, moved: int) -> float:
    """About the largest loss between outcomes so far out."""
    if isinstance(law, Binomial):
        n, most = law.trials, (law.trials + 1) // 2 + min(last, law.trials // 2)
        most = min(most, law.trials)
        return sum(math.log(k / (n - k + 1)) for k in range(max(1, most - moved + 1), most + 1))
    return law.rough(last) - law.rough(last - moved)


def _too_near() -> NotWrittenError:
    return NotWrittenError(
        "--coq: no theorem of an epsilon so near to the tightest one of so many uses"
    )


def too_wide() -> NotWrittenError:
    """What to say of noise that is too wide."""
    return NotWrittenError(f"--coq: no theorem of noise on more than {MOST_OUTCOMES:,} outcomes")
