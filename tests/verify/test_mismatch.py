"""Messages reduced mod m and summed otherwise: what is left of the guarantee, by brute force."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest

from exactdp import Enclosure, ParameterError
from exactdp.mechanisms import Binomial, DiscreteGaussian, DiscreteLaplace, PolyaDifference, Skellam
from exactdp.mechanisms.additive import papers
from exactdp.protocols import SumProtocol, Trust
from exactdp.verify.mismatch import mismatched_epsilon


def brute(share, users, precision, modulus, seen):
    """All datasets, all messages: P(S = s) from the definition, in mpmath."""
    wrapped = [mpmath.fsum(share(r + j * modulus) for j in range(-20, 21)) for r in range(modulus)]

    def law(data):
        found = {}
        for messages in product(range(modulus), repeat=users):
            mass = mpmath.fprod(
                wrapped[(y - x) % modulus] for y, x in zip(messages, data, strict=True)
            )
            outcome = sum(messages) if seen is None else sum(messages) % seen
            found[outcome] = found.get(outcome, 0) + mass
        return found

    laws = {data: law(data) for data in product(range(precision + 1), repeat=users)}
    worst = mpmath.mpf(0)
    for one, p in laws.items():
        for two, q in laws.items():
            if sum(a != b for a, b in zip(one, two, strict=True)) == 1:
                worst = max(worst, *(mpmath.log(p[s] / q[s]) for s in p))
    return worst


def is_near(found, truth):
    """Is the number inside, up to the rounding of the other computation?"""
    number, blur = Fraction(str(truth)), Fraction(1, 10**11)
    return Fraction(found.lower) - blur <= number <= Fraction(found.upper) + blur


def polya(shape, scale):
    r, b = mpmath.mpf(shape), mpmath.exp(-mpmath.mpf(1) / scale)

    def mass(x):
        k = abs(x)
        front = b**k * (1 - b) ** (2 * r) * mpmath.gamma(k + r) / mpmath.gamma(r)
        return front / mpmath.factorial(k) * mpmath.hyp2f1(r, r + k, k + 1, b**2)

    return mass


def skellam(variance):
    return lambda x: mpmath.exp(-variance) * mpmath.besseli(abs(x), variance)


@pytest.mark.slow_cases("polya-7")
@pytest.mark.parametrize("seen", [7, 8, 5, 14, None])
@pytest.mark.parametrize("name", ["polya", "skellam"])
def test_is_what_brute_force_finds(name, seen):
    users, modulus = 2, 7
    noise, share = {
        "polya": (PolyaDifference("1/2", 2), polya(0.5, 2)),
        "skellam": (Skellam("1.5"), skellam(mpmath.mpf("1.5"))),
    }[name]
    with mpmath.workdps(30):
        truth = brute(share, users, 1, modulus, seen)
    found = mismatched_epsilon(SumProtocol(users, 1, 2, modulus, noise), seen)
    assert found.is_within(Fraction(1, 10**12))
    assert is_near(found, truth)


def test_all_values_and_datasets_count():
    share = lambda x: mpmath.exp(-mpmath.mpf(x * x) / 4)  # noqa: E731
    with mpmath.workdps(30):
        total = mpmath.fsum(share(x) for x in range(-60, 61))
        truth = brute(lambda x: share(x) / total, 3, 2, 7, 9)
    found = mismatched_epsilon(SumProtocol(3, 2, 0, 7, DiscreteGaussian(2)), 9)
    assert is_near(found, truth)


def test_half_becomes_more_than_one():
    """Theorem 1's protocol of two users, epsilon = 0.5: m = 9, and 25 for a horizon of 100."""
    toy = papers.theorem1("0.5", 2, 2).protocol
    assert (toy.precision, toy.modulus) == (1, 9)
    for seen, figure in ((16, "1.08090"), (None, "1.12560"), (10, "0.82379")):
        found = mismatched_epsilon(toy, seen)
        assert found.greater_than(Fraction(figure)) is True and found.upper < Fraction(
            figure
        ) + Fraction(1, 10**5)
    longer = mismatched_epsilon(papers.theorem1("0.5", 2, 100).protocol)
    assert longer.greater_than(Fraction("1.13754")) and longer.less_than(Fraction("1.13755"))


def test_a_divisor_of_the_modulus_is_post_processing():
    protocol = SumProtocol(2, 1, 6, 12, PolyaDifference("1/2", 2))
    whole = mismatched_epsilon(protocol, 12)
    for part in (6, 4, 3, 2):
        assert mismatched_epsilon(protocol, part).at_most(whole.lower) is True
    assert mismatched_epsilon(protocol, 1) == Enclosure.exactly(0)


def test_what_is_too_large_or_no_mismatch_is_refused():
    with pytest.raises(ParameterError, match="small"):
        mismatched_epsilon(papers.theorem1("0.5", 1024, 10**6).protocol, 32768)
    with pytest.raises(ParameterError, match="distributed"):
        mismatched_epsilon(SumProtocol(2, 1, 2, 7, DiscreteLaplace(2), Trust.LOCAL), 8)
    with pytest.raises(ParameterError, match="modulus"):
        mismatched_epsilon(SumProtocol(2, 1, 2, None, DiscreteLaplace(2)), 8)
    with pytest.raises(ParameterError, match="aggregator_modulus"):
        mismatched_epsilon(SumProtocol(2, 1, 2, 7, DiscreteLaplace(2)), 0)
    with pytest.raises(ParameterError, match="unbounded"):
        mismatched_epsilon(SumProtocol(2, 1, 2, 7, Binomial(3, "1/2")), 8)
