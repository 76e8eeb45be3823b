"""The page of vectors under secure aggregation: published bounds, and what is certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

from attrs import evolve
from flint import arb

from exactdp.accounting import Composition, compose
from exactdp.accounting.divergences.gaussian_dp import largest_mu
from exactdp.accounting.interop.foreign import TFF
from exactdp.common.canvas import canvas, rendered
from exactdp.exact import Enclosure
from exactdp.exact.budget import within
from exactdp.exact.precision import START, working_precision
from exactdp.exact.roots import float_root
from exactdp.mechanisms.additive.coordinate_rounding import Stochastic
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.protocols.federated import Settings
from exactdp.protocols.federated.encoder import fitting_scale

from . import page as pages
from .page import table

_BETA = "0.60653"  # e^(-1/2), rounded down
_WIDTH = Fraction(1, 10**4)
_WORK = 2e6  # units: more of it raises lower ends, which are not shown
_ROUNDS_OF_SEARCH = 100
_LARGEST_NORM = 1e5
_LEAST_NORM = 1.0  # of a scaled vector: with less next to nothing of it is left
_MOST_VARIANCE = 9e14
_SIZE = (8.6, 3.6)


class Setting(NamedTuple):
    """A setting of the two papers' code: bits and a target, from which it finds scale and noise.

    deviations: of the aggregate, that the bits shall hold (its k). scale: where it is stated.
    """

    source: str
    mechanism: str
    clients: int
    dimension: int
    bits: int
    rounds: int
    clip: str
    target: str
    delta: str
    deviations: int
    scale: str | None = None

    def settings(self, scale: str, deviation: str) -> Settings:
        """The round, with conditional rounding as published."""
        return Settings.read(
            {
                "mechanism": self.mechanism,
                "clip": self.clip,
                "scale": scale,
                "clients": str(self.clients),
                "local-stddev": deviation,
                "dimension": str(self.dimension),
                "bits": str(self.bits),
                "rounding": f"conditional:{_BETA}",
            }
        )


def _mean_estimation() -> Iterator[Setting]:
    for clients in (100, 1000):
        for mechanism in ("discrete-gaussian", "skellam"):
            for bits in (10, 12, 14, 16):
                yield Setting(
                    "mean", mechanism, clients, 250, bits, 1, "10", "1", "1e-5", deviations=2
                )


_EMNIST = Setting("EMNIST", "skellam", 100, 1_018_174, 16, 44, "0.03", "10", "1/3400", deviations=4)
SETTINGS: Sequence[Setting] = (
    *_mean_estimation(),
    _EMNIST._replace(mechanism="discrete-gaussian"),
    _EMNIST,
    _EMNIST._replace(bits=14),
    Setting("question", "skellam", 16, 1 << 24, 16, 150, "3", "6", "0.01", 3, scale="350"),
)
_QUESTION = SETTINGS[-1]
_BITS = (12, 13, 14, 15, 16, 18, 20)
_DRAWN = Setting("mean", "skellam", 100, 250, 16, 1, "10", "1", "1e-5", deviations=2)


@lru_cache(maxsize=64)
def chosen(one: Setting) -> Settings | None:
    """Scale and noise as the published heuristic finds them; None where the bits do not suffice.

    The scale is `fitting_scale` for the noise for which the published epsilon is the target.
    """
    # from a scale at which rounding costs nothing; smaller ones ask for more noise, so they fall
    scale = _LARGEST_NORM / float(one.clip)
    for _ in range(_ROUNDS_OF_SEARCH):
        text = one.scale or f"{scale:.4g}"
        found = _deviation(one, text)
        if found is None or scale * float(one.clip) < _LEAST_NORM:
            return None
        fitting = _scale(one, found / float(text))
        if fitting is None:
            return None
        before, scale = scale, fitting
        if one.scale is not None or abs(scale - before) < 1e-4 * scale:
            break
    return one.settings(text, f"{found:.5g}")


def _scale(one: Setting, noise: float) -> float | None:
    """noise: the deviation of a client's, before scaling."""
    size = one.settings("1", "1").encoding.size
    with working_precision(START):
        square = arb(one.deviations**2)
        found = fitting_scale(
            one.bits, one.clients, size, Fraction(one.clip), arb(noise) ** 2, square
        )
    return None if found is None else float(found)


def _deviation(one: Setting, scale: str) -> float | None:
    def gap(log_deviation: float) -> float:
        told = _published(one.settings(scale, f"{math.exp(log_deviation):.12g}"), one)
        return math.log(max(float(told), 1e-300)) - math.log(float(one.target))

    high = math.log(_MOST_VARIANCE / one.clients) / 2
    return None if gap(high) > 0 else math.exp(float_root(gap, math.log(1e-2), high, 1e-9))


def _published(settings: Settings, one: Setting) -> Enclosure:
    return TFF.epsilon(_rounds(settings, one), Fraction(one.delta), Fraction(1, 10**6))


def _rounds(settings: Settings, one: Setting) -> Composition:
    return compose((settings.released(), one.rounds))


def _certified(settings: Settings, one: Setting) -> Enclosure:
    with within(_WORK):
        return _rounds(settings, one).epsilon(one.delta, _WIDTH)


def _at_random(settings: Settings) -> Settings:
    return evolve(settings, encoding=evolve(settings.encoding, rounding=Stochastic()))


def _suffices(told: Enclosure, certified: Enclosure, delta: str) -> float:
    """The share of the variance with which Gaussian noise of the one cost would have the other."""
    low, high = (float(_mu(Fraction(each.upper), Fraction(delta))) for each in (certified, told))
    return (low / high) ** 2


def _mu(epsilon: Fraction, delta: Fraction) -> Fraction:
    return Fraction(largest_mu(epsilon, delta))


def published(settings: Sequence[Setting] = SETTINGS) -> str:
    """What the papers' code accounts for, and what it costs."""
    rows = []
    for one in settings:
        made = chosen(one)
        head = [one.source, one.mechanism, f"{one.clients:,}", f"{one.dimension:,}", f"{one.bits}"]
        head.append(f"{one.rounds:,}")
        if made is None:
            rows.append([*head, *["none"] * 6])
            continue
        told, once, random = (
            _published(made, one),
            _certified(made, one),
            _certified(_at_random(made), one),
        )
        rows.append(
            [
                *head,
                f"{float(made.encoding.scale):.4g}",
                f"{float(made.deviation):.5g}",
                f"{float(told):.4g}",
                f"{float(once):.4g}",
                f"{float(random):.4g}",
                f"{_suffices(told, random, one.delta):.0%}",
            ]
        )
    columns = (
        *("setting", "noise", "clients", "dimension", "bits", "rounds", "scale", "local-stddev"),
        *("ε as published", "ε, conditional", "ε, stochastic", "variance that suffices"),
    )
    return f"""\
{table(columns, rows)}

*mean*: one mean of vectors, clip 10, δ = 1e-5, target ε = 1, two standard deviations. *EMNIST*: a
model of 1,018,174 parameters, clip 0.03, target ε = 10 at δ = 1/3400, four standard deviations,
each client in at most 44 of the 1500 rounds of 100 of 3400 clients. *question*: what a user asked,
clip 3, target ε = 6 at δ = 0.01, with the scale and (to its digits) the noise that were answered.
Scale and noise are those that the heuristic of google-research/federated finds, with β = e^(-1/2);
ε as published is its Rényi bound (Kairouz, Liu, Steinke 2021; Agarwal, Kairouz, Liu 2021), so about
the target. *Conditional*: what is certified of the same round, rounding as published. *Stochastic*:
the same round, each coordinate rounded once, at random ([rounding](rounding.md)). Both are upper
ends. The last column is the share of the noise's variance with which, rounded so, Gaussian noise
would cost the published ε."""


def few_bits(one: Setting = _QUESTION, bits: Sequence[int] = _BITS) -> str:
    """Why epsilon explodes at few bits, and when it does not."""
    rows = []
    for each in bits:
        made = chosen(one._replace(bits=each, scale=None))
        if made is None:
            rows.append([str(each), *["none"] * 4])
            continue
        told = _published(made, one)
        rows.append(
            [
                str(each),
                f"{float(made.encoding.scale):.4g}",
                f"{float(made.deviation):.5g}",
                f"{float(told):.4g}",
                f"{float(_certified(_at_random(made), one)):.4g}",
            ]
        )
    columns = ("bits", "scale", "local-stddev", "ε as published", "ε, stochastic")
    return f"""\
A user of google-research/federated asked why its noise turns senseless at 16 bits: 16 clients, 2^24
coordinates, clip 3, 150 rounds, ε = 6 at δ = 0.01.

{table(columns, rows)}

The noise that is asked for, in each of so many coordinates, must fit into 2^bits beside the sum;
fewer bits mean a smaller scale; and a vector that is scaled to a norm of less than about sqrt(d)/2
becomes longer by being rounded, as far as the published bound knows, so that it asks for more noise
in turn. Below some number of bits that has no end. Taken as the mixture that it is, rounding at
random costs next to nothing, so that the scale may be small."""


def _heights(one: Setting, bits: Sequence[int]) -> Mapping[str, list[tuple[int, float]]]:
    """Epsilon against bits at the noise that 16 of them would have, before scaling."""
    base = chosen(one)
    assert base is not None
    noise = float(base.deviation / base.encoding.scale)
    found: dict[str, list[tuple[int, float]]] = {
        name: [] for name in ("as published", "certified, conditional", "certified, stochastic")
    }
    for each in bits:
        fitting = _scale(one._replace(bits=each), noise)
        if fitting is None:
            continue
        scale = f"{fitting:.4g}"
        made = one._replace(bits=each).settings(scale, f"{noise * float(scale):.5g}")
        values = (_published(made, one), _certified(made, one), _certified(_at_random(made), one))
        for points, value in zip(found.values(), values, strict=True):
            points.append((each, float(value)))
    return found


def svg(one: Setting = _DRAWN, bits: Sequence[int] = tuple(range(8, 19))) -> str:
    """Epsilon against bits, at the same noise before scaling."""
    colours = ("#D55E00", "#009E73", "#0072B2")
    base = chosen(one)
    assert base is not None
    noise = base.deviation / base.encoding.scale
    ideal = ContinuousNoise(Shape.GAUSSIAN, noise, Fraction(one.clip), "add-remove")
    least = float(compose(evolve(ideal, scale=noise * math.isqrt(one.clients))).epsilon(one.delta))
    with canvas(_SIZE) as picture:
        axes = picture.subplots()
        for colour, (name, points) in zip(colours, _heights(one, bits).items(), strict=True):
            axes.plot(*zip(*points, strict=True), label=name, color=colour, marker=".")
        axes.axhline(least, color="#777777", linestyle=(0, (4, 2)), label="Gaussian noise, real")
        axes.set(xlabel="bits", ylabel=f"ε at δ = {one.delta}")
        axes.legend(frameon=False)
        return rendered(picture, "svg").decode()


INTRODUCTION = f"""\
# Vectors under secure aggregation

Written by `make pages`; run it again to check every figure here.

Every client clips a vector in L2, rotates and scales it, rounds it to integers, adds a share of
Skellam or discrete Gaussian noise, and sends it mod 2^bits under masks. Neighbours differ by one
client's vector, which is there or 0. What is certified does not depend on the dimension: the
[Gaussian envelope](envelope.md) bounds the noise, [rounding](rounding.md) is a mixture.

![ε against bits](vectors.svg)

ε of one mean of {_DRAWN.clients} vectors in {_DRAWN.dimension} dimensions against the bits, with
the same noise before scaling: what is published, what is certified, and real Gaussian noise without
rounding."""
SECTIONS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {"Published settings": published, "Few bits": few_bits}
)
page = partial(pages.page, INTRODUCTION, SECTIONS)
