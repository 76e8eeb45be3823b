"""What no mechanism allows is refused in one line; extremes are answered, and soundly."""

import json
from decimal import Decimal
from fractions import Fraction

import brute_force
import mpmath
import oracles
import pytest
from commands import refused, said

import exactdp

REFUSED = (
    # parameters that say the same, or contradict each other
    "gaussian:sigma=1,sigma2=4",
    "gaussian:sigma=1,rho=1",
    "discrete-gaussian:sigma=1,sigma2=1",
    "laplace:scale=1,epsilon=1",
    "gaussian:sigma=1,sensitivity=2,l2=2",
    "discrete-laplace:scale=1,epsilon=1",
    "unary-encoding:p=3/4,epsilon=1",
    "noisy-max:candidates=3",
    # vectors
    "skellam:variance=4,l2=0.5",
    "skellam:variance=4,l2=2,sensitivity=2",
    "skellam:variance=4,dimension=2",
    "skellam:variance=4,l2=2,poisson=0.5",
    "binomial:trials=64,probability=1/3,fixed-size=1/10",
    "binomial:trials=10,probability=1/3,users=3",
    "polya-difference:shape=0.9,scale=10,fixed-size=1/10",
    "randomized-response:epsilon=1,fixed-size=11/10",
    "randomized-response:epsilon=1,poisson=0",
    # counts and names of keys
    "discrete-laplace:scale=1,sensitivity=3,threshold=2",
    "discrete-laplace:scale=1,threshold=5,keys=0",
    "discrete-laplace:scale=1,threshold=5.5",
    "discrete-laplace:scale=1,threshold=5,keys=2,poisson=1/2",
    "discrete-laplace:scale=1,threshold=5,modulus=64",
    "laplace:scale=1,threshold=1/2",
    "skellam:variance=9,keys=2",
    "skellam:variance=9,threshold=5,neighbours=replace",
    "skellam:variance=9,threshold=5,users=10",
    "skellam:variance=9,threshold=5,l2=3",
    "partition-selection:epsilon=1,delta=0",
    "partition-selection:epsilon=0,delta=1e-6",
    "partition-selection:epsilon=1,delta=1e-6,keys=0",
    "discrete-laplace:scale=1,threshold=5,names=maybe",
    "discrete-laplace:scale=1,names=yes",
    "discrete-laplace:scale=1,threshold=5,names=yes,poisson=1/2",
    # selection
    "exponential:epsilon=0",
    "noisy-max:scale=2,candidates=1",
    "noisy-max:scale=2,candidates=3,monotone=maybe",
    "noisy-max:candidates=10,scale=1e-9",
    "permute-and-flip:epsilon=-1",
    "sparse-vector:epsilon=1,variant=7",
    "sparse-vector:epsilon=1,share=1",
    "sparse-vector:epsilon=1,answers=0",
    # shuffled reports
    "randomized-response:epsilon=1,shuffled=0",
    "randomized-response:epsilon=1,shuffled=1e10",
    "randomized-response:epsilon=1,delta=0.1,shuffled=10",
    "randomized-response:epsilon=1,shuffled=10,neighbours=add-remove",
    "randomized-response:epsilon=1,shuffled=10,neighbours=add-remove,poisson=1/2",
    "rappor:f=1/2,p=3/4,q=1/2,reports=2,shuffled=10",
    "discrete-laplace:scale=1,shuffled=10",
    "rappor:f=1/2,hashes=2,shuffled=10",
    "unary-encoding:epsilon=1,bits-differ=4,shuffled=10",
    # guarantees
    *(f"guarantee:{claim}" for claim in (
        "", "zcdp", "zcdp:", "zcdp:-1", "zcdp:nan", "zcdp:1,2", "rdp:1,1", "rdp:2", "approx:1",
        "approx:1,2", "foo:1", "zcdp:1,neighbours=none", "zcdp:1,claim=pure:1", "zcdp:1e9",
        "gdp:-1", "zcdp:1,neighbours=add-remove,poisson=1/2")),
    # random allocation
    "gaussian:sigma=1,allocation=1/10",
    "gaussian:sigma=1,neighbours=add-remove,poisson=0.1,allocation=1/10",
    "gaussian:sigma=1,neighbours=add-remove,allocation=10",
    "gaussian:sigma=1,neighbours=add-remove,allocation=11/10",
    "gaussian:sigma=1,neighbours=add-remove,allocation=0/10",
    "gaussian:sigma=1,neighbours=add-remove,allocation=1/2.5",
    "laplace:scale=1,neighbours=add-remove,allocation=1/10",
    "skellam:variance=1,neighbours=add-remove,allocation=1/10",
)  # fmt: skip


@pytest.mark.contract
def test_what_no_mechanism_allows_is_refused(capsys):
    for spec in REFUSED:
        refused(capsys, ["compose", spec, "--epsilon", "1"], "")


@pytest.mark.contract
def test_lists_of_different_neighbours_are_refused(capsys):
    for other in ("gaussian:sigma=1,neighbours=add-remove", "discrete-laplace:scale=1,threshold=5"):
        words = ["compose", "skellam:variance=4", other, "--epsilon", "1"]
        refused(capsys, words, "neighbours")


@pytest.mark.contract
@pytest.mark.parametrize("option", ["--delta=2", "--delta=-1", "--order=1", "--order=0.5",
                                    "--order=inf", "--order=-2", "--epsilon=-1"])  # fmt: skip
def test_what_is_no_figure_is_refused(option, capsys):
    refused(capsys, ["compose", "skellam:variance=1", option], "")


@pytest.mark.contract
@pytest.mark.parametrize("epsilon", ["50", "60", "1e6", "1e15"])
@pytest.mark.parametrize("spec", ["skellam:variance=9", "gaussian:sigma=3"])
def test_delta_is_small_however_large_epsilon_is(spec, epsilon):
    """Beyond what a decimal's exponent holds as well."""
    found = exactdp.compose(spec).delta(epsilon)
    assert 0 <= found.lower <= found.upper < Decimal("1e-100")


@pytest.mark.contract
def test_rho_of_more_outcomes_than_are_listed_is_bounded_as_if_nobody_was_sampled():
    spec = "skellam:variance=1e14,sensitivity=1e5,neighbours=add-remove,poisson=1/100"
    assert 0 <= exactdp.compose(spec).zcdp().upper < Decimal("5.0001e-5")


@pytest.mark.contract
def test_sums_of_two_discrete_gaussians_are_known_to_many_digits():
    """Far beyond where they are told from one of twice the variance, by 1e-22."""
    table = oracles.convolution(oracles.discrete_gaussian(5), 2, 60)
    pair = brute_force.shifted(lambda x: table.get(x, mpmath.mpf(0)), 1, 58)
    truth = oracles.exactly(brute_force.delta(pair, mpmath.mpf(1) / 4))
    mechanism = exactdp.mechanism("discrete-gaussian-sum:count=2,sigma2=5")
    found, slack = mechanism.delta("1/4", Fraction(1, 10**30)), Fraction(1, 10**32)
    assert found.is_within(Fraction(1, 10**29))
    assert found.lower <= truth + slack and found.upper >= truth - slack


@pytest.mark.contract
def test_what_no_delta_of_0_allows_is_infinite():
    for spec in (
        "discrete-gaussian:sigma2=3,l2=1,dimension=2,rounding=stochastic,neighbours=add-remove",
        "skellam:variance=9,l2=3/2,dimension=3,rounding=nearest,neighbours=add-remove",
        "gaussian:sigma=1,neighbours=add-remove,poisson=1/2",
    ):
        assert exactdp.compose(spec).epsilon("0") == exactdp.Enclosure.infinite()
    assert exactdp.compose("exponential:epsilon=1").epsilon("9/10") == exactdp.Enclosure.exactly(0)


@pytest.mark.contract
def test_guarantees_are_taken_up_to_ten_thousand(capsys):
    for kind in ("zcdp:", "rdp:2,"):
        assert exactdp.mechanism(f"guarantee:{kind}10000").uses
        refused(capsys, ["compose", f"guarantee:{kind}10001", "--epsilon", "1"], "10000")


@pytest.mark.slow
@pytest.mark.contract
def test_what_a_divergence_tells_of_delta_is_rounded_up():
    """Three times (2, 1/2)-RDP at epsilon 2: e^(-1/2)/4, and not a digit less."""
    with mpmath.workdps(200):
        truth = oracles.exactly(mpmath.exp(mpmath.mpf(-1) / 2) / 4)
    found = Fraction(exactdp.mechanism("guarantee:rdp:2,1/2*3").delta(2).upper)
    assert truth - Fraction(1, 10**190) <= found <= truth * (1 + Fraction(1, 10**5))


@pytest.mark.contract
@pytest.mark.parametrize("nothing", [
    "randomized-response:epsilon=0", "discrete-laplace:scale=3,sensitivity=2,modulus=1",
    "binomial:trials=3,probability=1/2,sensitivity=4,modulus=1", "skellam:variance=2,modulus=1",
    "guarantee:pure:0", "skellam:variance=2,modulus=1 laplace:scale=3*3",
    pytest.param("skellam:variance=2,modulus=1 laplace:scale=3 exponential:epsilon=1*3",
                 marks=pytest.mark.slow),
])  # fmt: skip
def test_what_tells_nothing_costs_nothing_however_little_time_there_is(nothing, capsys):
    words = ["--order=3", "--epsilon=1/2", "--delta=1e-6"]
    alone = " " not in nothing
    _, out = said(capsys, "compose", *nothing.split(), *words, "--time=0.001", "--json")
    if alone:
        assert all(found.upper == 0 for found in _results(out))
    else:
        _, other = said(capsys, "compose", *nothing.split()[1:], *words, "--json")
        for found, full in zip(_results(out), _results(other), strict=True):
            assert found.lower <= full.upper and full.lower <= found.upper


@pytest.mark.contract
def test_a_table_of_one_finite_loss_beside_others_on_a_lattice(tmp_path):
    """What it adds to all losses is no multiple of theirs."""
    path = tmp_path / "one.csv"
    path.write_text("outcome,p,q\na,1/2,1/4\nb,1/2,0\nc,0,3/4\n")
    both = exactdp.compose(f"pmf:file={path}", "discrete-laplace:scale=2*2")
    once = brute_force.shifted(oracles.discrete_laplace(2), 1, 260)
    mpf = mpmath.mpf
    tables = ([(mpf("0.5"), mpf("0.25")), (mpf("0.5"), mpf(0)), (mpf(0), mpf("0.75"))],)
    tables = (*tables, [(q, p) for p, q in tables[0]])
    for level in ("0", "1/2", "3/4", "1", "3/2", "1.65", "2"):
        odds = mpmath.exp(oracles.real(level))
        truth = max(
            mpmath.fsum(max(p * a * c - odds * q * b * d, 0)
                        for p, q in table for a, b in losses for c, d in losses)
            for table in tables for losses in (_merged(once),)
        )  # fmt: skip
        oracles.assert_holds(both.delta(level), truth)


def _merged(pair):
    """Outcomes of one loss together."""
    found = {}
    for p, q in pair:
        key = mpmath.nstr(p / q, 20)
        a, b = found.get(key, (0, 0))
        found[key] = (a + p, b + q)
    return list(found.values())


@pytest.mark.contract
def test_how_far_sums_of_a_stream_are_off_is_said(capsys):
    """Of four steps the first three are two nodes: 3 sqrt(2); of six of nine shares sqrt(12)."""
    shares = ",noise=discrete-gaussian,clients=9,dropout=3"
    for more, left in (("", 18), (shares, 12)):
        _, out = said(capsys, "compose", f"tree:steps=4,sigma=3{more}", "--order", "2")
        assert f"prefix stddev {mpmath.nstr(mpmath.sqrt(left), 20)[:15]}" in " ".join(out.split())


@pytest.mark.contract
def test_how_users_are_sampled_is_said(capsys):
    spec = "discrete-laplace:scale=2,neighbours=add-remove"
    for rate, is_said in (("1/2", True), ("1", False)):
        _, out = said(capsys, "compose", f"{spec},poisson={rate}", "--pure")
        assert ("subsampling with probability 0.5" in " ".join(out.split())) is is_said


@pytest.mark.contract
def test_infinite_losses_are_never_pure():
    for claim in ("approx:1000,0", "pure:1000"):
        assert exactdp.audit("skellam:variance=9", claim).verdict.name == "REFUTED"


@pytest.mark.slow_cases("skellam:variance=4,l2=2,dimension=1000")
@pytest.mark.contract
@pytest.mark.parametrize("spec", [
    "skellam:variance=4,l2=2,dimension=1000",
    "discrete-laplace:scale=10,threshold=400,keys=200",
    "gaussian:sigma=1/100,neighbours=add-remove,poisson=1/1000000*1000",
    "guarantee:zcdp:1e-300",
    pytest.param("guarantee:rdp:10000,1e-300", marks=pytest.mark.slow),
    pytest.param("randomized-response:epsilon=10000,shuffled=1000", marks=pytest.mark.slow),
    pytest.param("randomized-response:epsilon=30,categories=3,shuffled=100",
                 marks=pytest.mark.slow),
    pytest.param("binomial:trials=1000000,probability=1/2,sensitivity=2*100",
                 marks=pytest.mark.slow),
])  # fmt: skip
def test_extremes_are_answered(spec, capsys):
    """In a second or two there is a bracket that says something."""
    code, out = said(capsys, "compose", spec, "--epsilon", "50", "--time", "2", "--json")
    assert code in (0, 3) and '"upper"' in out
    found = exactdp.compose(spec).epsilon("9/10")
    assert found.lower <= found.upper


@pytest.mark.slow
@pytest.mark.contract
def test_no_time_is_a_wide_answer_and_not_another(capsys):
    """With as good as no time both ends still hold what is found with more."""
    for spec, delta in (("skellam:variance=100,sensitivity=3*50", "1e-6"),
                        ("gaussian:sigma=2,neighbours=add-remove,poisson=1/100*1000", "1e-5"),
                        ("discrete-laplace:scale=10*30", "1e-6")):  # fmt: skip
        _, out = said(capsys, "compose", spec, "--delta", delta, "--time", "0.001", "--json")
        (quick,) = _results(out)
        full = exactdp.compose(spec).epsilon(delta)
        assert quick.lower <= full.upper and full.lower <= quick.upper


@pytest.mark.contract
@pytest.mark.parametrize("specs", [
    "gaussian:sigma=1,neighbours=add-remove,poisson=1/2*20",
    "discrete-laplace:scale=3,l2=2*4",
    *(pytest.param(specs, marks=pytest.mark.slow) for specs in (
        "laplace:scale=2*4 sparse-vector:epsilon=1,answers=3*4",
        "exponential:epsilon=1*4",
        "exponential:epsilon=1/10*4",
        "randomized-response:epsilon=3,shuffled=1000*4",
        "laplace:scale=1,neighbours=add-remove,poisson=1/2*20 laplace:scale=3,neighbours=add-remove"
        ",poisson=1/2*9",
        "skellam:variance=1e4,l2=20,dimension=50*10 discrete-laplace:scale=30,sensitivity=7*5",
    )),
])  # fmt: skip
def test_what_is_said_at_once_holds(specs, capsys):
    """Every figure, with as good as no time, holds what is found with more."""
    asked = {"epsilon": ("1/2", "3"), "order": ("3", "64"), "delta": ("1e-6", "1/5")}
    words = [f"--{key}={value}" for key, values in asked.items() for value in values]
    _, out = said(capsys, "compose", *specs.split(), *words, "--time", "0.001", "--json")
    full = exactdp.compose(*specs.split())
    levels = [
        full.renyi("3"),
        full.renyi("64"),
        full.delta("1/2"),
        full.delta("3"),
        full.epsilon("1e-6"),
    ]
    for quick, slow in zip(_results(out), [*levels, full.epsilon("1/5")], strict=True):
        assert quick.lower <= slow.upper and slow.lower <= quick.upper


def _results(out: str) -> list[exactdp.Enclosure]:
    return [
        exactdp.Enclosure.from_json({end: one[end] for end in ("lower", "upper")})
        for one in json.loads(out)["results"]
    ]


@pytest.mark.slow
def test_averages_too_narrow_for_a_lattice_are_bracketed() -> None:
    spec = "gaussian:sigma=1000,neighbours=add-remove,allocation=3/50"
    found = exactdp.mechanism(spec).epsilon("1e-9")
    assert "0.0018" < found < "0.0079"
