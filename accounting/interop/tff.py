"""Reading what TensorFlow Federated was told: the arguments of its distributed mechanisms.

Argument names are those of `tff.aggregators.DistributedDpSumFactory`, and those of `skellam_params`
and `ddgauss_params` in google-research/federated. Neither library is needed.

The texts are the mechanisms in exact arithmetic: what float32 does to norms, and samplers in floats
to the noise, is not in them. A randomized Hadamard transform pads to a power of two as `federated:`
does. A Fourier transform pads to an even number: vectors with zeros for the rest, so that what
`federated:` bounds from above holds for it, and its bounds from below may not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeVar

import numpy as np

from ...exact import ExactInput, ParameterError, ball, decimal_text, exact, whole, working_precision
from ...protocols.federated.encoder import fitting_scale
from .reading import UnsupportedEventError

Known = TypeVar("Known")

_NEEDED = ("noise_multiplier", "expected_clients_per_round", "bits", "l2_clip")
_DEFAULTS: dict[str, object] = {
    "modclip_prob": "1e-4",
    "beta": 0,
    "mechanism": "distributed_skellam",
    "rotation_type": "dft",
    "auto_l2_clip": False,
}
_OF_AUTO = ("auto_l2_target_quantile", "auto_l2_lr", "auto_l2_clip_count_stddev")
_MECHANISMS = {"distributed_skellam": "skellam", "distributed_dgauss": "discrete-gaussian"}
_OLDER = _MECHANISMS | {"skellam": "skellam", "ddgauss": "discrete-gaussian"}
_PADDED: dict[str, Callable[[int], int]] = {  # by the rotation's transform
    "hd": lambda size: 1 << (size - 1).bit_length(),
    "dft": lambda size: size + size % 2,
}
_LARGEST_SCALE = 10**6  # TFF's MAX_SCALE_FACTOR
_MOST_BITS = 22
_GIVEN = ("mechanism", "bits", "num_clients", "beta", "dim", "local_stddev")
_CHOOSING = ("epsilon", "delta", "steps", "k", "rho", "sqrtn_norm_growth", "orders")


def spec_from_tff(arguments: Mapping[str, object], dimension: ExactInput) -> str:
    """The `federated:` text of a `DistributedDpSumFactory` with these arguments.

    arguments: by TFF's names, with its defaults; dimension: of the clients' vectors, which TFF
    knows from their type. scale and local-stddev are what TFF derives, as the float32 that its
    state holds; TensorFlow Privacy rounds a discrete Gaussian's up to a whole number. Neighbours:
    a client's vector or zeros, all shares of noise being there; `,dropout=…` and `,poisson=…` may
    be added to the text.

    Raises UnsupportedEventError for a mechanism or rotation that is not known and for adaptive
    clipping, and ParameterError for what is missing, not known, or refused by TFF.

    >>> spec_from_tff({"noise_multiplier": 1, "expected_clients_per_round": 100, "bits": 12,
    ...     "l2_clip": 1, "mechanism": "distributed_dgauss"}, 1000)
    'federated:mechanism=discrete-gaussian,clip=1,scale=158.70782470703125,clients=100,local-stddev=16,dimension=1000,bits=12,rounding=stochastic'
    """
    _check_names(arguments, _NEEDED, (*_DEFAULTS, *_OF_AUTO))
    given = _DEFAULTS | dict(arguments)
    if given["auto_l2_clip"] is not False:
        raise UnsupportedEventError(
            "auto_l2_clip must be False: adaptive clipping releases more, which has no account here"
        )
    name = _named(given["mechanism"], "mechanism", _MECHANISMS)
    pad = _named(given["rotation_type"], "rotation_type", _PADDED)
    noise = exact(given["noise_multiplier"], "noise_multiplier", above=0)
    clients = whole(given["expected_clients_per_round"], "expected_clients_per_round", at_least=2)
    bits = whole(given["bits"], "bits", at_least=1, at_most=_MOST_BITS)
    clip = exact(given["l2_clip"], "l2_clip", above=0)
    risk = exact(given["modclip_prob"], "modclip_prob", above=0, below=1)
    size = whole(dimension, "dimension", at_least=1)
    scale, deviation = _derived(noise, clients, bits, clip, risk, pad(size))
    if name == "discrete-gaussian":
        deviation = Fraction(math.ceil(deviation))
    return _text(name, clip, scale, clients, deviation, size, bits, given["beta"])


def spec_from_params(arguments: Mapping[str, object]) -> str:
    """The `federated:` text of the arguments and results of `skellam_params` or `ddgauss_params`.

    arguments: mechanism ("skellam" or "ddgauss"), l2_clip or l2_clip_norm, bits, num_clients, beta,
    dim, scale or gamma = 1/scale, and local_stddev, which is there in units before scaling:
    local_stddev times scale is what a client adds to its integers. What only helped to choose
    scale and local_stddev (epsilon, delta, steps, k, rho, sqrtn_norm_growth, orders) changes
    nothing. q must be 1, as clients drawn without replacement are not Poisson-sampled: where each
    takes part independently, add `,poisson=…` to the text.

    Raises UnsupportedEventError for a mechanism that is not known or sampling, and ParameterError
    for what is missing, not known, or out of range.

    >>> spec_from_params({"mechanism": "skellam", "l2_clip": 1, "bits": 16, "num_clients": 100,
    ...     "beta": 0, "dim": 1000, "scale": 64, "local_stddev": "1/32"})
    'federated:mechanism=skellam,clip=1,scale=64,clients=100,local-stddev=2,dimension=1000,bits=16,rounding=stochastic'
    """
    clipped = _either(arguments, "l2_clip", "l2_clip_norm")
    scaled = _either(arguments, "scale", "gamma")
    _check_names(arguments, (*_GIVEN, clipped, scaled), (*_CHOOSING, "q"))
    if exact(arguments.get("q", 1), "q", above=0, at_most=1) != 1:
        raise UnsupportedEventError("q must be 1: how clients were sampled is not known from it")
    name = _named(arguments["mechanism"], "mechanism", _OLDER)
    clip, factor, deviation = (
        exact(arguments[key], key, above=0) for key in (clipped, scaled, "local_stddev")
    )
    scale = factor if scaled == "scale" else 1 / factor
    clients = whole(arguments["num_clients"], "num_clients", at_least=2)
    size, bits = (whole(arguments[key], key, at_least=1) for key in ("dim", "bits"))
    return _text(name, clip, scale, clients, deviation * scale, size, bits, arguments["beta"])


def _derived(
    noise: Fraction, clients: int, bits: int, clip: Fraction, risk: Fraction, padded: int
) -> tuple[Fraction, Fraction]:
    """scale and local-stddev in units of the integers, as TFF holds them.

    The scale is `fitting_scale` for 2 Q(k) = modclip_prob (`_heuristic_scale_factor`).
    """
    if clients > 1 << bits:
        raise ParameterError(f"bits must be at least log2 of {clients} clients, got {bits}")
    with working_precision(256):
        share = ball(noise * clip) ** 2 / clients
        square = 2 * ball(risk).erfcinv() ** 2
        scale = fitting_scale(bits, clients, padded, clip, share, square)
        if scale is None:
            raise ParameterError(
                f"bits must be more for {clients} clients and this modclip_prob, got {bits}"
            )
        scale = scale.min(ball(_LARGEST_SCALE))
        return _single(float(scale), "scale"), _single(float(scale * share.sqrt()), "local-stddev")


def _single(value: float, name: str) -> Fraction:
    """The nearest float32."""
    with np.errstate(over="ignore"):
        held = float(np.float32(value))
    if not 0 < held < math.inf:
        raise ParameterError(f"{name} must be a positive float32, derived was {value}")
    return Fraction(held)


def _text(
    name: str, clip: Fraction, scale: Fraction, clients: int, deviation: Fraction,
    dimension: int, bits: int, beta: object,
) -> str:  # fmt: skip
    from ...protocols.federated import Settings  # loads NumPy

    likely = exact(beta, "beta", at_least=0, below=1)
    rounding = f"conditional:{decimal_text(likely)}" if likely else "stochastic"
    text = (
        f"mechanism={name},clip={decimal_text(clip)},scale={decimal_text(scale)},clients={clients},"
        f"local-stddev={decimal_text(deviation)},dimension={dimension},bits={bits},rounding={rounding}"
    )
    Settings.read(dict(part.split("=") for part in text.split(",")))  # what has no account here
    return f"federated:{text}"


def _named(value: object, argument: str, known: Mapping[str, Known]) -> Known:
    if not isinstance(value, str) or value not in known:
        raise UnsupportedEventError(f"{argument} must be {' or '.join(known)}, got {value!r:.60}")
    return known[value]


def _either(arguments: Mapping[str, object], one: str, other: str) -> str:
    if (one in arguments) == (other in arguments):
        raise ParameterError(f"arguments must hold one of {one} and {other}")
    return one if one in arguments else other


def _check_names(
    arguments: Mapping[str, object], needed: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    if missing := [name for name in needed if name not in arguments]:
        raise ParameterError(f"arguments need {', '.join(missing)}")
    for name in arguments:
        if name not in (*needed, *allowed):
            raise ParameterError(
                f"arguments have no {name!r:.60}; they are {', '.join((*needed, *allowed))}"
            )
