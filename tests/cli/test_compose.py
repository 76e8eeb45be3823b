"""`exactdp compose`: the shape of its JSON, its exit codes, methods side by side."""

import json
from decimal import Decimal
from fractions import Fraction

import attrs
import pytest
from commands import refused
from typer.testing import CliRunner

from exactdp import Composition, Enclosure, OutOfTimeError, UndecidedError
from exactdp.accounting.losses import sums as composition
from exactdp.accounting.methods import comparison
from exactdp.accounting.methods.comparison import METHODS
from exactdp.cli.main import app, main, run

LAPLACE = "discrete-laplace:epsilon=0.5,sensitivity=1"
GAUSSIAN = "discrete-gaussian:sigma2=100"


def run_json(*arguments):
    result = CliRunner().invoke(app, ["compose", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.contract
def test_results_come_in_the_order_of_the_contract():
    shown = run_json(
        LAPLACE,
        *("--delta", "1e-6", "--epsilon", "0.2", "--order", "2", "--pure"),
        *("--order", "3/2", "--delta", "1/10"),
    )
    assert shown["mechanisms"] == [{"spec": LAPLACE, "times": 1}]
    keys = [(r["quantity"], r.get("order") or r.get("epsilon") or r.get("delta")) for r in
            shown["results"]]  # fmt: skip
    assert keys == [
        ("pure", None),
        ("renyi", "2"),
        ("renyi", "3/2"),
        ("delta", "0.2"),
        ("epsilon", "1e-6"),
        ("epsilon", "1/10"),
    ]
    for result in shown["results"]:
        assert enclosed(result).is_finite()


def enclosed(result):
    return Enclosure.from_json({end: result[end] for end in ("lower", "upper")})


@pytest.mark.contract
def test_infinity_is_written_as_inf():
    (result,) = run_json("skellam:variance=10", "--pure")["results"]
    assert (result["lower"], result["upper"]) == ("inf", "inf")


@pytest.mark.contract
def test_a_table_without_json():
    result = CliRunner().invoke(app, ["compose", LAPLACE, "--pure", "--order", "2"])
    assert result.exit_code == 0
    assert "pure ε" in result.stdout
    assert "order = 2" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.contract
@pytest.mark.slow_cases("arguments10-theorem7")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([LAPLACE], "at least one of"),
        ([f"{LAPLACE}*1000000001", "--pure"], "K"),
        ([f"{LAPLACE}*1e9", LAPLACE, "--pure"], "1000000000"),
        ([f"{LAPLACE}*x", "--pure"], "K"),
        ([f"*{LAPLACE}", "--pure"], "K"),
        (["*3", "--pure"], "mechanism"),
        ([f"{LAPLACE}*2*3", "--pure"], "sensitivity"),
        ([LAPLACE, "nonsense*3", "--pure"], "nonsense"),
        (["--from", "nowhere.json"], "--from: nowhere.json: No such file"),
        ([LAPLACE, "--pure", "--method", "gdp"], "--method"),
        ([LAPLACE, "--pure", "--compare"], "--delta"),
        (["skellam:variance=9", "--delta", "1e-6", "--method", "theorem7"], "theorem7"),
        ([f"{LAPLACE}*0", "--pure"], "K"),
        ([LAPLACE, "--order", "nan"], "order"),
        ([LAPLACE, "--epsilon", "inf"], "epsilon"),
        ([LAPLACE, "--pure", "--width", "0"], "width"),
        ([LAPLACE, "--pure", "--width", "1"], "width"),
        (["--pure"], "SPEC"),
        ([LAPLACE, "--pure", "--certainly"], "--certainly"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    refused(capsys, ["compose", *arguments], named)


# -- several uses ---------------------------------------------------------------------------------


@pytest.mark.contract
def test_several_mechanisms_are_listed_as_they_were_given():
    shown = run_json(f"{LAPLACE}*16", GAUSSIAN, f"{LAPLACE}*1e1", "--pure", "--order", "2")
    assert shown["mechanisms"] == [
        {"spec": LAPLACE, "times": 16},
        {"spec": GAUSSIAN, "times": 1},
        {"spec": LAPLACE, "times": 10},
    ]
    assert [result["quantity"] for result in shown["results"]] == ["pure", "renyi"]


@pytest.mark.contract
def test_pure_epsilons_add_up():
    (result,) = run_json(f"{LAPLACE}*16", LAPLACE, "--pure")["results"]
    assert result.pop("methods")
    assert result == {"quantity": "pure", "lower": "8.5", "upper": "8.5"}


@pytest.mark.contract
def test_one_mechanism_in_two_parts_is_one_with_all_uses():
    asked = ("--delta", "1e-6", "--epsilon", "2")
    together, apart = run_json(f"{LAPLACE}*20", *asked), run_json(f"{LAPLACE}*15", f"{LAPLACE}*5",
                                                                 *asked)  # fmt: skip
    assert together["results"] == apart["results"]


@pytest.mark.contract
def test_a_file_may_be_used_several_times(tmp_path):
    file = tmp_path / "mechanism.toml"
    file.write_text('mechanism = "discrete-laplace"\nepsilon = 0.5\n')
    shown = run_json(f"{file}*16", "--pure", "--delta", "1e-6")
    assert shown["mechanisms"] == [{"spec": str(file), "times": 16}]
    assert shown["results"] == run_json(f"{LAPLACE}*16", "--pure", "--delta", "1e-6")["results"]


@pytest.mark.contract
def test_a_billion_uses():
    (result,) = run_json("discrete-laplace:epsilon=1e-4*1000000000", "--pure")["results"]
    assert (result["lower"], result["upper"]) == ("100000", "100000")


@pytest.mark.contract
def test_a_wide_figure_says_why(capsys):
    arguments = ["compose", "skellam:variance=10*3", "--epsilon", "1", "--json"]
    assert main([*arguments, "--width", "1e-3"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert "note" not in result
    assert enclosed(result).is_within(Fraction(1, 1000))


def test_an_adversary_who_may_pick_is_named(monkeypatch):
    wide = Enclosure(Fraction(0), Fraction(1, 2))
    monkeypatch.setattr(composition, "_by_events", lambda *_: wide)
    monkeypatch.setattr(composition, "adaptive_delta", lambda *_: wide)
    spec = "binomial:trials=10,probability=0.3*2"
    (result,) = run_json(spec, "--epsilon", "1")["results"]
    assert "several pairs" in result["note"]


@pytest.mark.contract
def test_a_table_of_several_mechanisms():
    result = CliRunner().invoke(
        app, ["compose", f"{LAPLACE}*16", GAUSSIAN, "--delta", "1e-6", "--order", "2"]
    )
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[1] for line in lines if line.startswith("releases")] == ["16", "1"]


# -- methods --------------------------------------------------------------------------------------


@pytest.mark.contract
def test_a_method_leaves_pure_and_orders_alone():
    asked = ("--pure", "--order", "2")
    exact = run_json(f"{LAPLACE}*16", *asked)["results"]
    assert run_json(f"{LAPLACE}*16", *asked, "--method", "basic")["results"] == exact


def test_no_method_reports_less_than_the_exact_epsilon():
    shown = run_json(f"{LAPLACE}*16", "--delta", "1e-6", "--delta", "1e-9", "--compare")
    assert [table["delta"] for table in shown["comparison"]] == ["1e-6", "1e-9"]
    for table, result in zip(shown["comparison"], shown["results"], strict=True):
        methods = {method["method"]: method for method in table["methods"]}
        assert list(methods) == list(METHODS)
        exact = enclosed(methods["exact"])
        assert exact == enclosed(result)
        assert methods["exact"]["times_exact"] == {"lower": "1", "upper": "1"}
        for method in methods.values():
            assert method["applies"] == ("lower" in method)
            if method["applies"]:
                assert enclosed(method).at_least(exact.lower) is not False
                ratio = Enclosure.from_json(method["times_exact"])
                least = ratio.upper if method["method"] in ("rdp", "zcdp") else ratio.lower
                assert least >= Fraction(999_999, 10**6)
                assert (method["lower"] == "0") == (method["method"] in ("rdp", "zcdp"))
    assert not methods["theorem7"]["applies"]
    assert methods["theorem7"]["remark"]


@pytest.mark.contract
def test_the_comparison_has_the_exact_epsilon_first_whatever_the_method():
    shown = run_json(f"{LAPLACE}*16", "--delta", "1e-6", "--compare", "--method", "basic")
    (table,) = shown["comparison"]
    assert table["methods"][0]["method"] == "exact"
    assert enclosed(table["methods"][-1]) == enclosed(shown["results"][0])


@pytest.mark.contract
def test_an_infinite_bound_has_no_ratio():
    spec = "randomized-response:epsilon=1,delta=1e-9"
    shown = run_json(spec, "--delta", "1e-6", "--compare")
    methods = {method["method"]: method for method in shown["comparison"][0]["methods"]}
    assert (methods["rdp"]["upper"], methods["rdp"]["times_exact"]) == ("inf", None)


def test_a_method_that_is_out_of_time_is_not_said_not_to_apply(monkeypatch):
    def endless(*_):
        raise OutOfTimeError("the time allowed is over")

    slow = attrs.evolve(METHODS["rdp"], epsilon=endless)
    monkeypatch.setattr(comparison, "METHODS", {**METHODS, "rdp": slow})
    words = ["compose", f"{LAPLACE}*16", "--delta", "1e-6", "--compare"]
    result = CliRunner().invoke(app, words)
    row = next(line for line in result.stdout.splitlines() if line.startswith(" rdp"))
    assert row.split() == ["rdp", "not", "finished", "in", "time"]
    (table,) = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["comparison"]
    methods = {method["method"]: method for method in table["methods"]}
    assert methods["rdp"]["computed"] is False and "lower" not in methods["rdp"]
    assert "computed" not in methods["theorem7"] and not methods["theorem7"]["applies"]


# -- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.contract
def test_what_cannot_be_told_is_undecided(capsys, monkeypatch):
    def too_hard(*_):
        raise UndecidedError("out of reach")

    monkeypatch.setattr(Composition, "pure", too_hard)
    assert main(["compose", LAPLACE, "--pure", "--order", "2", "--json"]) == 3
    pure, renyi = json.loads(capsys.readouterr().out)["results"]
    assert (pure["upper"], pure["note"]) == ("inf", "undecided: out of reach")
    assert float(pure["lower"]) == pytest.approx(float(renyi["lower"]))  # that much it is
    assert "note" not in renyi


def test_a_crash_never_reads_as_refuted(capsys, monkeypatch):
    def broken(*_):
        raise IndexError("a defect")

    monkeypatch.setattr(Composition, "pure", broken)
    monkeypatch.setattr("sys.argv", ["exactdp", "compose", LAPLACE, "--pure"])
    monkeypatch.setattr("signal.signal", lambda *_: None)  # leave the test runner's own alone
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 70
    assert "a defect" in capsys.readouterr().err


@pytest.mark.contract
def test_json_names_the_methods_that_found_the_ends():
    shown = run_json("skellam:variance=100*20", "--delta", "1e-6", "--pure", "--order", "2")
    for result in shown["results"]:
        assert result["methods"] and all(isinstance(name, str) for name in result["methods"])
    assert set(shown["results"][-1]["methods"]) <= {"losses moved to a lattice"}


@pytest.mark.contract
def test_figures_that_were_not_reached_are_told_by_the_others(monkeypatch):
    def never(self, *_, **__):
        raise OutOfTimeError("the time allowed is over")

    for name in ("delta", "renyi", "epsilon"):
        monkeypatch.setattr(Composition, name, never)
    asked = ("--pure", "--order", "3", "--epsilon", "0", "--epsilon", "2", "--delta", "1e-6")
    results = run_json("randomized-response:epsilon=1", *asked)["results"]
    pure, order, zero, two, epsilon = ((Decimal(r["lower"]), Decimal(r["upper"])) for r in results)
    assert pure[0] <= 1 <= pure[1]
    assert order[0] <= Decimal("0.8") and Decimal("0.79") < order[1] <= pure[1]
    assert zero[1] <= 1 and two[1] < Decimal("1e-6") and epsilon[1] <= pure[1]


def test_an_infinite_epsilon_has_its_reason(capsys):
    assert main(["compose", "randomized-response:epsilon=1,delta=1e-3*10", "--delta", "1e-6"]) == 0
    assert "no ε is enough: at ε = 100 δ is still 0.00996" in capsys.readouterr().out
    assert main(["compose", "discrete-gaussian:sigma2=100", "--delta", "0"]) == 0
    assert "the privacy loss is not bounded" in capsys.readouterr().out
