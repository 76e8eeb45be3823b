"""`make demo`, in the terminal: a count, released again and again; noise, calibrated; published
noise and two theorems, audited; a lemma, refuted and corrected; the bandit that all this is for,
on real ratings.

Every number on the screen is computed here and now, by the library.
"""

from __future__ import annotations

import re
from fractions import Fraction

from rich.console import Console
from rich.text import Text

from exactdp.accounting import compose
from exactdp.accounting.methods.comparison import compare
from exactdp.cli import output, parts, render
from exactdp.cli.result import Line
from exactdp.common.table import Bar, Cell, Table
from exactdp.evidence.claims import read_claims, settle
from exactdp.evidence.stated import chosen
from exactdp.exact import Enclosure, decimal_text, refine
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, Skellam
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.additive.papers import Preset
from exactdp.verify import ApproxDP, Family, PureDP, RenyiDP, audit, calibrate

from . import bandit

_HORIZON = 10**6
_BATCHES = [2**k for k in range(1, 20)]  # a run doubles its batch until the horizon is reached
_BATCH = 1024
_EPSILON = "0.5"
_SCALING = 10
_ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_CLAIMED = "0.1"
_DELTA = "1e-6"
_TIMES = [4**k for k in range(7)]
_WIDTH = Fraction(1, 10**6)  # of what is shown to five digits
_LAPLACE = AdditiveNoise(DiscreteLaplace(10))  # 0.1-DP
_MIX = (
    ("discrete Laplace, ε = 0.1", _LAPLACE, 100),
    ("discrete Gaussian, σ² = 100", AdditiveNoise(DiscreteGaussian(100)), 50),
    ("Skellam, variance 100", AdditiveNoise(Skellam(100)), 20),
)
_LEMMA = (
    "n users add discrete Gaussian noise of variance σ² each. Their sum is nearly Gaussian: the "
    "lemma says that it is as private as Gaussian noise of variance n σ², but for a term ξ/2."
)
_LETTERS = {"sigma": "σ", "epsilon": "ε", "Delta": "Δ", "xi": "ξ"}
_SENSITIVITY, _USES, _TARGET = 32, 64, ApproxDP(1, _DELTA)


def main() -> None:
    """From a count that is released again and again to the bandit, each part under its question."""
    out = render.console()
    _title(out, "A count is released every day, ε = 0.1 each time: what does it cost in all?")
    repeated(out)
    _title(out, "And different mechanisms together?")
    mixed(out)
    _title(out, "How little noise is enough? Calibrated, with proof that it is the least")
    calibrated(out)
    _title(out, "Is a published implementation as private as it says?")
    _published(out)
    _title(out, "Does a theorem hold? Theorem 1 (ICLR 2023): Laplace noise in shares, summed mod m")
    _theorem1(out)
    _title(out, "Theorem 2: Skellam noise from users' shares, at its Rényi curve")
    _theorem2(out)
    _title(out, "Is a sum of discrete Gaussians as private as a lemma says?")
    lemma(out)
    _title(out, "The audited bandit, on real ratings")
    bandit.bandit(out)


def _theorem1(out: Console) -> None:
    claim = PureDP(_EPSILON)
    headings = ("batch", "g", "m", "true ε", "below the claim by", str(claim))
    rows = []
    for batch in _BATCHES:
        preset = papers.theorem1(_EPSILON, batch, _HORIZON)
        result = audit(preset.mechanism, claim)
        rows.append(
            (
                str(batch),
                str(preset.precision),
                str(preset.mechanism.modulus),
                result.measured,
                f"at most {parts.at_most(claim.epsilon - Fraction(result.measured.lower))}",
                result.verdict.name,
            )
        )
    render.show(Table(headings, rows, right=("batch", "g", "m")), out=out)
    preset = papers.theorem1(_EPSILON, _BATCH, _HORIZON, modulus=None)
    _loss_figure(out, preset, Fraction(_EPSILON))


def _theorem2(out: Console) -> None:
    preset = papers.theorem2(_EPSILON, _BATCH, _HORIZON, _SCALING)
    bounds = [papers.theorem2_curve(_EPSILON, _SCALING, order) for order in _ORDERS]
    with output.working("Rényi curve"):
        curve = compose(preset.mechanism).renyi_curve(_ORDERS)
        results = [
            audit(preset.mechanism, RenyiDP(order, bound))
            for order, bound in zip(_ORDERS, bounds, strict=True)
        ]
    top = float(bounds[-1])
    rows = [
        (str(order), value, decimal_text(bound), result.verdict.name, Bar(float(value.upper) / top))
        for order, value, bound, result in zip(_ORDERS, curve, bounds, results, strict=True)
    ]
    columns = ("order", "true divergence", "stated", "", "")
    render.show(Table(columns, rows, right=("order",)), out=out)


def _published(out: Console) -> None:
    preset = papers.published(_CLAIMED, _BATCH)
    render.show(parts.evidence(audit(preset.mechanism, PureDP(_CLAIMED))), out=out)
    _loss_figure(out, preset, Fraction(_CLAIMED))
    batches = _BATCHES[3::3]
    truths = [compose(papers.published(_CLAIMED, batch).mechanism).pure() for batch in batches]
    top = max(float(truth.upper) for truth in truths)
    rows = [
        (str(batch), _CLAIMED, truth, Bar(float(truth.upper) / top))
        for batch, truth in zip(batches, truths, strict=True)
    ]
    render.show(Table(("batch", "claimed ε", "true ε", ""), rows, right=("batch",)), out=out)


def _loss_figure(out: Console, preset: Preset, claimed: Fraction) -> None:
    """The privacy loss at each released value when one user's reward goes from 0 to g."""
    law, g = preset.mechanism.law, preset.precision
    points = sorted({round(g * k / 8) for k in range(-4, 13)})
    losses = [refine(lambda x=x: law.loss(x, g)) for x in points]  # type: ignore[misc]
    top = max(float(claimed), *(abs(float(loss.upper)) for loss in losses))
    said = f"privacy loss of a released value (claimed: at most {decimal_text(claimed)})"
    rows = [
        (str(x), loss, _two_sided(out, float(loss.upper) / top))
        for x, loss in zip(points, losses, strict=True)
    ]
    columns = ("value", "loss", f"-{top:.3g} … {top:.3g}")
    render.show(said, Table(columns, rows, right=("value",)), out=out)


def _two_sided(out: Console, share: float, cells: int = 20) -> str:
    """A bar that starts in the middle."""
    length = len(Bar(abs(share), cells).drawn(out.options.ascii_only))
    block, axis = ("#", "|") if out.options.ascii_only else ("█", "│")
    left = (block * length if share < 0 else "").rjust(cells)
    return f"{left}{axis}{block * length if share > 0 else ''}"


def _title(out: Console, text: str) -> None:
    out.rule(Text(text, style="bold"), align="left")


def repeated(out: Console) -> None:
    """One mechanism, used more and more often."""
    marks = _marks(out)
    rows: list[tuple[Cell, ...]] = []
    with output.working("composing"):
        for times in _TIMES:
            composition = compose((_LAPLACE, times))
            exact = composition.epsilon(_DELTA)
            found = [one.value for one in compare(composition, _DELTA, _WIDTH, ["rdp", "basic"])]
            bar = _stacked([_size(value) for value in (exact, *found)], marks)
            rows.append((str(times), exact, *map(_rounded, found), bar))
    render.show(
        f"discrete Laplace noise, ε = 0.1 each; ε of all releases at δ = {_DELTA}",
        f"{marks[0]} exact   {marks[1]} what Rényi adds   {marks[2]} what basic adds",
        Table(("releases", "exact ε", "Rényi", "basic", ""), rows, right=("releases",)),
        out=out,
    )


def mixed(out: Console) -> None:
    """Several mechanisms together."""
    with output.working("composing"):
        composition = compose(*((mechanism, times) for _, mechanism, times in _MIX))
        found = compare(composition, _DELTA, _WIDTH, ["exact", "rdp", "zcdp", "basic"])
    top = max(_size(one.value) for one in found)
    rows = [(one.method.title, _rounded(one.value), Bar(_size(one.value) / top)) for one in found]
    table = Table(("together", f"ε at δ = {_DELTA}", ""), rows)
    render.show({f"{times} ×": title for title, _, times in _MIX}, table, out=out)


def calibrated(out: Console) -> None:
    """The least noise for a target."""
    rows = []
    families = (
        ("discrete Laplace", Family("scale", lambda s: _noise(DiscreteLaplace(s)), 1000)),
        ("discrete Gaussian", Family("sigma2", lambda s: _noise(DiscreteGaussian(s)), 1000)),
    )
    for title, family in families:
        with output.working(f"calibrating {family.parameter}"):
            found = calibrate(family, _TARGET, _USES)
        for value, outcome in ((found.value, found.verified), (found.neighbour, found.refuted)):
            rows.append((title, f"{found.parameter} {decimal_text(value)}", outcome.verdict.name))
    said = f"{_USES} releases, each of sensitivity {_SENSITIVITY}; ε = 1 at δ = {_DELTA} for all"
    render.show(said, Table(("noise", "amount", "meets the target"), rows), out=out)


def lemma(out: Console) -> None:
    """What Lemma 4 says, where it fails, and what is true in its place."""
    with output.working("checking Lemma 4"):
        (settled,) = settle(chosen(read_claims(), ["D-lem4"]))
    said = {"the lemma": settled.claim.statement, "source": settled.claim.source}
    if settled.evidence is not None:
        said["it"] = settled.claim.verdict
        said["true is"] = settled.claim.correction or ""
        said |= settled.evidence
    facts = (Line(_written(text), strong=f"{_written(name)}: ") for name, text in said.items())
    render.show(Line(_LEMMA), *facts, out=out)


def _written(text: str) -> str:
    """With the letters for which names stand."""
    for name, letter in _LETTERS.items():
        text = re.sub(rf"(?<![a-zA-Z]){name}(?![a-zA-Z])", letter, text)
    return text.replace("sqrt(", "√(")


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


if __name__ == "__main__":
    main()
