"""Index policies' own releases, against the exact law of what is decoded from them mod m."""

import numpy as np
import pytest
from scipy import stats
from small_bandits import unproved

from exactdp.bandit.algorithms import (
    DIST_CDP_KLUCB,
    DIST_DP_KLUCB_DOUBLING,
    DIST_GAUSS_KLUCB,
    DIST_RDP_KLUCB,
)
from exactdp.bandit.plan import prepare
from exactdp.bandit.setting import Setting
from exactdp.mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Skellam

P = 0.3


def total_noise(release, reach):
    """P(noise = -reach .. reach): of a sum of shares where these are added one by one."""
    users, share = release.users, release.protocol.noise
    xs = np.arange(-reach, reach + 1)
    if isinstance(share, Skellam):
        return stats.skellam(*[float(share.variance) * users / 2] * 2).pmf(xs)
    if isinstance(share, DiscreteGaussian):
        one = np.exp(-(xs**2) / (2 * float(share.sigma2)))
        one /= one.sum()
        wave = np.fft.fft(np.fft.ifftshift(one)).real ** users  # even: a real transform
        return np.maximum(np.fft.fftshift(np.fft.ifft(wave).real), 0)
    assert isinstance(release.noise, DiscreteLaplace)
    return stats.dlaplace(1 / float(release.noise.scale)).pmf(xs)


def decoded(release, q):
    """The law of one release of coins, as it is read: values and their probabilities."""
    n, g = release.users, release.precision
    reach = 40 * release.decoding.accuracy
    sums = np.zeros(n * g + 1)
    sums[::g] = stats.binom.pmf(np.arange(n + 1), n, q)
    law = np.convolve(sums, total_noise(release, reach))
    values = release.decoded(np.arange(-reach, n * g + reach + 1) % release.protocol.modulus)
    found, place = np.unique(values, return_inverse=True)
    return found, np.bincount(place, law)


@pytest.mark.quick_cases(3)
@pytest.mark.slow_cases(
    "0.1-dist-cdp-klucb",
    "0.1-dist-gauss-klucb",
    "0.6-dist-cdp-klucb",
    "0.6-dist-gauss-klucb",
    "0.95-dist-cdp-klucb",
    "0.95-dist-gauss-klucb",
)
@pytest.mark.parametrize(
    "algorithm",
    [DIST_DP_KLUCB_DOUBLING, DIST_RDP_KLUCB, DIST_CDP_KLUCB, DIST_GAUSS_KLUCB],
    ids=lambda each: each.name,
)
@pytest.mark.parametrize("q", [0.1, 0.6, 0.95])
def test_no_index_is_below_the_mean_too_often(algorithm, q):
    """After every batch with probability at most L, reading included; ever, with at most p."""
    setting = Setting(2, 150, "0.9", scaling=1, confidence=str(P), delta="0.05")
    plan = prepare(algorithm, setting, prove=unproved)
    batches, index = list(plan.batches.values()), plan.index
    assert len(batches) >= 2 and index.failure.upper <= setting.confidence
    above = float(index.failure.upper) - float(sum(index.levels))
    plain, kept, low = np.array([1.0]), np.array([1.0]), 0
    for number, batch in enumerate(batches, 1):
        values, law = decoded(batch.release, q)
        assert law.sum() == pytest.approx(1, abs=1e-9)
        assert values.tolist() == [*range(values[0], values[-1] + 1)]
        plain, kept = np.convolve(plain, law), np.convolve(kept, law)
        low += int(values[0])
        totals = np.arange(low, low + len(plain)).astype(float)
        short = index.of(np.full(len(totals), number), totals) < q
        assert plain[short].sum() <= float(index.levels[number - 1]) + above + 1e-12
        kept[short] = 0
    assert 1 - kept.sum() <= P
