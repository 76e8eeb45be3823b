"""A whole round: what is decoded is the mean of those who are in the sum."""

import numpy as np
import pytest

pytest.importorskip("cryptography")

from exactdp import ParameterError
from exactdp.mechanisms import DiscreteGaussian, Skellam
from exactdp.mechanisms.samplers import SeededBits, SystemBits
from exactdp.protocols.aggregation.masked import Stage
from exactdp.protocols.federated import Encoding, run_round

VECTORS = np.random.default_rng(1).standard_normal((24, 50)) / 5  # norms about 1.4
GONE = {2: Stage.KEYS, 5: Stage.INPUT, 7: Stage.SHARES, 11: Stage.UNMASKING}


def encoding(rounding="stochastic", bits=16, scale=512):
    return Encoding(1, scale, 50, bits, rounding)


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("rounding", ["stochastic", "conditional:0.6065", "nearest"])
@pytest.mark.parametrize("share", [Skellam("0.5"), DiscreteGaussian("0.5"), None], ids=str)
@pytest.mark.parametrize("bits", [16, 19])
def test_the_mean_is_decoded_within_the_bound(rounding, share, bits):
    source = SeededBits(4)
    played = run_round(encoding(rounding, bits), share, VECTORS, bits=source, vanish=GONE)
    there = [client for client in range(24) if client not in (2, 5, 7)]
    norms = np.linalg.norm(VECTORS[there], axis=1)
    mean = (VECTORS[there] / np.maximum(norms, 1)[:, None]).mean(axis=0)
    assert played.summed == 21 and played.clipped == (norms > 1).sum()
    assert np.abs(played.truth - mean).max() < 1e-12
    assert np.linalg.norm(played.mean - mean) <= float(played.bound.l2) and played.within
    assert played.simulated and played.present["UNMASKING"] == 20


def test_masks_change_nothing_of_the_sum():
    fixed = Encoding(1, 512, 50, 16, "nearest", b"x")
    masked = run_round(fixed, None, VECTORS, bits=SeededBits(1), vanish=GONE)
    plain = run_round(fixed, None, np.delete(VECTORS, [2, 5, 7], axis=0), masks=False)
    assert np.array_equal(masked.mean, plain.mean)
    assert masked.bits > plain.bits == 16 * 64 and plain.terms is None


def test_a_seed_repeats_it_and_the_system_is_no_simulation():
    first, again = (run_round(encoding(), Skellam(1), VECTORS, bits=SeededBits(9)) for _ in "ab")
    assert np.array_equal(first.mean, again.mean)
    real = run_round(encoding(), Skellam(1), VECTORS, bits=SystemBits())
    assert not real.simulated and real.within
    assert real.encoding.seed != first.encoding.seed and len(real.encoding.seed) == 32


def test_vectors_may_be_made_when_they_are_needed():
    made = []

    def vector(client):
        made.append(client)
        return VECTORS[client]

    played = run_round(encoding(), None, vector, 24, bits=SeededBits(4), vanish=GONE)
    assert played.within and not {2, 5, 7} & set(made)


def test_a_wrapped_sum_is_no_longer_within():
    """The bound says so: at 8 bits it promises nothing, and nothing is kept."""
    played = run_round(encoding(bits=8, scale=4096), None, VECTORS, bits=SeededBits(4))
    assert played.bound.wrap.upper == 1 and not played.within


@pytest.mark.parametrize(
    ("vectors", "clients", "named"),
    [(VECTORS, 3, "vectors"), (VECTORS[0].tolist, None, "clients"), (VECTORS[:1], None, "clients")],
)
def test_arguments(vectors, clients, named):
    with pytest.raises(ParameterError, match=named):
        run_round(encoding(), None, vectors, clients, bits=SeededBits(1))
