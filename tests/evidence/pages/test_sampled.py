"""The page of sampled training: its figures against what is known apart, and how it is written."""

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from dp_accounting import PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.dp_event import GaussianDpEvent
from dp_accounting.pld import PLDAccountant
from pages import sampled

DOCS = Path(__file__).parents[3] / "docs"


def cells(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def by_pld(rate: str, sigma: str, steps: int, delta: str, grid: float = 1e-4) -> float:
    event = PoissonSampledDpEvent(float(Fraction(rate)), GaussianDpEvent(float(sigma)))
    accountant = PLDAccountant(value_discretization_interval=grid)
    accountant.compose(SelfComposedDpEvent(event, steps))
    return float(accountant.get_epsilon(float(delta)))


@pytest.mark.slow
def test_hard_settings_have_an_answer() -> None:
    text = sampled.hard(sampled.HARD[:-1])  # the last takes long
    *small, few, many, wide = cells(text)
    for steps, row in ((10, few), (500, many)):
        assert float(row[-1]) == pytest.approx(by_pld("0.2", "1", steps, "1e-5"), rel=1e-3)
    assert float(wide[-1]) == pytest.approx(by_pld("0.125", "0.8", 1000, "1e-6"), rel=1e-3)
    for rate, _, _, _, _, epsilon in small:  # about in proportion to q
        assert float(epsilon) == pytest.approx(203.7 * float(rate), rel=0.01)
    sigma = Fraction(text.partition("σ = ")[2].split()[0])
    assert gaussian_delta(sigma) < Fraction("1e-5") < gaussian_delta(sigma - Fraction("1e-9"))


def gaussian_delta(sigma: Fraction) -> Fraction:
    """delta(0.01) of one Gaussian that nobody sampled (Balle and Wang 2018)."""
    with mpmath.workdps(40):
        noise, epsilon = mpmath.mpf(sigma.numerator) / sigma.denominator, mpmath.mpf("0.01")
        least, most = (mpmath.ncdf(s / (2 * noise) - epsilon * noise) for s in (-1, 1))
        return Fraction(str(most - mpmath.exp(epsilon) * least))


@pytest.mark.slow
def test_the_page_is_what_the_command_writes() -> None:
    assert sampled.page() == (DOCS / "sampling.md").read_text()


@pytest.mark.slow
def test_the_figure_is_the_same_each_time() -> None:
    pytest.importorskip("matplotlib")
    first, again = (sampled.svg(steps=(5, 20), points=4) for _ in range(2))
    assert first == again and first.startswith("<?xml")
