"""The page of protocols: each section on small sizes, the page in docs/, the command's refusals."""

from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from pages import page, protocols
from pages.protocols import moduli, shuffled

DOCS = Path(__file__).parents[3] / "docs"


def rows(text: str) -> list[list[str]]:
    """The cells of the first table, without its heading."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    end = next((i for i, line in enumerate(lines[2:], 2) if line.count("---")), len(lines) + 1)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2 : end - 1]]


def near(cell: str, truth: mpmath.mpf) -> bool:
    return bool(abs(mpmath.mpf(cell.strip("*")) / truth - 1) < mpmath.mpf("1e-5"))


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
