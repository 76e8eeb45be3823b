"""Vectors: epsilon in any dimension beside the published bound, a client's encoder, and variates.

The rows `-published` are the bound that TensorFlow Federated computes (`--compare`, method `tff`),
by our own code for it: how much larger it is, and how long it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from case import Case

from exactdp.exact import Enclosure

SKELLAM = "skellam:variance=90000,l2=4,neighbours=add-remove"
ROUND = (
    "federated:mechanism={},clip=1,scale=64,clients=100,local-stddev={},dimension=1048576,bits=16"
)
_DELTA, _COORDINATES = Fraction(1, 10**6), 10**6


def epsilon(spec: str, times: int) -> Callable[[], Sequence[Enclosure]]:
    def compute() -> Sequence[Enclosure]:
        from exactdp.accounting import compose
        from exactdp.mechanisms.specs.spec import parse

        return [compose((parse(spec).mechanism, times)).epsilon(_DELTA, Fraction(1, 10**4))]

    return compute


def published(spec: str, times: int) -> Callable[[], Sequence[Enclosure]]:
    def compute() -> Sequence[Enclosure]:
        from exactdp.accounting import compose
        from exactdp.accounting.interop.foreign import TFF
        from exactdp.mechanisms.specs.spec import parse

        together = compose((parse(spec).mechanism, times))
        return [TFF.epsilon(together, _DELTA, Fraction(1, 10**6))]

    return compute


def encoded() -> Sequence[Enclosure]:
    """One client: clip, rotate, scale, round a million coordinates, and check the integer norm."""
    import numpy as np

    from exactdp.mechanisms.samplers import SystemBits
    from exactdp.mechanisms.specs.spec import parse
    from exactdp.protocols.federated import Settings

    settings = parse(ROUND.format("skellam", 3)).federated
    assert isinstance(settings, Settings)
    drawn = np.random.default_rng(0).standard_normal(settings.encoding.dimension)
    sent = settings.encoding.encode(drawn, bits=SystemBits())
    return [Enclosure.exactly(len(sent))]


def variates(law: str) -> Callable[[], Sequence[Enclosure]]:
    """So many exact draws for an array, from the operating system's bits."""

    def compute() -> Sequence[Enclosure]:
        from exactdp.mechanisms import AdditiveNoise
        from exactdp.mechanisms.laws.arrays import draw_array
        from exactdp.mechanisms.samplers import SystemBits
        from exactdp.mechanisms.specs.spec import parse

        mechanism = parse(law).mechanism
        assert isinstance(mechanism, AdditiveNoise)
        return [Enclosure.exactly(len(draw_array(mechanism.law, SystemBits(), _COORDINATES)))]

    return compute


_ROUND = ROUND.format("skellam", 16)

CASES = (
    Case(
        "vector-skellam",
        "ε of Skellam 90000, L2 4, 300 uses, any dimension",
        epsilon(SKELLAM, 300),
        seconds=20,
        width=1e-3,
    ),
    Case("vector-skellam-published", "the same, the published bound", published(SKELLAM, 300)),
    Case(
        "vector-round",
        "ε of a federated round, 100 × 2^20, 16 bits",
        epsilon(_ROUND, 1),
        seconds=20,
        width=0.2,
    ),
    Case("vector-round-published", "the same, the published bound", published(_ROUND, 1)),
    Case("vector-encode", "a client's 2^20 coordinates encoded", encoded, seconds=10),
    Case(
        "vector-draws-skellam",
        "10^6 exact Skellam variates",
        variates("skellam:variance=100"),
        seconds=10,
    ),
    Case(
        "vector-draws-gaussian",
        "10^6 exact discrete Gaussian variates",
        variates("discrete-gaussian:sigma2=100"),
        seconds=10,
    ),
)
