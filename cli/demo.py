"""`make demo`: the paper's mechanisms and its published noise, audited in the terminal; many
uses, composed; noise, calibrated; a lemma, refuted and corrected; the bandit that all this is
for, on real ratings.

Every number on the screen is computed here and now, by the library.
"""

from __future__ import annotations

from fractions import Fraction

from rich.console import Console
from rich.text import Text

from ..accounting import pure_epsilon, renyi_curve
from ..exact import decimal_text, refine
from ..mechanisms import papers
from ..mechanisms.papers import Preset
from ..verify import PureDP, RenyiDP, audit
from ..verify.claims.registry import find
from ..verify.claims.settle import settle
from . import claims_page, demo_bandit, demo_composed, render

__all__ = ["main"]

_HORIZON = 10**6
_BATCHES = [2**k for k in range(1, 20)]  # a run doubles its batch until the horizon is reached
_BATCH = 1024
_EPSILON = "0.5"
_SCALING = 10
_ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_CLAIMED = "0.1"


def main() -> None:
    """Show the three audits, each with its figure; what many uses cost together; the bandit."""
    out = render.console()
    _theorem1(out)
    _theorem2(out)
    _published(out)
    _title(out, "Many uses of one mechanism, by three ways of accounting")
    demo_composed.repeated(out)
    _title(out, "Several mechanisms composed")
    demo_composed.mixed(out)
    _title(out, "Calibrated: the least noise, and proof that it is the least")
    demo_composed.calibrated(out)
    _title(out, "A lemma that fails, with what is true in its place")
    with render.working("checking Lemma 4"):
        settled = settle(find(["D-lem4"]))
    claims_page.show(settled)
    _title(out, "The audited bandit, on real ratings")
    demo_bandit.bandit(out)


def _theorem1(out: Console) -> None:
    _title(out, "Theorem 1: discrete Laplace noise from users' shares, released mod m")
    claim = PureDP(_EPSILON)
    headings = ("batch", "g", "m", "true ε", "below the claim by", str(claim))
    table = render.grid(*headings, right=("batch", "g", "m"))
    for batch in _BATCHES:
        preset = papers.theorem1(_EPSILON, batch, _HORIZON)
        result = audit(preset.mechanism, claim)
        table.add_row(
            str(batch),
            str(preset.precision),
            str(preset.mechanism.modulus),
            str(result.measured),
            f"at most {render.at_most(claim.epsilon - Fraction(result.measured.lower))}",
            render.verdict(result),
        )
    out.print(table)
    preset = papers.theorem1(_EPSILON, _BATCH, _HORIZON, modulus=None)
    _loss_figure(out, preset, Fraction(_EPSILON))


def _theorem2(out: Console) -> None:
    _title(out, "Theorem 2: Skellam noise from users' shares, at its Rényi curve")
    preset = papers.theorem2(_EPSILON, _BATCH, _HORIZON, _SCALING)
    bounds = [papers.theorem2_curve(_EPSILON, _SCALING, order) for order in _ORDERS]
    with render.working("Rényi curve"):
        curve = renyi_curve(preset.mechanism, _ORDERS)
        results = [
            audit(preset.mechanism, RenyiDP(order, bound))
            for order, bound in zip(_ORDERS, bounds, strict=True)
        ]
    table = render.grid("order", "true divergence", "stated", "", "", right=("order",))
    top = float(bounds[-1])
    for order, bound, value, result in zip(_ORDERS, bounds, curve, results, strict=True):
        table.add_row(
            str(order),
            str(value),
            decimal_text(bound),
            render.verdict(result),
            render.bar(out, float(value.upper) / top),
        )
    out.print(table)


def _published(out: Console) -> None:
    _title(out, "The published implementation's noise, at the ε that it claims")
    preset = papers.published(_CLAIMED, _BATCH)
    out.print(render.facts(render.evidence(audit(preset.mechanism, PureDP(_CLAIMED)))))
    _loss_figure(out, preset, Fraction(_CLAIMED))
    table = render.grid("batch", "claimed ε", "true ε", "", right=("batch",))
    batches = _BATCHES[3::3]
    truths = [pure_epsilon(papers.published(_CLAIMED, batch).mechanism) for batch in batches]
    top = max(float(truth.upper) for truth in truths)
    for batch, truth in zip(batches, truths, strict=True):
        table.add_row(str(batch), _CLAIMED, str(truth), render.bar(out, float(truth.upper) / top))
    out.print(table)


def _loss_figure(out: Console, preset: Preset, claimed: Fraction) -> None:
    """The privacy loss at each released value when one user's reward goes from 0 to g."""
    law, g = preset.mechanism.law, preset.precision
    points = sorted({round(g * k / 8) for k in range(-4, 13)})
    losses = [refine(lambda x=x: law.loss(x, g)) for x in points]  # type: ignore[misc]
    top = max(float(claimed), *(abs(float(loss.upper)) for loss in losses))
    out.print(Text(f"privacy loss of a released value (claimed: at most {decimal_text(claimed)})"))
    table = render.grid("value", "loss", f"-{top:.3g} … {top:.3g}", right=("value",))
    for x, loss in zip(points, losses, strict=True):
        table.add_row(str(x), str(loss), _two_sided(out, float(loss.upper) / top))
    out.print(table)


def _two_sided(out: Console, share: float, cells: int = 20) -> str:
    """A bar that starts in the middle."""
    length = len(render.bar(out, abs(share), cells))
    block, axis = ("#", "|") if out.options.ascii_only else ("█", "│")
    left = (block * length if share < 0 else "").rjust(cells)
    return f"{left}{axis}{block * length if share > 0 else ''}"


def _title(out: Console, text: str) -> None:
    out.rule(Text(text, style="bold"), align="left")


if __name__ == "__main__":
    main()
