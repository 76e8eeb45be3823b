"""The page of sampled training: what published settings cost, and what the usual methods say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from exactdp.accounting import Composition, compose
from exactdp.accounting.interop.foreign import OPACUS, PLD
from exactdp.accounting.methods.comparison import RDP, Method, compare
from exactdp.cli.parts import shown
from exactdp.common.canvas import canvas, rendered
from exactdp.exact import Enclosure
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.sampling.allocation import Allocation
from exactdp.verify import ApproxDP, calibrate
from exactdp.verify.families import choose

from . import page as pages
from .page import table


class Published(NamedTuple):
    """A setting of DP-SGD and the epsilon that is printed for it."""

    source: str
    rate: str
    sigma: str
    steps: int
    delta: str
    printed: str


_TUTORIAL = "TensorFlow Privacy, MNIST tutorial, {} epochs"
PUBLISHED = (
    Published("Abadi et al. (2016), example at Theorem 1", "0.01", "4", 10_000, "1e-5", "1.26"),
    Published("Bu et al. (2020), figure 4, 20 epochs", "256/60000", "1.3", 4_687, "1e-5", "1.34"),
    Published("Bu et al. (2020), figure 4, 70 epochs", "256/60000", "0.7", 16_406, "1e-5", "8.68"),
    Published(_TUTORIAL.format(10), "256/60000", "1.2", 2_340, "1e-5", "1.20"),
    Published(_TUTORIAL.format(30), "256/60000", "0.6", 7_020, "1e-5", "9.74"),
    Published(_TUTORIAL.format(60), "256/60000", "1.12", 14_040, "1e-5", "2.92"),
    Published("De et al. (2022), CIFAR-10 as released", "4096/50000", "10", 725, "1e-5", "1.0"),
)
_ALLOCATED = (("1", 1000, 1), ("1", 1000, 10), ("0.7", 1000, 1), ("2", 100, 1), ("2", 100, 10))
HARD: Sequence[tuple[str, str, int, str, str]] = (
    ("0.00033", "4", 10_000, "1.1e-18", "−0.044 to 0.156"),
    ("0.00033", "4", 10_000, "1.13e-18", "3.7 to 3.9"),
    ("0.00038", "4", 10_000, "1.11e-18", "from below 0"),
    ("0.00038", "4", 10_000, "1.13e-18", "3.83 to 4.03"),
    ("0.2", "1", 10, "1e-5", "an error"),
    ("0.2", "1", 500, "1e-5", "an error"),
    ("0.125", "0.8", 1000, "1e-6", "an error"),
    ("0.01", "0.05", 11, "1e-5", "an overflow"),
)
_FAINT = ("0.01", "1e-5")  # a target for which dp_accounting was reported to run out of memory
_STEPS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
_RATE, _SIGMA, _DELTA = "0.01", "1", "1e-5"
_SIZE = (8.6, 3.6)
_STYLES: Mapping[str, Mapping[str, Any]] = {
    "certified, both ends": {"color": "#0072B2", "linestyle": "-"},
    OPACUS.name: {"color": "#D55E00", "linestyle": (0, (6, 1.5))},
    PLD.name: {"color": "#009E73", "linestyle": (0, (1.5, 2.5)), "linewidth": 2.6},
}
INTRODUCTION = f"""\
# Poisson subsampling: what DP-SGD costs

Written by `make pages`; run it again to check every figure here.

Every step takes each user with probability q, independently, and adds Gaussian noise of σ times
the largest norm of one user's contribution. Neighbours differ by one user; the worse of adding and
removing counts. Digits shown are certain to within one unit of the last one.

![ε against steps, and the privacy profile](sampling.svg)

Left: ε at δ = {_DELTA} against steps at q = {_RATE}, σ = {_SIGMA}. Right: δ(ε) after 1000 steps.
Both certified bounds are drawn; they lie on each other."""

_COST = f"""\
![seconds against releases, and against 1/width](sampling_cost.svg)

Seconds of the processor to enclose ε at δ = {_DELTA}, each user taking part with probability
{_RATE}. Left: against the releases K, to a relative width of 1e-6. Right: against 1/width, of 1000
releases. Drawn by `python benchmarks/sampling_cost.py docs/sampling_cost.svg`, on a machine
with two cores; other machines take longer or less."""


def run(rate: str, sigma: str, steps: int) -> Composition:
    """So many steps of DP-SGD."""
    return compose((ContinuousNoise(Shape.GAUSSIAN, sigma, 1, "add-remove", rate), steps))


def published(settings: Sequence[Published] = PUBLISHED) -> str:
    """Settings as published: epsilon as printed there, and as it is."""
    rows = []
    for one in settings:
        true = run(one.rate, one.sigma, one.steps).epsilon(one.delta)
        ratio = float(Fraction(one.printed) / Fraction(true.upper))
        rows.append(
            [
                one.source,
                one.rate,
                one.sigma,
                f"{one.steps:,}",
                one.delta,
                one.printed,
                shown(true),
                f"{ratio:.2f}",
            ]
        )
    columns = ("source", "q", "σ", "steps", "δ", "ε as printed", "ε", "printed / true")
    return f"""\
{table(columns, rows)}

ε is for Poisson sampling at the rate that is stated or that the batch stands for. Steps are stated
or follow from the epochs: 234 whole batches each in the tutorial, 60,000/256 each in Bu et al.,
rounded down in all. Sources:
Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar and Zhang, "Deep learning with differential
privacy", CCS 2016; Bu, Dong, Long and Su, "Deep learning with Gaussian differential privacy",
HDSR 2020; the README of TensorFlow Privacy's tutorials; De, Berrada, Hayes, Smith and Balle,
"Unlocking high-accuracy differentially private image classification through scale",
arXiv:2204.13650, the configuration released with it that stops at ε = 1. What is printed comes from
moments or Rényi divergences of a few orders: a bound that holds, and more than the truth. Batches
that are shuffled, as most programs make them, are not this mechanism."""


def methods(steps: Sequence[int] = _STEPS) -> str:
    """Epsilon against steps, by what is in use."""
    rows = []
    for count in steps:
        composition = run(_RATE, _SIGMA, count)
        others = [_told(value) for value in _reported(composition, (RDP, OPACUS, PLD))]
        rows.append([f"{count:,}", shown(composition.epsilon(_DELTA)), *others])
    columns = ("steps", "ε", "Rényi, all orders", "Rényi as in Opacus", "dp_accounting PLD")
    return f"""\
q = {_RATE}, σ = {_SIGMA}, δ = {_DELTA}. All but the first are rounded up. The last column is
computed by dp_accounting in floats, on its default grid.

{table(columns, rows)}"""


def allocated(settings: Sequence[tuple[str, int, int]] = _ALLOCATED) -> str:
    """Random allocation beside the Poisson sampling that is reported for it."""
    rows = []
    for sigma, steps, epochs in settings:
        true = compose((Allocation(sigma, 1, 1, steps), epochs)).epsilon(_DELTA)
        poisson = run(f"1/{steps}", sigma, steps * epochs).epsilon(_DELTA)
        rows.append([sigma, f"{steps:,}", str(epochs), shown(true), shown(poisson)])
    columns = ("σ", "steps an epoch", "epochs", "ε, random allocation", "ε, Poisson sampling")
    return f"""\
Where every user takes part in exactly one step of each epoch, a step chosen at random
(`gaussian:sigma=1,neighbours=add-remove,allocation=1/1000*10`: one of 1000 steps, 10 epochs), that
is another mechanism than Poisson sampling at the same rate, which is what is usually reported for
it. δ = {_DELTA}; in brackets where the bounds are farther apart.

{table(columns, rows)}

Neighbours differ by one user; the worse of adding and removing counts, as above. One epoch is exact
(with little noise a bracket of a few digits); several, and lists with other mechanisms, are
composed on a lattice from both sides (`accounting/grid/average.py`); `allocation=k/t`, k > 1, is
bounded from above by k groups into which the steps are dealt, one of each, from below by the sum of
a function of every step (`accounting/grid/dealt.py`): a few percent apart with σ = 1, less with
more noise. Users are allocated independently of each other, so that batches differ in size (Feldman
and Shenfeld, "Privacy amplification by random allocation", arXiv:2502.08202; Chua et al.,
"Balls-and-bins sampling for DP-SGD", arXiv:2412.16802). Batches cut from one shuffled order all
have one size: a user then also moves the others between batches, which may cost much more (Chua et
al., "How private are DP-SGD implementations?", ICML 2024), and nothing is claimed of that here."""


def hard(settings: Sequence[tuple[str, str, int, str, str]] = HARD) -> str:
    """Settings at which other accountants were reported to fail, and epsilon there."""
    rows = [
        [rate, sigma, f"{steps:,}", delta, told, shown(run(rate, sigma, steps).epsilon(delta))]
        for rate, sigma, steps, delta, told in settings
    ]
    columns = ("q", "σ", "steps", "δ", "prv_accountant", "ε")
    least = calibrate(choose("gaussian", None, None).family, ApproxDP(*_FAINT)).value
    return f"""\
Settings at which users of prv_accountant report that it fails, with the interval that they print.

{table(columns, rows)}

The least noise of one Gaussian, nobody sampled, for ε = {_FAINT[0]} at δ = {_FAINT[1]}, a target
for which dp_accounting was reported to run out of memory: σ = {float(least):.12g} times the
sensitivity, to 1e-9."""


def cost() -> str:
    """Where the seconds are drawn, which are not the same twice."""
    return _COST


SECTIONS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "Published settings": published,
        "The usual methods": methods,
        "Hard settings": hard,
        "Random allocation": allocated,
        "What it takes": cost,
    }
)
page = partial(pages.page, INTRODUCTION, SECTIONS)


def _reported(composition: Composition, chosen: Sequence[Method]) -> list[Enclosure | None]:
    width = Fraction(1, 10**6)
    return [each.value for each in compare(composition, _DELTA, width, chosen)]


def _told(value: Enclosure | None) -> str:
    return "not installed" if value is None else f"{value:.4f}"


def svg(steps: Sequence[int] = _STEPS, points: int = 25) -> str:
    """Epsilon against steps with both bounds and the usual methods; and the profile."""
    runs = [run(_RATE, _SIGMA, count) for count in steps]
    lines = {"certified, both ends": [each.epsilon(_DELTA) for each in runs]}
    usual = [_reported(each, (OPACUS, PLD)) for each in runs]
    for index, method in enumerate((OPACUS, PLD)):
        column = [row[index] for row in usual]
        known = [value for value in column if value is not None]
        if len(known) == len(column):
            lines[method.name] = known
    profile = run(_RATE, _SIGMA, 1000).profile(points=points)
    with canvas(_SIZE, wspace=0.06) as picture:
        left, right = picture.subplots(1, 2)
        for name, values in lines.items():
            for end in ("lower", "upper"):
                label = name if end == "upper" else None
                heights = [float(getattr(value, end)) for value in values]
                left.plot(steps, heights, label=label, **_STYLES[name])
        left.set(xscale="log", yscale="log", xlabel="steps", ylabel=f"ε at δ = {_DELTA}")
        style = _STYLES["certified, both ends"]
        for end in ("lower", "upper"):
            heights = [float(getattr(delta, end)) for delta in profile.deltas]
            right.plot([float(epsilon) for epsilon in profile.epsilons], heights, **style)
        right.set(yscale="log", xlabel="ε", ylabel="δ after 1000 steps")
        left.legend(frameon=False)
        return rendered(picture, "svg").decode()
