"""What is summed securely: the encoding and the modulus, what is sent, and a relaxed aggregation.

Appendix B says that the communication cost is inverse in epsilon: the modulus says what is sent.

Theorem 3 is pure DP over a relaxed SecAgg, which may leak 2 hat-epsilon = epsilon/2 by itself. What
is left for the noise is epsilon' = epsilon/2, so that the shares need e^(-epsilon/(2g)). The
statement's e^(-epsilon/9) may be read as it stands or as e^(-epsilon/g): both fail.
"""

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
from .finding import Finding, certain, claim, corrected, fails, holds, require, shown
from .proofs import prove_equal

_SOURCE = "Chowdhury, Zhou (ICLR 2023), proof of Theorem 1"


@claim(
    "D-rounding",
    _SOURCE,
    "The rounding error of a user is sub-Gaussian with variance 1, so that |Σx̂/g - Σx| <= "
    "sqrt(2n log(2/p))/g with probability at least 1 - p.",
)
def _rounding() -> Finding:
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
    evidence = {
        "proved": "for every f in (0, 1) the error Ber(f) - f is sub-Gaussian with variance "
        "1/4 (symbolic); the paper takes 1",
        "best": "1/4 is the least: at f = 1/2 log cosh(x/2) = x²/8 - ... near 0",
        "improved": "|Σx̂/g - Σx| <= sqrt(n log(2/p)/2)/g with probability 1 - p: half of what "
        "is stated",
    }
    return holds(evidence)


@claim(
    "D-modulus",
    _SOURCE,
    "With m = ng + 2τ + 1 the analyzer returns the noisy sum wherever the noise is at most τ.",
)
def _modulus() -> Finding:
    """m = n g + 2τ + 1 is enough for the analyzer, and the least modulus that is."""
    total, tau = sympy.symbols("total tau", integer=True, nonnegative=True)
    modulus = total + 2 * tau + 1
    # a sum x in [-τ, -1] is seen as x + m >= m - τ = total + τ + 1, above the analyzer's limit
    prove_equal(-tau + modulus, total + tau + 1)
    # one less: -τ and total + τ are seen as the same number
    prove_equal((total + tau) - (-tau), modulus - 1)
    for encoded, accuracy in ((1, 1), (4, 3), (10, 1), (3, 8)):
        reach = range(-accuracy, encoded + accuracy + 1)
        stated = encoded + 2 * accuracy + 1
        right = all(decoded(x % stated, encoded, accuracy, stated) == x for x in reach)
        require(right, "the analyzer is wrong where the noise is within τ")
    evidence = {
        "proved": "sums below 0 are seen above n g + τ, all others below: for all n, g and τ "
        "(symbolic)",
        "least": "with m = n g + 2τ the sums -τ and n g + τ are seen as the same number",
    }
    return holds(evidence)


def decoded(seen: int, encoded: int, accuracy: int, modulus: int) -> int:
    """g times what the analyzer makes of the released number; encoded = n g."""
    return seen - modulus if seen > encoded + accuracy else seen


USERS, ROUNDS, SCALING = 1024, 10**5, Fraction(10)
EPSILONS = tuple(
    map(Fraction, ("1/100000", "1/10000", "1/1000", "1/320", "1/100", "1/10", "1", "10"))
)


def prove_rises() -> None:
    """Prove that m grows with epsilon where s epsilon sqrt(n) = k is whole, k = 1, 2, ...

    There g = k, so g/epsilon = s sqrt(n), and tau = ceil(2 s sqrt(n) sqrt(L) + sqrt(2) L) is the
    same for every k, L = log(2T): m = n k + 2 tau + 1 rises by n from one k to the next. In between
    (k >= 2) g is constant and tau changes by at most a factor 2.
    """
    k, s, n = sympy.symbols("k s n", positive=True)
    epsilon = k / (s * sympy.sqrt(n))
    prove_equal(k / epsilon, s * sympy.sqrt(n))


def modulus(epsilon: Fraction) -> int:
    """m of Theorem 2 at the setting of the evidence."""
    found = papers.theorem2(epsilon, USERS, ROUNDS, SCALING).mechanism.modulus
    if found is None:
        raise ArithmeticError("Theorem 2 has a modulus")
    return found


def bits(m: int) -> int:
    """ceil(log2 m): what a user sends."""
    return (m - 1).bit_length()


@claim(
    "D-appB",
    "Chowdhury, Zhou (ICLR 2023), Appendix B",
    "The communication cost of Theorem 2 is inverse with respect to epsilon",
)
def _communication() -> Finding:
    prove_rises()
    found = {epsilon: modulus(epsilon) for epsilon in EPSILONS}
    require(
        found[Fraction(1, 10)] < found[Fraction(1)] < found[Fraction(10)],
        "m does not grow with epsilon",
    )
    evidence = {
        "shown": "m rises with epsilon along all epsilon = k/(s sqrt(n)), k = 1, 2, ...: tau is "
        "the same for all of them, and g = k; the bits never fall",
        "where it is inverse": "only below epsilon = 1/(s sqrt(n)), where g = 1 cannot fall "
        "further, tau grows like 1/epsilon, and the bits like log(1/epsilon)",
        "the order log(n + s/epsilon)": "misses that g is multiplied by n: m is about "
        "s epsilon n^(3/2) + 4 s sqrt(n log(2T))",
    }
    for epsilon, m in found.items():
        name = f"epsilon = {epsilon}, n = {USERS}, s = {SCALING}, T = {ROUNDS}"
        evidence[name] = f"m = {m}, {bits(m)} bits"
    return fails(
        evidence,
        "the cost grows with epsilon for epsilon >= 1/(s sqrt(n)), and is inverse in it below",
    )


EPSILON, RELAXED_USERS, RELAXED_ROUNDS = Fraction(1), 4096, 10_000
_RARE = Fraction(1, 10)  # how often the leaking message is sent when nothing is said by it
_WIDTH = Fraction(1, 10**10)


def leak_of_relaxed(epsilon: Fraction, noise: Fraction, users: int, rounds: int) -> Enclosure:
    """A lower bound of the loss of one (epsilon/4, 0)-relaxed SecAgg with shares e^(-noise/g).

    It outputs the sum mod m, and with it a bit: 1 with probability e^h q if user 1 sent g, with
    probability e^-h q otherwise; h = epsilon/4, q = 1/10. Against a simulator that sends an
    independent bit, 1 with probability q, no ratio exceeds e^h (checked here for the bit 0).
    Outcome: the bit 1 and the sum g; user 1 has the reward 1 or 0, all others 0. With the share Y
    of user 1, the noise R of the others and the total Z = Y + R,

        numerator    >= e^h q P(Y = 0) P(R = 0),
        denominator  =  e^-h q P(Z = g) + (e^h - e^-h) q P(Y = g) P(R = 0),    all mod m,

    and mod m adds at most the mass of what lies a period away.
    """
    preset = papers.theorem3(epsilon, users, rounds)
    g, m = preset.precision, preset.protocol.modulus or 0
    share = PolyaDifference(Fraction(1, users), g / noise)
    others = PolyaDifference(Fraction(users - 1, users), g / noise)
    total = AdditiveNoise(DiscreteLaplace(g / noise), g, m)
    h = epsilon / 4

    def allowed() -> arb:
        """e^-h <= (1 - e^h q)/(1 - q), (1 - e^-h q)/(1 - q) <= e^h: the smaller of both slacks."""
        up, q = ball(h).exp(), ball(_RARE)
        return ((1 - up * q) - (1 - q) / up).min((1 - q) * up - (1 - q / up))

    require(certain(allowed), "the bit 0 says more than is allowed")

    def loss() -> arb:
        up = ball(h).exp()
        meet = share.ball(g) + 2 * share.upper_tail(m - g)
        rest = others.ball(0) + 2 * others.upper_tail(m)
        law = total.law
        sums = law.ball(g) + 2 * law.upper_tail(m - g)
        numerator = up * share.ball(0) * others.ball(0)
        return (numerator / (sums / up + (up - 1 / up) * meet * rest)).log()

    return refine(loss, width=_WIDTH)


@claim(
    "D-thm3",
    "Chowdhury, Zhou (ICLR 2023), Theorem 3",
    "With shares Pólya(1/n, e^(-epsilon/9)) and an (epsilon/4, 1/(2T))-relaxed SecAgg, Algorithm "
    "1 is (epsilon, 0)-DP",
)
def _relaxed() -> Finding:
    preset = papers.theorem3(EPSILON, RELAXED_USERS, RELAXED_ROUNDS)
    g, m = preset.precision, preset.protocol.modulus
    at = f"epsilon = {EPSILON}, n = {RELAXED_USERS}, T = {RELAXED_ROUNDS}, g = {g}, m = {m}"
    as_printed = compose(AdditiveNoise(DiscreteLaplace(9 / EPSILON), g, m)).pure(_WIDTH)
    with_g = leak_of_relaxed(EPSILON, EPSILON, RELAXED_USERS, RELAXED_ROUNDS)
    mended = compose(AdditiveNoise(DiscreteLaplace(2 * g / EPSILON), g, m)).pure(_WIDTH)
    for witness in (as_printed, with_g):
        require(witness.greater_than(EPSILON), "the witness does not refute")
    require(mended.at_most(EPSILON / 2), "the correction does not pass")
    evidence = {
        "witness at": at,
        "e^(-epsilon/9) as printed": "the noise alone costs g epsilon/9, which exceeds epsilon "
        f"for every g > 9, even with a perfect SecAgg; here exactly {shown(as_printed)}",
        "read as e^(-epsilon/g)": "the noise costs epsilon, the relaxed SecAgg 2 epsilon/4: "
        f"3 epsilon/2; one relaxed SecAgg is certain to leak at least {shown(with_g)} here",
        "corrected": "the noise costs at most epsilon/2 (Theorem 1 with epsilon/2 in place of "
        "epsilon; mod m is post-processing), the relaxed SecAgg 2 epsilon/4 by the triangle "
        f"inequality: epsilon together, for all parameters; here the noise {shown(mended)}",
    }
    return corrected(evidence, "shares Pólya(1/n, e^(-epsilon/(2g)))")
