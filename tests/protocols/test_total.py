"""The total error against brute force: every encoding, every noise; the worst data by grids."""

from collections import Counter
from fractions import Fraction

import mpmath
import pytest
from small_protocols import beyond, noise_table

from exactdp import Enclosure
from exactdp.exact import refine
from exactdp.mechanisms import DiscreteLaplace, Law, PolyaDifference, Skellam
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.additive.error import noise_quantile, off_probability
from exactdp.protocols import SumProtocol, Trust
from exactdp.protocols.rounding import NoisyRounding, RoundedUp
from exactdp.protocols.total import data_error, worst_error, worst_error_quantile

F = Fraction
SKELLAM = SumProtocol(3, 2, 4, 15, Skellam(2))
LAPLACE = SumProtocol(3, 2, 5, 12, DiscreteLaplace(1), Trust.CENTRAL)
POLYA = SumProtocol(3, 2, 4, 15, PolyaDifference(F(1, 3), 1))
PLAIN = SumProtocol(3, 2, 4, None, DiscreteLaplace(1), Trust.CENTRAL)
PROTOCOLS = [SKELLAM, LAPLACE, POLYA, PLAIN]


def error_beyond(
    protocol: SumProtocol, rewards: dict[F, int], t: F | int, missing: int = 0
) -> Enclosure:
    """P(|A - sum of rewards| > t/g): rewards with how often."""
    parts = [(divmod(protocol.precision * x, 1), count) for x, count in rewards.items()]
    base = sum(int(floor) * count for (floor, _), count in parts)
    rounded = RoundedUp(tuple((f, count) for (_, f), count in parts if f and count))
    noise, window = protocol.total_noise(missing), protocol.window
    return refine(lambda: data_error(base, rounded, noise, window, F(t)))


def contains(found: Enclosure, truth: mpmath.mpf) -> bool:
    low, high = (mpmath.mpf(str(end)) for end in found.to_json().values())
    return bool(low - mpmath.mpf("1e-14") <= truth <= high + mpmath.mpf("1e-14"))


@pytest.mark.slow_cases("rewards1-protocol0", "rewards2-protocol0")
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("rewards", [("0", "1", "1/2"), ("1/3", "1/3", "9/10"), ("1/4",) * 3])
def test_given_data_by_enumeration(protocol: SumProtocol, rewards: tuple[str, ...]) -> None:
    exact = tuple(map(F, rewards))
    table = noise_table(protocol.total_noise())
    for t in (F(0), F(1), F(5, 2), F(4), F(9)):
        truth = beyond(protocol, table, exact, t)
        assert contains(error_beyond(protocol, Counter(exact), t), truth), t


@pytest.mark.slow
@pytest.mark.parametrize("users", [200, 4096])
def test_worst_error_of_the_papers_is_narrow_and_holds_for_other_data(users: int) -> None:
    for preset in (papers.theorem1("0.5", users, 10**6), papers.theorem2("0.5", users, 10**6, 10)):
        protocol = preset.protocol
        t = noise_quantile(protocol, "1e-4")
        found = worst_error(protocol, t)
        assert F(found.upper) <= F(found.lower) * F(6, 5)
        assert found.at_least(F(off_probability(protocol, t).lower)) is True
        for rewards in ({F(1, 3): users}, {F(1, 10): users // 2, F(7, 9): users - users // 2}):
            assert F(error_beyond(protocol, rewards, t).upper) <= F(found.upper)
    quantile = worst_error_quantile(papers.theorem1("0.5", users, 10**6).protocol, "1e-4")
    assert 0 <= quantile.upper - quantile.lower <= 3


def test_worst_error_ends_with_the_window() -> None:
    assert worst_error(SKELLAM, 14) == Enclosure.exactly(0)
    assert worst_error_quantile(SKELLAM, "1e-300").upper <= 14
    # a window too small to tell sums apart: nothing is promised
    assert worst_error(SumProtocol(3, 2, 2, 3, Skellam(2)), 1).upper == 1


@pytest.mark.slow_cases("groups0-noise1", "groups1-noise1", "groups1-noise2")
@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(3), PolyaDifference(F(1, 2), 3), Skellam(4), DiscreteLaplace("0.5")]
)
@pytest.mark.parametrize("groups", [((F(1, 3), 5), (F(1, 2), 3)), ((F(1, 2), 150),)])
def test_noise_and_rounding_together(noise: Law, groups: tuple[tuple[Fraction, int], ...]) -> None:
    rounded = RoundedUp(groups)
    law = NoisyRounding(noise, rounded)
    masses = rounded.balls(0, rounded.trials)
    centre = int(rounded.mean)
    for t in (centre - 6, centre + 12) if rounded.trials < 100 else (centre + 9,):
        for found, part in (
            (law.upper_tail(t), noise.upper_tail),
            (law.lower_tail(t), noise.lower_tail),
            (law.ball(t), noise.ball),
        ):
            truth = sum(mass * part(t - b) for b, mass in enumerate(masses))
            assert found.overlaps(truth)
            assert abs(float((found / truth - 1).mid())) < 1e-10
    small = NoisyRounding(noise, RoundedUp(((F(1, 3), 2),)))
    by_hand = sum(
        w * noise.pmf(1 - b)
        for b, w in enumerate((F(4, 9), F(4, 9), F(1, 9)))
        for w in [mpmath.mpf(w.numerator) / w.denominator]
    )
    assert abs(small.pmf(1) - by_hand) < 1e-12
    assert small.moments().mean.contains(F(2, 3))
