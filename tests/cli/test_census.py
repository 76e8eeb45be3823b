"""The 2020 Census' redistricting data: the list of its noise, and what is said of it."""

import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp.cli.main import main
from exactdp.cli.options import composed, read_uses

DOCS = Path(__file__).parents[2] / "docs"
LIST = f"@{DOCS / 'census_2020_persons.txt'}"


def test_the_list_is_what_was_published():
    uses = read_uses([LIST])
    amounts = Counter()
    for spec, times in uses:
        amounts[spec.mechanism.law.sigma2] += times
    assert (len(amounts), sum(amounts.values())) == (33, 65)
    rho = Fraction(542, 339) ** 2
    assert composed(uses).zcdp().at_most(rho) is True
    assert composed(uses).zcdp().at_least(rho) is True
    assert f"{float(rho):.4f}" in (DOCS / "census.md").read_text()


def test_a_list_names_the_line_that_is_wrong(tmp_path, capsys):
    file = tmp_path / "uses.txt"
    file.write_text("# noise\n\ndiscrete-laplace:epsilon=0.1*2\nrandomized-response:epsilon=1\n")
    assert [times for _, times in read_uses([f"@{file}", "laplace:scale=2"])] == [2, 1, 1]
    file.write_text("discrete-laplace:epsilon=0.1\nnoise\n")
    assert main(["compose", f"@{file}", "--pure"]) == 2
    assert f"{file}, line 2" in capsys.readouterr().err
    file.write_text("# nothing\n")
    assert main(["compose", f"@{file}", "--pure"]) == 2
    assert "there is none in" in capsys.readouterr().err


@pytest.mark.contract
@pytest.mark.slow
def test_what_it_costs(capsys):
    assert main(["compose", LIST, "--delta", "1e-10", "--width", "1e-9", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    shown = "[16.46515535, 16.4651554]"
    assert shown in (DOCS / "census.md").read_text()
    lower, upper = (Fraction(end) for end in shown[1:-1].split(", "))
    assert lower <= Fraction(found["lower"])
    assert Fraction(found["upper"]) <= upper < Fraction("17.14")


@pytest.mark.contract
@pytest.mark.slow
def test_its_certificate_and_its_record(tmp_path, capsys):
    certificate, page, record = (tmp_path / name for name in ("c.json", "p.html", "r.yaml"))
    claim = ["--claim", "approx:16.5,1e-10"]
    asked = [*claim, "--time", "3000", "--json"]
    assert main(["audit", LIST, *asked, "--certificate", str(certificate)]) == 0
    lower = json.loads(capsys.readouterr().out)["measured"]["lower"]
    assert Fraction("16.4154") < Fraction(lower) < Fraction("16.46515536")
    measured = json.loads(certificate.read_text())["measured"]
    assert measured["lower"] == "0"  # the verdict needs the other end
    assert Fraction("16.46515539") < Fraction(measured["upper"]) < Fraction("16.5152")
    assert main(["check", str(certificate), "--expect", LIST, *claim]) == 0
    asked = ["--claim", "approx:17.14,1e-10", "--delta", "1e-10"]
    assert main(["report", LIST, *asked, "--out", str(page), "--record", str(record)]) == 0
    for file in (page, record):  # the Gaussian bound where time does not allow for the exact one
        assert re.search(r"\b16\.(465|809)", file.read_text())
