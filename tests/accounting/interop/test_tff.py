"""TensorFlow Federated's arguments mean what its own code makes of them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import erfcinv

import exactdp
from exactdp import ParameterError
from exactdp.interop import UnsupportedEventError, spec_from_params, spec_from_tff
from exactdp.mechanisms import DiscreteGaussian, Skellam

TFF = {"noise_multiplier": 1.1, "expected_clients_per_round": 100, "bits": 16, "l2_clip": 0.3}
PARAMS = {
    "mechanism": "skellam", "l2_clip": 1, "bits": 16, "num_clients": 100, "beta": 0, "dim": 1000,
    "scale": 64, "local_stddev": "1/32",
}  # fmt: skip


def keys(text):
    name, _, rest = text.partition(":")
    assert name == "federated"
    return dict(part.split("=") for part in rest.split(","))


def released(text):
    (use,) = exactdp.mechanism(text).uses
    return use.mechanism


def in_floats(noise, n, bits, clip, dim, rotation="dft", modclip=1e-4):
    """(scale, local_stddev * scale) in float64, as TFF computes them."""
    dim = 2 ** math.ceil(math.log2(dim)) if rotation == "hd" else math.ceil(dim / 2) * 2
    local = noise * clip / math.sqrt(n)
    k = math.sqrt(2) * erfcinv(modclip)
    scale = math.sqrt(2.0 ** (2 * bits) - n * k**2) / (
        2 * k * math.sqrt(clip**2 * n**2 / dim + n * local**2)
    )
    scale = min(scale, 1e6)
    return scale, local * scale


@pytest.mark.contract
@pytest.mark.parametrize("rotation", ["hd", "dft"])
@pytest.mark.parametrize("n, bits, dim", [(2, 4, 1), (10, 9, 7), (100, 16, 1000), (7, 22, 3)])
@pytest.mark.parametrize("noise, clip, modclip", [(0.5, 0.1, 1e-4), (3.25, 4, 0.05)])
def test_scale_and_deviation_are_those_that_tff_derives(
    n, bits, dim, noise, clip, modclip, rotation
):
    given = {"noise_multiplier": noise, "expected_clients_per_round": n, "bits": bits}
    given |= {"l2_clip": clip, "modclip_prob": modclip, "rotation_type": rotation}
    found = keys(spec_from_tff(given, dim))
    scale, deviation = in_floats(noise, n, bits, clip, dim, rotation, modclip)
    for key, expected in (("scale", scale), ("local-stddev", deviation)):
        held = Fraction(found[key])
        assert Fraction(float(np.float32(float(held)))) == held, "a float32"
        assert abs(held / Fraction(expected) - 1) <= Fraction(1, 2**23)


@pytest.mark.contract
def test_the_largest_scale_is_tffs():
    given = TFF | {"bits": 22, "l2_clip": 1e-3, "expected_clients_per_round": 2}
    assert keys(spec_from_tff(given, 10**6))["scale"] == "1000000"


@pytest.mark.parametrize("noise", [0.3, 1.1, 6])
def test_a_discrete_gaussian_is_rounded_up(noise):
    skellam = keys(spec_from_tff(TFF | {"noise_multiplier": noise}, 50))
    given = TFF | {"noise_multiplier": noise, "mechanism": "distributed_dgauss"}
    found = released(text := spec_from_tff(given, 50))
    whole = math.ceil(Fraction(skellam["local-stddev"]))
    assert keys(text) == skellam | {
        "mechanism": "discrete-gaussian",
        "local-stddev": str(whole),
    }
    assert found.law == DiscreteGaussian(sigma2=whole**2).sum_of(100)


@pytest.mark.contract
def test_defaults_are_tffs():
    said = {
        "modclip_prob": 1e-4, "beta": 0.0, "mechanism": "distributed_skellam",
        "rotation_type": "dft", "auto_l2_clip": False, "auto_l2_target_quantile": 0.5,
        "auto_l2_lr": 0.2, "auto_l2_clip_count_stddev": None,
    }  # fmt: skip
    assert spec_from_tff(TFF | said, 1000) == spec_from_tff(TFF, 1000)


@pytest.mark.contract
def test_conditional_rounding_is_read():
    assert keys(spec_from_tff(TFF | {"beta": 0.6065}, 8))["rounding"] == "conditional:0.6065"
    assert keys(spec_from_params(PARAMS | {"beta": "1/3"}))["rounding"] == "conditional:1/3"


@pytest.mark.contract
@pytest.mark.parametrize("bits", [9, 16, 22])
def test_noise_in_units_of_the_clip_is_the_multiplier(bits):
    found = released(spec_from_tff(TFF | {"bits": bits}, 1000))
    ratio = found.law.variance / found.reach.norm**2
    assert abs(ratio / Fraction(1.1**2) - 1) < Fraction(1, 10**6)


def test_older_deviations_are_before_scaling():
    found = released(spec_from_params(PARAMS))
    assert found.law == Skellam(variance=400)
    assert spec_from_params(PARAMS | {"epsilon": 3, "delta": 1e-5, "steps": 9, "q": 1.0}) == (
        spec_from_params(PARAMS)
    )


def test_gamma_is_what_scale_divides():
    given = {key: value for key, value in PARAMS.items() if key not in ("scale", "l2_clip")}
    given |= {"gamma": "3/64", "l2_clip_norm": 1, "mechanism": "ddgauss", "local_stddev": "3/32"}
    assert spec_from_params(given) == (
        "federated:mechanism=discrete-gaussian,clip=1,scale=64/3,clients=100,local-stddev=2,"
        "dimension=1000,bits=16,rounding=stochastic"
    )
    assert released(spec_from_params(given)).law == DiscreteGaussian(sigma2=4).sum_of(100)


@pytest.mark.contract
@pytest.mark.parametrize(
    "change, named",
    [
        ({"auto_l2_clip": True}, "auto_l2_clip"),
        ({"mechanism": "gaussian"}, "mechanism"),
        ({"mechanism": ["distributed_skellam"]}, "mechanism"),
        ({"rotation_type": "dct"}, "rotation_type"),
    ],
)
def test_what_has_no_account_is_named(change, named):
    with pytest.raises(UnsupportedEventError, match=f"^{named} "):
        spec_from_tff(TFF | change, 10)


@pytest.mark.contract
@pytest.mark.parametrize(
    "change, named",
    [
        ({"l2_clip": object()}, "l2_clip"),  # an estimation process
        ({"l2_clip": 0}, "l2_clip"),
        ({"noise_multiplier": 0}, "noise_multiplier"),
        ({"noise_multiplier": math.nan}, "noise_multiplier"),
        ({"expected_clients_per_round": 1}, "expected_clients_per_round"),
        ({"expected_clients_per_round": 2.5}, "expected_clients_per_round"),
        ({"bits": 23}, "bits"),
        ({"bits": 6}, "bits"),  # 2^6 < 100
        ({"bits": 7, "expected_clients_per_round": 120, "modclip_prob": 1e-40}, "bits"),
        ({"modclip_prob": 1}, "modclip_prob"),
        ({"beta": 1}, "beta"),
        ({"zeroing": True}, "arguments"),
        ({"l2_clip": 1e300}, "scale"),
    ],
)
def test_what_tff_refuses_is_refused(change, named):
    with pytest.raises(ParameterError, match=f"^{named} "):
        spec_from_tff(TFF | change, 10)


@pytest.mark.contract
@pytest.mark.parametrize(
    "change, named",
    [
        ({"mechanism": "gaussian"}, "mechanism"),
        ({"q": 0.01}, "q"),
        ({"gamma": 1}, "arguments"),
        ({"local_stddev": 0}, "local_stddev"),
        ({"local_stddev": -1}, "local_stddev"),  # where ddgauss_params finds none
        ({"num_clients": 1}, "num_clients"),
        ({"total": 1}, "arguments"),
    ],
)
def test_older_arguments_are_checked(change, named):
    with pytest.raises(ParameterError, match=f"^{named} "):
        spec_from_params(PARAMS | change)
