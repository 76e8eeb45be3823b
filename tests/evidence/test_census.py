"""The Census Bureau's configurations: which noise follows from files of their form."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from exactdp.cli.main import main
from exactdp.evidence.census import read_census

STRATEGIES = """
class One(PL94Strategy):
    @staticmethod
    def make(levels):
        made = defaultdict(dict)
        for level in levels:
            if level == "US":
                made[CC.DPQUERIES][level] = ("detailed", "total")
                made[CC.QUERIESPROP][level] = (Fr(1, 4), Fr(3, 4))
            elif level == "State":
                made[CC.QUERIESPROP][level] = (Fr(1, 2), Fr(1, 2))
            else:
                raise ValueError(level)
        return made

class Named:
    def make(self, levels):
        made = {}
        made[CC.QUERIESPROP]["US"] = (1,)
        made[CC.QUERIESPROP]["State"] = (Fr(1, 3), Fr(2, 3))
        made[CC.UNITQUERIESPROP]["State"] = (Fr(1, 7),)

class DetailedOnly:
    def make(levels):
        made.update({CC.DPQUERIES + "default": ("detailed",), CC.QUERIESPROP + "default": (1,)})

strategies = {"one": One, "named": other.Named, "detailed": DetailedOnly}
raise SystemExit("nothing of this is run")
"""
DEFAULT = "[budget]\nglobal_scale = 1/2\ndp_mechanism =discrete_gaussian_mechanism\n"
CONFIGURED = """# of one
[DEFAULT]
INCLUDE = default.ini

[geodict]
geolevel_names = State,US

[budget]
geolevel_budget_prop = 1/3, 2/3
strategy = one
"""


@pytest.fixture
def written(tmp_path):
    def write(configured=CONFIGURED, default=DEFAULT, strategies=STRATEGIES):
        place = tmp_path / "source" / "configs" / "production"
        place.mkdir(parents=True, exist_ok=True)
        (place / "default.ini").write_text(default)
        (place / "persons.ini").write_text(configured)
        (tmp_path / "strategies.py").write_text(strategies)
        return tmp_path

    return write


def noise(spec):
    """sigma2 and how often, of each use."""
    found = {}
    for each in spec:
        name, _, rest = each.partition(":sigma2=")
        sigma2, _, more = rest.partition(",")
        norms, _, times = more.partition("*")
        assert (name, norms) == ("discrete-gaussian", "l1=2,linf=1")
        found[Fraction(sigma2)] = int(times or 1)
    return found


@pytest.mark.parametrize(
    ("strategy", "shares"),
    [
        # the US has 1/3 of the budget, the states 2/3
        ("one", [(1, 3, 1, 4), (1, 3, 3, 4), (2, 3, 1, 2), (2, 3, 1, 2)]),
        ("named", [(1, 3, 1, 1), (2, 3, 1, 3), (2, 3, 2, 3)]),
        ("detailed", [(1, 3, 1, 1), (2, 3, 1, 1)]),
        ("DetailedOnly", [(1, 3, 1, 1), (2, 3, 1, 1)]),
    ],
)
def test_the_noise_of_a_strategy(strategy, shares, written):
    (row,) = read_census(written(CONFIGURED.replace("= one", f"= {strategy}")))
    wanted = {}
    for a, b, c, d in shares:
        sigma2 = Fraction(1, 4) / (Fraction(a, b) * Fraction(c, d))
        wanted[sigma2] = wanted.get(sigma2, 0) + 1
    assert noise(row.spec) == wanted
    assert (row.claim, row.id) == ("zcdp:4", "source/configs/production/persons.ini")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("strategy = one", "strategy = two"), "strategy two is not there"),
        (("1/3, 2/3", "1/3, 1/3"), "geolevel_budget_prop does not add up to 1"),
        (("State,US", ""), "do not go together"),
        (("State,US", "Tract,State,US"), "do not go together"),
        (("State,US", "Tract,US"), "shares of Tract do not add up"),
        (("[geodict]", "[budget]\nglobal_scale =\n[geodict]"), "global_scale is not published"),
        (("[budget]", "[budget]\nepsilon_budget_total = 4/1"), "of an earlier version"),
        (("[budget]", "[budget]\ndp_mechanism = geometric_mechanism"), "is geometric_mechanism"),
    ],
)
def test_what_is_not_published_is_unknown(change, told, written, capsys):
    folder = written(CONFIGURED.replace(*change))
    (row,) = read_census(folder)
    assert row.spec == () and told in row.assumed[0]
    assert main(["deployments", "--census", str(folder), "--json"]) == 0
    assert [each["verdict"] for each in json.loads(capsys.readouterr().out)] == ["UNKNOWN"]


@pytest.mark.contract
def test_its_rho_is_what_the_scale_says(written, capsys):
    assert main(["deployments", "--census", str(written()), "--json", "--time", "60"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["stated"], found["verdict"]) == ("zcdp:4", "VERIFIED")
    # the Gaussian's 4, less what discreteness hides where sigma2 is small
    assert Fraction("3.9") < Fraction(found["measured"]["upper"]) <= 4
    assert found["command"].startswith("exactdp audit discrete-gaussian:sigma2=")


@pytest.mark.contract
@pytest.mark.parametrize(
    "wrong",
    [
        {"configured": "[budget\n"},
        {"default": "global_scale = 1\n"},
        {"strategies": "class One(:\n"},
        {"strategies": "(" * 10_000},
        {"strategies": "\0"},
    ],
)
def test_files_of_another_form_are_refused_in_one_line(wrong, written, capsys):
    assert main(["deployments", "--census", str(written(**wrong))]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.contract
def test_a_folder_without_any_is_refused(tmp_path, capsys):
    assert main(["deployments", "--census", str(tmp_path)]) == 2
    assert "configs/production" in capsys.readouterr().err


def test_includes_that_go_round_end(written):
    (row,) = read_census(written(CONFIGURED.replace("default.ini", "persons.ini")))
    assert row.spec == ()


def test_the_list_of_persons_is_of_this_form():
    text = (Path(__file__).parents[2] / "docs" / "census_2020_persons.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert sum(times / sigma2 for sigma2, times in noise(lines).items()) == Fraction(542, 339) ** 2
