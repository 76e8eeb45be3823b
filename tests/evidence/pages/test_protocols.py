"""The page of protocols: each section on small sizes, the page in docs/, the command's refusals."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from pages import missing, page, protocols
from pages.played import played
from pages.protocols import bits, moduli, shuffled

DOCS = Path(__file__).parents[3] / "docs"


def rows(text: str) -> list[list[str]]:
    """The cells of the first table, without its heading."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    end = next((i for i, line in enumerate(lines[2:], 2) if line.count("---")), len(lines) + 1)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2 : end - 1]]


def near(cell: str, truth: mpmath.mpf) -> bool:
    return bool(abs(mpmath.mpf(cell.strip("*")) / truth - 1) < mpmath.mpf("1e-5"))


def polya(shape: Fraction, scale: int, x: int) -> mpmath.mpf:
    """P(X - Y = x) up to a factor, X and Y negative binomial."""
    r, b = mpmath.mpf(shape.numerator) / shape.denominator, mpmath.exp(-mpmath.mpf(1) / scale)
    front = b**x * mpmath.rf(r, x) / mpmath.factorial(x)
    return front * mpmath.hyp2f1(r, r + x, x + 1, b**2)


@pytest.mark.slow
def test_pure_epsilon_of_those_left() -> None:
    found = rows(missing.pure("0.5", 64, 1000, ("0", "0.25", "0.75")))
    assert [row[0] for row in found] == ["0 % (0)", "25 % (16)", "75 % (48)"]
    for row, shape in zip(found, ("1", "3/4", "1/4"), strict=True):
        part = Fraction(shape)  # g = 4, scale 8: the loss is largest at 0
        assert near(row[1], mpmath.log(polya(part, 8, 0) / polya(part, 8, 4)))
        assert row[3] == "0.5"
        assert near(row[4], 1 / mpmath.mpf(float(part)))
    assert found[1][2] == "1/48"
    assert Fraction(found[1][7]) > Fraction(found[1][4])  # a larger scale costs more
    assert found[2][6:] == ["", "", ""]


def test_renyi_curves_of_those_left() -> None:
    found = rows(missing.renyi("0.5", 64, 1000, 1, ("0", "0.5"), (2,)))
    assert found[0][:2] == ["Theorem 2 allows", "0.625"]
    for row, variance in zip(found[1:], (64, 32), strict=True):  # g = 4, scale 8
        with mpmath.workdps(30):
            p = {x: mpmath.besseli(abs(x), variance) for x in range(-120, 125)}
            total = mpmath.exp(variance)
            square = mpmath.fsum(p[x] ** 2 / p[x - 4] for x in range(-100, 105)) / total
            assert near(row[1], mpmath.log(square))
    assert found[1][2] == "1" and found[2][2] == "2"


def test_what_exceeds_the_theorem_is_marked() -> None:
    found = rows(missing.renyi("0.5", 64, 1000, 10, ("0", "0.5"), (2, 4)))
    assert "**" not in "".join(found[1]) and all("**" in cell for cell in found[2][1:3])


def test_another_modulus() -> None:
    (row,) = rows(moduli("0.5", (2,), 2))
    assert row == ["2, m = 9", "0.481297", "0.823797", "1.08090", "1.12560", "1.12560"]


def test_shuffled_bits() -> None:
    (row,) = rows(shuffled("0.9", "0.1", (3,)))
    tau = 96 * mpmath.log(20) / mpmath.mpf("0.9") ** 2
    each, least = int(mpmath.ceil(tau / 3)), int(row[5])
    assert row[:2] == ["3", f"{each} fair"] and Fraction(row[2]) < Fraction("0.9")
    fair = -(-least // 3)
    assert row[6] == f"{fair} fair"
    variances = (mpmath.mpf(3 * each) / 4, mpmath.mpf(3 * fair) / 4)
    assert near(row[4], variances[0]) and near(row[7], variances[1])
    assert near(row[8], variances[0] / variances[1])


def test_more_users_than_bits_add_rare_ones() -> None:
    (row,) = rows(shuffled("0.9", "0.1", (50,)))
    chance = mpmath.mpf(row[6].removeprefix("1 of P(1) = "))
    assert 0 < chance < mpmath.mpf("0.5") and near(row[7], 50 * chance * (1 - chance))


@pytest.mark.slow
def test_bits() -> None:
    found = rows(bits("0.5", (64,), 1000, 1))
    assert [row[0] for row in found] == [f"Theorem {number}" for number in range(1, 7)]
    for row in found:
        g, tau, m, least, its = (int(row[place]) for place in (2, 3, 4, 7, 8))
        assert m == 64 * g + 2 * tau + 1 and its == 64 * g + 2 * least + 1
        assert least <= tau and int(row[10]) <= its
        assert int(row[5]) == (m - 1).bit_length() and int(row[9]) == (its - 1).bit_length()
        allowed = Fraction(1, 2000 if row[0] == "Theorem 3" else 1000)
        assert Fraction(row[6]) <= allowed


@pytest.mark.slow
def test_a_round() -> None:
    text = played("0.5", 24, 100, "0.125")
    published, larger = rows(text)
    assert (published[0], larger[0]) == ("as published", "larger shares")
    assert published[1] == larger[1]  # the same users vanish
    for row in (published, larger):
        assert Fraction(row[3]) - Fraction(row[2]) == Fraction(row[4])
    assert "simulation" in text and "KEYS" in text
    assert Fraction(larger[6]) <= Fraction("0.5") < Fraction(published[6])
    assert text == played("0.5", 24, 100, "0.125")


def test_the_page_has_its_sections_and_its_picture() -> None:
    begun: list[str] = []
    sections = {"One": lambda: "first", "Two": lambda: "second"}
    text = page.page(protocols.INTRODUCTION, sections, begun.append)
    assert begun == ["One", "Two"]
    assert "## One\n\nfirst\n\n## Two\n\nsecond\n" in text and "](protocols.svg)" in text
    assert "](" not in page.page("# A page", {})


@pytest.mark.slow
def test_docs_are_what_the_command_writes(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    text = protocols.page()
    assert (DOCS / "protocols.md").read_text() == text
    assert (DOCS / "protocols.svg").is_file()
