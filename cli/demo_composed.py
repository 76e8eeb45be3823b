"""The part of `make demo` about many uses: what they cost together, how much noise they need."""

from __future__ import annotations

from fractions import Fraction

from rich.console import Console
from rich.text import Text

from ..accounting import compose
from ..accounting.methods.comparison import compare
from ..exact import Enclosure, decimal_text
from ..mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, Skellam
from ..verify import ApproxDP, Family, calibrate
from . import render

__all__ = ["calibrated", "mixed", "repeated"]

_DELTA = "1e-6"
_TIMES = [4**k for k in range(7)]
_WIDTH = Fraction(1, 10**6)  # of what is shown to five digits
_LAPLACE = AdditiveNoise(DiscreteLaplace(10))  # 0.1-DP
_MIX = (
    ("discrete Laplace, ε = 0.1", _LAPLACE, 100),
    ("discrete Gaussian, σ² = 100", AdditiveNoise(DiscreteGaussian(100)), 50),
    ("Skellam, variance 100", AdditiveNoise(Skellam(100)), 20),
)
_SENSITIVITY, _USES, _TARGET = 32, 64, ApproxDP(1, _DELTA)


def repeated(out: Console) -> None:
    """One mechanism, used more and more often."""
    marks = _marks(out)
    table = render.grid("uses", "exact ε", "Rényi", "basic", "", right=("uses",))
    with render.working("composing"):
        for times in _TIMES:
            composition = compose((_LAPLACE, times))
            exact = composition.epsilon(_DELTA)
            found = [one.value for one in compare(composition, _DELTA, _WIDTH, ["rdp", "basic"])]
            bar = _stacked([_size(value) for value in (exact, *found)], marks)
            table.add_row(str(times), str(exact), *map(_rounded, found), bar)
    out.print(Text(f"discrete Laplace noise, ε = 0.1 each; ε of all uses at δ = {_DELTA}"))
    out.print(Text(f"{marks[0]} exact   {marks[1]} what Rényi adds   {marks[2]} what basic adds"))
    out.print(table)


def mixed(out: Console) -> None:
    """Several mechanisms together."""
    with render.working("composing"):
        composition = compose(*((mechanism, times) for _, mechanism, times in _MIX))
        found = compare(composition, _DELTA, _WIDTH, ["exact", "rdp", "zcdp", "basic"])
    out.print(render.facts({f"{times} ×": title for title, _, times in _MIX}))
    top = max(_size(one.value) for one in found)
    table = render.grid("together", f"ε at δ = {_DELTA}", "")
    for one in found:
        share = _size(one.value) / top
        table.add_row(one.method.title, _rounded(one.value), render.bar(out, share))
    out.print(table)


def calibrated(out: Console) -> None:
    """The least noise for a target."""
    table = render.grid("noise", "amount", "meets the target")
    families = (
        ("discrete Laplace", Family("scale", lambda s: _noise(DiscreteLaplace(s)), 1000)),
        ("discrete Gaussian", Family("sigma2", lambda s: _noise(DiscreteGaussian(s)), 1000)),
    )
    for title, family in families:
        with render.working(f"calibrating {family.parameter}"):
            found = calibrate(family, _TARGET, _USES)
        for value, outcome in ((found.value, found.verified), (found.neighbour, found.refuted)):
            table.add_row(
                title, f"{found.parameter} {decimal_text(value)}", render.verdict(outcome)
            )
    out.print(
        Text(f"{_USES} uses, each of sensitivity {_SENSITIVITY}; ε = 1 at δ = {_DELTA} for all")
    )
    out.print(table)


def _noise(law: DiscreteLaplace | DiscreteGaussian) -> AdditiveNoise:
    return AdditiveNoise(law, _SENSITIVITY)


def _marks(out: Console) -> str:
    return "#+." if out.options.ascii_only else "█▒░"


def _stacked(sizes: list[float], marks: str, cells: int = 20) -> str:
    """Exact, Rényi and basic on one bar, whose end is basic."""
    exact, renyi, basic = (round(cells * size / sizes[-1]) for size in sizes)
    return marks[0] * exact + marks[1] * (renyi - exact) + marks[2] * (basic - max(renyi, exact))


def _size(value: Enclosure | None) -> float:
    return 0.0 if value is None else float(value.upper)


def _rounded(value: Enclosure | None) -> str:
    """To five digits."""
    return "" if value is None else f"{float(value.upper):.5g}"
