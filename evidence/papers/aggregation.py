"""What is summed securely: the encoding, the modulus, what is sent, and a relaxed aggregation."""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import refine
from ...mechanisms.additive import papers
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace, PolyaDifference
from ...mechanisms.mechanism import AdditiveNoise
from .proofs import Figures, certain, prove_equal, require

_USERS, _ROUNDS, _SCALING = 1024, 10**5, Fraction(10)
_EPSILONS = tuple(
    map(Fraction, ("1/100000", "1/10000", "1/1000", "1/320", "1/100", "1/10", "1", "10"))
)
_EPSILON, _RELAXED_USERS, _RELAXED_ROUNDS = Fraction(1), 4096, 10_000
_RARE = Fraction(1, 10)  # how often the leaking message is sent when nothing is said by it
_WIDTH = Fraction(1, 10**10)


def rounding() -> None:
    """The rounding error Ber(f) - f is sub-Gaussian with variance 1/4, not only 1 (Hoeffding).

    With u = f e^x/(1 - f + f e^x) the logarithm of E e^(x Ber(f)) has the second derivative
    u (1 - u) = 1/4 - (1/2 - u)², its value and slope at 0 are 0 and f: integrate twice.
    """
    f, x = sympy.symbols("f x", positive=True)
    cumulant = sympy.log(1 - f + f * sympy.exp(x))
    u = f * sympy.exp(x) / (1 - f + f * sympy.exp(x))
    half = sympy.Rational(1, 2)
    prove_equal(sympy.diff(cumulant, x, 2), half**2 - (u - half) ** 2)
    prove_equal(cumulant.subs(x, 0), 0)
    prove_equal(sympy.diff(cumulant, x).subs(x, 0), f)
    # f = 1/2: log cosh(x/2) = x²/8 - x^4/192 + ...: no smaller variance will do
    asked = sympy.limit(2 * sympy.log(sympy.cosh(x / 2)) / x**2, x, 0)
    require(asked == half**2, f"at f = 1/2 the variance asked for near 0 is {asked}")


def modulus() -> None:
    """m = n g + 2τ + 1 is enough for the analyzer, and the least modulus that is."""
    total, tau = sympy.symbols("total tau", integer=True, nonnegative=True)
    stated = total + 2 * tau + 1
    # a sum x in [-τ, -1] is seen as x + m >= m - τ = total + τ + 1, above the analyzer's limit
    prove_equal(-tau + stated, total + tau + 1)
    # one less: -τ and total + τ are seen as the same number
    prove_equal((total + tau) - (-tau), stated - 1)
    for encoded, accuracy in ((1, 1), (4, 3), (10, 1), (3, 8)):
        m = encoded + 2 * accuracy + 1
        for x in range(-accuracy, encoded + accuracy + 1):
            seen = x % m
            decoded = seen - m if seen > encoded + accuracy else seen
            require(decoded == x, "the analyzer is wrong where the noise is within τ")


def communication() -> Figures:
    """Appendix B: m grows with epsilon where s epsilon sqrt(n) = k is whole, k = 1, 2, ...

    The cost is the bits of the modulus. There g = k, so g/epsilon = s sqrt(n), and
    tau = ceil(2 s sqrt(n) sqrt(L) + sqrt(2) L) is the same for every k, L = log(2T):
    m = n k + 2 tau + 1 rises by n from one k to the next. In between (k >= 2) g is constant and tau
    changes by at most a factor 2.
    """
    k, s, n = sympy.symbols("k s n", positive=True)
    prove_equal(k / (k / (s * sympy.sqrt(n))), s * sympy.sqrt(n))
    points, moduli = [], []
    for epsilon in _EPSILONS:
        m = papers.theorem2(epsilon, _USERS, _ROUNDS, _SCALING).mechanism.modulus or 0
        points.append({"epsilon": epsilon, "m": m, "bits": (m - 1).bit_length()})
        moduli.append(m)
    require(moduli[-3] < moduli[-2] < moduli[-1], "m does not grow with epsilon")  # 1/10, 1, 10
    return {"points": points, "n": _USERS, "s": _SCALING, "T": _ROUNDS}


def relaxed() -> Figures:
    """Theorem 3: pure DP over a relaxed SecAgg, which may leak 2 hat-epsilon = epsilon/2 by itself.

    What is left for the noise is epsilon' = epsilon/2, so that the shares need e^(-epsilon/(2g)).
    The statement's e^(-epsilon/9) may be read as it stands or as e^(-epsilon/g): both fail.
    """
    preset = papers.theorem3(_EPSILON, _RELAXED_USERS, _RELAXED_ROUNDS)
    g, m = preset.precision, preset.protocol.modulus or 0

    def cost(scale: Fraction) -> Enclosure:
        return compose(AdditiveNoise(DiscreteLaplace(scale), g, m)).pure(_WIDTH)

    printed, read = cost(9 / _EPSILON), _leak(g, m)
    for witness in (printed, read):
        require(witness.greater_than(_EPSILON), "the witness does not refute")
    mended = cost(2 * g / _EPSILON)
    require(mended.at_most(_EPSILON / 2), "the correction does not pass")
    at = {"epsilon": _EPSILON, "n": _RELAXED_USERS, "T": _RELAXED_ROUNDS, "g": g, "m": m}
    return at | {"printed": printed, "read": read, "mended": mended}


def _leak(g: int, m: int) -> Enclosure:
    """A lower bound of the loss of one (epsilon/4, 0)-relaxed SecAgg with shares e^(-epsilon/g).

    It outputs the sum mod m, and with it a bit: 1 with probability e^h q if user 1 sent g, with
    probability e^-h q otherwise; h = epsilon/4, q = 1/10. Against a simulator that sends an
    independent bit, 1 with probability q, no ratio exceeds e^h (checked here for the bit 0).
    Outcome: the bit 1 and the sum g; user 1 has the reward 1 or 0, all others 0. With the share Y
    of user 1, the noise R of the others and the total Z = Y + R,

        numerator    >= e^h q P(Y = 0) P(R = 0),
        denominator  =  e^-h q P(Z = g) + (e^h - e^-h) q P(Y = g) P(R = 0),    all mod m,

    and mod m adds at most the mass of what lies a period away.
    """
    scale, h = g / _EPSILON, _EPSILON / 4
    share = PolyaDifference(Fraction(1, _RELAXED_USERS), scale)
    others = PolyaDifference(Fraction(_RELAXED_USERS - 1, _RELAXED_USERS), scale)
    total = DiscreteLaplace(scale)

    def allowed() -> arb:
        """e^-h <= (1 - e^h q)/(1 - q), (1 - e^-h q)/(1 - q) <= e^h: the smaller of both slacks."""
        up, q = ball(h).exp(), ball(_RARE)
        return ((1 - up * q) - (1 - q) / up).min((1 - q) * up - (1 - q / up))

    require(certain(allowed), "the bit 0 says more than is allowed")

    def loss() -> arb:
        up = ball(h).exp()
        meet = share.ball(g) + 2 * share.upper_tail(m - g)
        rest = others.ball(0) + 2 * others.upper_tail(m)
        sums = total.ball(g) + 2 * total.upper_tail(m - g)
        numerator = up * share.ball(0) * others.ball(0)
        return (numerator / (sums / up + (up - 1 / up) * meet * rest)).log()

    return refine(loss, width=_WIDTH)
