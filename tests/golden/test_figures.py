"""Golden figures meet what the code answers, and are as narrow as is promised."""

import json
import re
from fractions import Fraction

import pytest
from flint import arb
from golden.reading import meet, relative_width, rows, tenth

from exactdp import Enclosure
from exactdp.accounting.losses import law
from exactdp.cli.main import main
from exactdp.losses.cells import listed_cells

ROWS = rows()
QUICK = set(tenth(ROWS))
# Combinations that no mechanism allows: a sum of discrete Gaussians is none, noise that is not
# log-concave has no vectors, and only symmetric log-concave noise has batches of a fixed size.
NONE = {"discrete-gaussian": {"users", "dropout", "collusion"}, "binomial": {"fixed-size"}}
NONE["polya-difference"] = {"fixed-size", "l2", "l1", "linf", "dimension", "rounding"}


@pytest.mark.contract
@pytest.mark.parametrize(
    "row", [pytest.param(r, marks=() if r in QUICK else pytest.mark.slow) for r in ROWS], ids=str
)
def test_the_answer_meets_the_golden_figure_and_is_as_narrow(row):
    answer, golden = row.compute(), Enclosure.from_json({"lower": row.lower, "upper": row.upper})
    assert meet(answer, golden), f"{answer} and {golden} cannot both be true"
    most = None if row.width == "inf" else Fraction(row.width)
    assert most is None or relative_width(answer) <= most, f"{answer}: wider than {row.width}"


@pytest.mark.contract
def test_every_mechanism_and_key_has_golden_figures(capsys):
    drawn = {re.sub(r"\*\d+$", "", part) for row in ROWS for part in row.releases.split(" + ")}
    assert main(["list", "--json"]) == 0
    for one in json.loads(capsys.readouterr().out)["mechanisms"]:
        of_it = [spec for spec in drawn if spec.partition(":")[0] == one["name"]]
        given = {key for spec in of_it for key in re.findall(r"[:,]([a-z0-9-]+)=", spec)}
        keys = {key["key"] for key in one["keys"]} - {"claim", *NONE.get(one["name"], ())}
        assert of_it and keys <= given, (one["name"], keys - given)
    assert len(ROWS) >= 1000


def test_one_cell_whose_tail_is_a_difference_of_floats_is_told(monkeypatch):
    name = "epsilon(1e-30) of skellam:variance=2/5*5 + laplace:scale=12*10"
    (row,) = (row for row in ROWS if str(row) == name)
    golden = Enclosure.from_json({"lower": row.lower, "upper": row.upper})

    def rounded(*asked):
        *cells, last = listed_cells(*asked)
        middle = cells[len(cells) * 3 // 4]
        return [*cells, last, middle._replace(p=arb(1.6e-9), q=arb(0))]

    assert meet(row.compute(), golden)
    monkeypatch.setattr(law, "listed_cells", rounded)
    wrong = row.compute()
    assert not meet(wrong, golden) or relative_width(wrong) > Fraction(row.width)


@pytest.mark.contract
def test_enclosures_meet_where_both_can_be_true():
    one, other, apart = (Enclosure(*map(Fraction, ends)) for ends in ((1, 2), (2, 3), (4, 5)))
    assert meet(one, other) and meet(other, one) and not meet(one, apart)
    assert meet(one, Enclosure.unknown()) and not meet(one, Enclosure.infinite())
    assert meet(Enclosure.infinite(), Enclosure.infinite())
