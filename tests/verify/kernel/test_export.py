"""What is written of a verdict: the statement by hand, hints by what they must be, and refusals."""

import hashlib
import re
from fractions import Fraction

import pytest
from attrs import evolve
from kernel_cases import GAUSSIANS, LISTS, NEAR, SAMPLED, theorem

from exactdp import Verdict
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms.specs.spec import parse_use
from exactdp.verify import audit, parse_claim
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker.statement import read
from exactdp.verify.kernel import NotWrittenError, theorem_in, theorem_of
from exactdp.verify.kernel.coq import sources
from exactdp.verify.kernel.forms import FORMS, FormError, recognise

LAPLACE = """\
(* exactdp theorem, version 1: discrete Laplace, pure, VERIFIED *)
From Coq Require Import Reals List ZArith.
From ExactDP Require Import DiscreteLaplace Definitions Laws.
Import ListNotations.
Open Scope R_scope.

Theorem verdict :
  noise_dp (discrete_laplace (10 / 1)) 1 (1 / 10) (0 / 1).
Proof. apply (laplace_dp 10 1 1 1 10 0 1). vm_cast_no_check (eq_refl true). Qed.
Print Assumptions verdict.
"""
STATEMENTS = [
    ("discrete-laplace:epsilon=0.1", "pure:0.1",
     "noise_dp (discrete_laplace (10 / 1)) 1 (1 / 10) (0 / 1)"),
    ("discrete-laplace:epsilon=0.1", "approx:0.2,1e-3",
     "noise_dp (discrete_laplace (10 / 1)) 1 (1 / 5) (1 / 1000)"),
    ("discrete-laplace:epsilon=0.1,modulus=64", "pure:0.1",
     "noise_mod_dp (discrete_laplace (10 / 1)) 64 1 (1 / 10) (0 / 1)"),
    ("discrete-laplace:scale=7/3,sensitivity=4", "pure:1.7",
     "noise_not_dp (discrete_laplace (7 / 3)) 4 (17 / 10) (0 / 1)"),
    ("discrete-laplace:epsilon=1", "approx:0.5,0.4",
     "noise_uses_dp (discrete_laplace (1 / 1)) (Z.to_nat 1) 1 (1 / 2) (2 / 5)"),
    ("discrete-laplace:epsilon=1*2", "pure:2",
     "noise_uses_dp (discrete_laplace (1 / 1)) (Z.to_nat 2) 1 (2 / 1) (0 / 1)"),
    ("discrete-laplace:scale=7/3,sensitivity=4*5", "approx:5,1e-3",
     "noise_uses_not_dp (discrete_laplace (7 / 3)) (Z.to_nat 5) 4 (5 / 1) (1 / 1000)"),
    ("binomial:trials=62,probability=1/2", "approx:1,1e-5",
     "noise_dp (binomial (Z.to_nat 62) (1 / 2)) 1 (1 / 1) (1 / 100000)"),
    ("binomial:trials=61,probability=1/2", "approx:1,1e-5",
     "noise_not_dp (binomial (Z.to_nat 61) (1 / 2)) 1 (1 / 1) (1 / 100000)"),
    ("binomial:trials=5,probability=2/3,sensitivity=2", "pure:1",
     "noise_not_dp (binomial (Z.to_nat 5) (2 / 3)) 2 (1 / 1) (0 / 1)"),
    ("randomized-response:epsilon=1", "pure:1",
     "dp differ (repeated (randomized_response (1 / 1)) (Z.to_nat 1)) (1 / 1) (0 / 1)"),
    ("randomized-response:epsilon=1*48", "pure:48", "list_dp (uses_in list_w) (48 / 1) (0 / 1)"),
    ("randomized-response:epsilon=1*48", "approx:46,1e-6",
     "list_dp (repeat (Response (1 / 1)) (Z.to_nat 48)) (46 / 1) (1 / 1000000)"),
    ("randomized-response:epsilon=1*48", "approx:45,1e-6",
     "not_dp differ (repeated (randomized_response (1 / 1)) (Z.to_nat 48)) (45 / 1) (1 / 1000000)"),
    ("randomized-response:epsilon=1*48", "rdp:7/3,40",
     "renyi_dp differ (repeated (randomized_response (1 / 1)) (Z.to_nat 48)) (7 / 3) (40 / 1)"),
    ("pmf:file={pair}*3", "rdp:2,0.5",
     "not_renyi_dp differ (repeated (two_tables list_a list_b) (Z.to_nat 3)) (2 / 1) (1 / 2)"),
    ("pmf:file={pair}*3", "pure:3",
     "dp differ (repeated (two_tables list_a list_b) (Z.to_nat 3)) (3 / 1) (0 / 1)"),
    ("discrete-gaussian:sigma2=100", "approx:0.5,1e-6",
     "exists f, discrete_gaussian (100 / 1) f /\\ noise_dp f 1 (1 / 2) (1 / 1000000)"),
    ("discrete-gaussian:sigma2=100", "zcdp:0.005",
     "exists f, discrete_gaussian (100 / 1) f /\\ noise_zcdp f 1 (1 / 200)"),
    ("discrete-gaussian:sigma2=100,sensitivity=3", "zcdp:0.04",
     "exists f, discrete_gaussian (100 / 1) f /\\ noise_not_zcdp f 3 (1 / 25)"),
    ("discrete-gaussian:sigma2=100*3", "zcdp:0.015",
     "exists f, discrete_gaussian (100 / 1) f /\\ noise_uses_zcdp f (Z.to_nat 3) 1 (3 / 200)"),
    ("discrete-gaussian:sigma2=100*3", "zcdp:0.01",
     "exists f, discrete_gaussian (100 / 1) f /\\ noise_uses_not_zcdp f (Z.to_nat 3) 1 (1 / 100)"),
    ("discrete-gaussian:sigma2=100", "rdp:3/2,0.1",
     "exists f, discrete_gaussian (100 / 1) f /\\ "
     "noise_uses_renyi f (Z.to_nat 1) 1 (3 / 2) (1 / 10)"),
    ("discrete-gaussian:sigma2=100,sensitivity=2*3", "rdp:3/2,0.0125",
     "exists f, discrete_gaussian (100 / 1) f /\\ "
     "noise_uses_not_renyi f (Z.to_nat 3) 2 (3 / 2) (1 / 80)"),
    ("skellam:variance=25,sensitivity=2", "approx:0.5,1e-6",
     "exists f, skellam (25 / 2) f /\\ noise_not_dp f 2 (1 / 2) (1 / 1000000)"),
    ("discrete-laplace:scale=7/3,sensitivity=4*3 + randomized-response:epsilon=0.4",
     "approx:5,1e-3", "list_not_dp (uses_in list_w) (5 / 1) (1 / 1000)"),
    ("randomized-response:epsilon=1 + discrete-laplace:epsilon=1", "pure:2.1",
     "list_dp (uses_in list_w) (21 / 10) (0 / 1)"),
    ("discrete-gaussian:sigma2=100*50", "approx:3.6,1e-6",
     "vectors_dp (vectors_in list_v) (18 / 5) (1 / 1000000)"),
    ("discrete-gaussian:sigma2=5,l1=2,linf=1", "zcdp:0.2",
     "vectors_zcdp (vectors_in list_v) (1 / 5)"),
    ("discrete-gaussian:sigma2=5 + discrete-gaussian:sigma2=10*2", "rdp:2,0.3",
     "vectors_not_renyi (vectors_in list_v) (2 / 1) (3 / 10)"),
    ("discrete-gaussian:sigma2=9,l2=2,neighbours=add-remove,poisson=1/9*4", "approx:2,1e-2",
     "sampled_dp (sampled_in list_u) (2 / 1) (1 / 100)"),
    ("discrete-gaussian:sigma2=9,neighbours=add-remove*4", "rdp:3,1",
     "exists f, discrete_gaussian (9 / 1) f /\\ noise_uses_renyi f (Z.to_nat 4) 1 (3 / 1) (1 / 1)"),
    ("discrete-gaussian:sigma2=9,poisson=1/9,neighbours=add-remove "
     "+ discrete-gaussian:sigma2=9,neighbours=add-remove*4", "rdp:3,2",
     "sampled_renyi (sampled_in list_u) (3 / 1) (2 / 1)"),
    ("skellam:variance=1e-9", "pure:1",
     "exists f, skellam (1 / 2000000000) f /\\ noise_not_dp f 1 (1 / 1) (0 / 1)"),
]  # fmt: skip


_SHORT = {"V": (1, 7, 5, 2, 1, 3, 1, 4, 2), "U": (1, 2, 9, 7, 5, 2, 1, 3, 1, 4, 2)}


def test_a_whole_file(pair):
    assert theorem("discrete-laplace:epsilon=0.1", "pure:0.1", pair) == LAPLACE


@pytest.mark.slow_cases(
    "skellam:variance=25,sensitivity=2-approx:0.5,1e-6-exists f, skellam (25 / 2) f /\\\\ noise_not_dp f 2 (1 / 2) (1 / 1000000)",  # noqa: E501
)
@pytest.mark.parametrize(("spec", "claim", "statement"), STATEMENTS)
def test_statements(pair, spec, claim, statement):
    text = theorem(spec, claim, pair)
    assert f"Theorem verdict :\n  {statement}.\n" in text
    assert text.endswith("Qed.\nPrint Assumptions verdict.\n")
    form, numbers = recognise(text)
    assert form.write(numbers) == text


@pytest.mark.parametrize(
    ("spec", "claim"),
    [
        ("discrete-laplace:epsilon=1", "pure:1"),
        ("discrete-laplace:epsilon=1", "pure:0.9"),
        ("discrete-laplace:epsilon=1*3", "approx:2,1e-3"),
        ("discrete-gaussian:sigma2=9", "approx:2,1e-3"),
        ("discrete-gaussian:sigma2=9*4", "approx:3,1e-3"),
        ("discrete-gaussian:sigma2=9,l2=2*4", "zcdp:1"),
        ("skellam:variance=25", "approx:0.6,1e-5"),
        ("randomized-response:epsilon=1*3", "approx:2,1e-3"),
        ("discrete-laplace:epsilon=1 + randomized-response:epsilon=1", "pure:2"),
        ("pmf:file={pair}", "pure:1"),
    ],
)
def test_a_theorem_holds_of_whatever_neighbours_there_are(pair, tmp_path, spec, claim):
    """So what a user more or less sees, all taking part, is said by the same text."""
    uses = [use.partition("*") for use in spec.split(" + ")]
    added = " + ".join(f"{one},neighbours=add-remove{star}{times}" for one, star, times in uses)
    assert theorem(added, claim, pair) == theorem(spec, claim, pair)


def test_a_list_says_its_uses_in_fours(pair):
    """Uses, scale as a quotient, sensitivity; 0 where it is randomized response of 1/scale."""
    spec = "discrete-laplace:scale=7/3,sensitivity=4*3 + randomized-response:epsilon=2/5*6"
    text = theorem(spec, "approx:5,1e-3", pair)
    assert "\nDefinition list_w : list Z := [3; 7; 3; 4; 6; 5; 2; 0]%Z.\n" in text
    form, numbers = recognise(text)
    says = form.described(numbers)
    assert "sensitivity 4 plus discrete Laplace noise of scale 7/3 3 times" in says
    assert "a bit by randomized response (epsilon 0.4) 6 times" in says
    assert "is not (5, 0.001)-differentially private, for some data type" in says


def test_a_list_of_gaussians_says_its_uses_in_nines(pair):
    """Uses, sigma2, l2 and l1 as quotients, linf, coordinates; 0 where it bounds nothing."""
    spec = (
        "discrete-gaussian:sigma2=7/3,sensitivity=4*3 + "
        "discrete-gaussian:sigma2=9,l2=7/2,l1=5/2,linf=2,dimension=8*6 + "
        "discrete-gaussian:sigma2=9,l2=3"
    )
    text = theorem(spec, "zcdp:13", pair)
    nines = "3; 7; 3; 0; 1; 0; 1; 4; 1; 6; 9; 1; 7; 2; 5; 2; 2; 8; 1; 9; 1; 3; 1; 0; 1; 0; 0"
    assert f"\nDefinition list_v : list Z := [{nines}]%Z.\n" in text
    form, numbers = recognise(text)
    says = form.described(numbers)
    assert says.startswith("an integer query of sensitivity 4 plus discrete Gaussian noise of ")
    assert "l2 at most 3.5 and l1 at most 2.5 and linf at most 2 in at most 8 coordinates" in says
    assert "move by l2 at most 3 in any number of coordinates plus discrete Gaussian" in says
    assert "13-zero-concentrated differentially private, for every data type" in says.replace(
        "(13)", "13"
    )


def test_sampled_users_are_said_in_elevens(pair):
    """The same nine, and after the uses the probability as a quotient."""
    text = theorem(SAMPLED[2][0], SAMPLED[2][1], pair)
    elevens = "30; 1; 50; 20; 1; 5; 2; 0; 1; 0; 9; 1; 1; 1; 50; 1; 0; 1; 0; 1; 4; 1"
    assert f"\nDefinition list_u : list Z := [{elevens}]%Z.\n" in text
    form, numbers = recognise(text)
    says = form.described(numbers)
    assert "30 times on users of whom each takes part with probability 0.02, then an" in says
    assert "where neighbours have one user more or less, is (1.80811, 0.001)-" in says


@pytest.mark.parametrize(("spec", "verified", "beyond"), SAMPLED)
def test_sampled_users_cost_what_whole_orders_imply(pair, spec, verified, beyond):
    assert recognise(theorem(spec, verified, pair))[0].verified
    with pytest.raises(NotWrittenError, match="no theorem of sampled users"):
        theorem(spec, beyond, pair)


def test_a_pair_says_which(pair, tmp_path):
    """A short one in full, a long one by its digest: of what stands between the brackets."""
    form, numbers = recognise(theorem("pmf:file={pair}", "pure:1", pair))
    says = form.described(numbers)
    assert "on 3 outcomes, proportional to list_a (3 numbers, [10; 6; 4]) and to " in says
    assert "list_b (3 numbers, [5; 9; 6]), either way round" in says
    long = tmp_path / "long.csv"
    rows = [f"{k},{Fraction(k + 1, 820)},{Fraction(40 - k, 820)}" for k in range(40)]
    long.write_text("\n".join(["outcome,p,q", *rows, ""]))
    text = theorem(f"pmf:file={long}", "pure:4", pair)
    form, numbers = recognise(text)
    says = form.described(numbers)
    for name in ("list_a", "list_b"):
        between = re.search(rf"^Definition {name} : list Z := \[(.*)\]%Z\.$", text, re.M)[1]
        digest = hashlib.sha256(between.encode()).hexdigest()
        assert f"{name} (40 numbers, SHA-256 {digest})" in says
    other = form.described(numbers | {"B": (*numbers["B"][:-1], 2)})
    assert other != says


def test_no_two_theorems_are_said_alike():
    """Of each form, whatever number of its statement is another: the words are others."""
    for form in FORMS.values():
        names = set(re.findall(r"{(\w+)}", form.statement)) | set(form.given)
        own = {
            name: 2 + 3 * place if name.islower() else _SHORT.get(name, (1, 7, 5, 2))
            for place, name in enumerate(sorted(re.findall(r"{(\w+)}", form.template)))
        }
        for name in names:
            other = own[name] + 1 if name.islower() else (*own[name][:-1], 3)
            assert form.described(own) != form.described(own | {name: other}), (form.title, name)


@pytest.mark.parametrize(
    ("spec", "claim", "name", "wrong", "reason"),
    [
        ("randomized-response:epsilon=1*9", "pure:9", "W", (9, 1, 1, 0, 5), "each use takes four"),
        ("randomized-response:epsilon=1*9", "pure:9", "W", (9, 1, 1), "each use takes four"),
        ("discrete-gaussian:sigma2=1,l2=1", "zcdp:1", "V", (9, 1, 1), "each use takes nine"),
        (SAMPLED[0][0], SAMPLED[0][1], "U", (9,) * 9, "each use takes eleven"),
        ("pmf:file={pair}", "pure:1", "B", (5, 9, 6, 0), "not of one length"),
    ],
)
def test_lists_of_another_length_are_refused(pair, spec, claim, name, wrong, reason):
    text = theorem(spec, claim, pair)
    form, numbers = recognise(text)
    with pytest.raises(FormError, match=reason):
        form.write(numbers | {name: wrong})
    own = "; ".join(map(str, numbers[name]))
    with pytest.raises(FormError, match=reason):
        recognise(text.replace(f"[{own}]%Z", f"[{'; '.join(map(str, wrong))}]%Z"))


@pytest.mark.slow_cases(
    "discrete-gaussian:sigma2=100-approx:0.3967900926952,1e-6-approx:0.3967900926951,1e-6",
    "discrete-gaussian:sigma2=7/3,sensitivity=3-approx:1.0052401205786,0.5-approx:1.0052401205785,0.5",
    "skellam:variance=25-approx:0.6852603602,1e-5-approx:0.6852603601,1e-5",
    "skellam:variance=7/3,sensitivity=3-approx:3.0370477553638,0.1-approx:3.0370477553637,0.1",
)
@pytest.mark.parametrize(("spec", "verified", "refuted"), [*NEAR, *LISTS, *GAUSSIANS])
def test_both_verdicts_are_written(pair, spec, verified, refuted):
    for claim, verdict in ((verified, True), (refuted, False)):
        form, numbers = recognise(theorem(spec, claim, pair))
        assert form.verified is verdict
        says = form.described(numbers)
        assert (" is not (" in says) is not verdict
        named = parse_claim(claim).fields()
        assert Fraction(numbers["a"], numbers["b"]) == Fraction(
            named["rho" if form.kind == "zcdp" else "epsilon"]
        )


@pytest.mark.parametrize(
    ("spec", "claim", "verdict"),
    [
        ("discrete-laplace:epsilon=0.1", "pure:0.1", "VERIFIED"),
        ("binomial:trials=61,probability=1/2", "approx:1,1e-5", "REFUTED"),
        ("randomized-response:epsilon=1*8", "approx:7.9,1e-2", "VERIFIED"),
    ],
)
def test_a_certificate_says_the_same(pair, spec, claim, verdict):
    named, times = parse_use(spec)
    found = audit(compose((named.mechanism, times)), parse_claim(claim))
    assert found.verdict is Verdict(verdict)
    one = recognise(theorem_of(found))
    other = recognise(theorem_in(read(certificate_of(found).content)))
    assert one[0] is other[0]
    assert {n: x for n, x in one[1].items() if n not in "pr"} == {
        n: x for n, x in other[1].items() if n not in "pr"
    }


@pytest.mark.slow_cases(
    "discrete-gaussian:sigma2=100,modulus=1024-approx:1,1e-5", "skellam:variance=100-pure:20"
)
@pytest.mark.parametrize(
    ("spec", "claim"),
    [
        ("skellam:variance=100*2 + skellam:variance=50", "approx:1,1e-6"),
        ("skellam:variance=1000000000", "approx:1,1e-6"),
        ("skellam:variance=100", "pure:20"),
        ("discrete-laplace:epsilon=1,modulus=16", "pure:0.9"),
        ("discrete-laplace:epsilon=1,modulus=4", "pure:0.9"),
        ("discrete-gaussian:sigma2=100,modulus=1024", "approx:1,1e-5"),
        ("discrete-laplace:epsilon=1,modulus=64*2", "pure:2"),
        ("discrete-laplace:scale=100,sensitivity=50*50", "approx:3,1e-6"),
        ("discrete-laplace:epsilon=1", "zcdp:0.5"),
        ("discrete-gaussian:sigma2=1/10", "rdp:3/2,7.4999"),
        ("discrete-gaussian:sigma2=100,modulus=1024", "rdp:2,1"),
        ("discrete-laplace:epsilon=1", "rdp:2,1"),
        ("pmf:file={pair}", "rdp:3/2,1"),
        ("randomized-response:epsilon=1 + randomized-response:epsilon=2", "rdp:2,3"),
        ("discrete-gaussian:sigma2=100 + discrete-gaussian:sigma2=9", "approx:0.1,1e-9"),
        ("discrete-gaussian:sigma2=100 + skellam:variance=9", "zcdp:1"),
        ("discrete-gaussian:sigma2=9,l2=5/2,dimension=1", "rdp:5/4,0.1"),
        ("gaussian:sigma=1", "approx:9,1e-5"),
        ("discrete-gaussian:sigma2=100,l2=4", "approx:1,1e-9"),
        ("randomized-response:epsilon=1,neighbours=add-remove,poisson=0.5", "pure:1"),
        ("discrete-gaussian:sigma2=100000000000", "approx:1,1e-5"),
        (SAMPLED[0][0], "rdp:5/2,1"),
        (SAMPLED[0][0], "rdp:2,1e-9"),
        (SAMPLED[0][0], "approx:0.01,1e-5"),
        ("discrete-gaussian:sigma2=100,neighbours=add-remove,poisson=1/2", "rdp:1001,999"),
        ("discrete-gaussian:sigma2=4,modulus=64,neighbours=add-remove,poisson=1/2", "approx:9,0.1"),
        ("skellam:variance=100,neighbours=add-remove,poisson=0.5", "approx:1,0.1"),
        ("binomial:trials=200000,probability=1/2", "approx:1,1e-5"),
        ("pmf:file={pair}*15", "approx:6,0.01"),
        ("discrete-laplace:epsilon=1 + randomized-response:epsilon=1", "zcdp:9"),
        ("discrete-laplace:epsilon=1 + discrete-gaussian:sigma2=9", "approx:9,0.1"),
        ("discrete-laplace:epsilon=1*999 + randomized-response:epsilon=1*999", "pure:1997"),
    ],
)
def test_what_cannot_be_written_yet(pair, spec, claim):
    with pytest.raises(NotWrittenError, match="no theorem"):
        theorem(spec, claim, pair)


def test_equal_tables_have_no_theorem_at_zero(tmp_path):
    """Rounding up leaves more than 0: of any more there is one, and at 0 of what is refuted."""
    equal = tmp_path / "equal.csv"
    equal.write_text("outcome,p,q\na,0.5,0.5\nb,0.5,0.5\n")
    with pytest.raises(NotWrittenError, match="no theorem of a Rényi divergence of 0"):
        theorem(f"pmf:file={equal}*5", "rdp:2,0", tmp_path / "pair.csv")
    form, _ = recognise(theorem(f"pmf:file={equal}*5", "rdp:2,1e-9", tmp_path / "pair.csv"))
    assert form.verified
    form, _ = recognise(theorem("pmf:file={pair}", "rdp:2,0", tmp_path / "pair.csv"))
    assert not form.verified


def test_nothing_is_written_of_undecided():
    named, _ = parse_use("binomial:trials=62,probability=1/2")
    found = audit(named.mechanism, parse_claim("approx:1,1e-5"))
    with pytest.raises(NotWrittenError, match="undecided"):
        theorem_of(evolve(found, verdict=Verdict.UNDECIDED))


OTHER = {
    "empty": "",
    "one line more": LAPLACE + "Print All.\n",
    "one line before": 'Redirect "/tmp/x" Print All.\n' + LAPLACE,
    "a plugin": LAPLACE.replace("Import ListNotations.", 'Declare ML Module "x".'),
    "another library": LAPLACE.replace("From ExactDP", "From Other"),
    "another module": LAPLACE.replace(" DiscreteLaplace ", " DiscreteLaplace Evil "),
    "an axiom": LAPLACE.replace("Theorem verdict", "Axiom verdict"),
    "admitted": LAPLACE.replace("Qed", "Admitted"),
    "another proof": LAPLACE.replace("apply (laplace_dp", "apply (laplace_dp "),
    "a weaker statement": LAPLACE.replace("noise_dp", "True \\/ noise_dp"),
    "hints that are terms": LAPLACE.replace("laplace_dp 10", "laplace_dp (5 + 5)"),
    "unlike numbers": LAPLACE.replace("laplace_dp 10 1", "laplace_dp 20 1"),
    "a leading zero": LAPLACE.replace("10 / 1)", "010 / 1)").replace("_dp 10", "_dp 010"),
    "a sign": LAPLACE.replace("(1 / 10)", "(-1 / 10)"),
    "a digit of another script": LAPLACE.replace("(1 / 10)", "(١ / 10)"),
    "a hexadecimal number": LAPLACE.replace("(10 / 1)", "(0xa / 1)").replace("_dp 10", "_dp 0xa"),
    "a comment": LAPLACE.replace("Qed.", "(* *) Qed."),
    "line ends of Windows": LAPLACE.replace("\n", "\r\n"),
    "no assumptions": LAPLACE.replace("Print Assumptions verdict.\n", ""),
    "half": LAPLACE[: len(LAPLACE) // 2],
    "a title of another form": LAPLACE.replace("VERIFIED", "REFUTED"),
    "a number that is too long": LAPLACE.replace("10", "1" * 4001),
}


@pytest.mark.parametrize("name", OTHER)
def test_no_other_text_is_recognised(name):
    assert OTHER[name] != LAPLACE
    with pytest.raises(FormError):
        recognise(OTHER[name])


def test_every_form_reads_what_it_writes_and_no_other_does():
    for title, form in FORMS.items():
        names = set(re.findall(r"{(\w+)}", form.template))
        numbers = {
            name: 3 + place if name.islower() else _SHORT.get(name, (1, place, 0, 7))
            for place, name in enumerate(sorted(names))
        }
        text = form.write(numbers)
        assert recognise(text) == (form, numbers)
        assert {other.title for other in FORMS.values() if other.read(text)} == {title}


def test_forms_name_what_the_library_proves():
    texts = sources()
    for form in FORMS.values():
        applied = form.proof.split()[0]
        assert re.search(rf"^Theorem {applied} ", texts[form.module], re.M), applied


def test_nothing_in_the_library_is_assumed():
    """No axiom, and nothing that turns a check of the kernel off."""
    odd = re.compile(
        r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Unset|Set|Declare|Extract\w*|"
        r"Primitive|Register|bypass_check|native_\w+|Load|Redirect|Drop|Time)\b"
    )
    for name, text in sources().items():
        code = re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)
        assert odd.search(code) is None, (name, odd.search(code))
        held = re.findall(r"^(Section|End|Variables?|Hypothes\w+|Context)\b", code, re.M)
        assert held.count("Section") == held.count("End")  # no variable outside of a section


_BUGGY = re.compile(
    r"\b(Program|fix|CoFixpoint|CoInductive|Module|Functor|Include|SProp|Universes?|Polymorphic|"
    r"Cumulative|PrimInt63|U?[Ii]nt63|Floats?|PArray|\w+_no_check|vm_compute|Proof using)\b"
    r"|:=\s*ltac:"
)


def test_the_library_keeps_off_the_known_bugs_of_coq():
    """What they take, by docs/kernel.md, is not there."""
    for name, text in sources().items():
        code = re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)
        assert _BUGGY.search(code) is None, (name, _BUGGY.search(code))
        for function in re.findall(r"^Fixpoint\b.*?\.\s*$", code, re.M | re.S):
            assert not re.search(r"\bwith\s+\w+[^=|]*:=", function), (name, function)  # mutual


_NAMING = re.compile(
    r"^\s*(?:(?:Local|Global|Program|Polymorphic|#\[[^\]]*\])\s+)*"
    r"(?:Definition|(?:Co)?Fixpoint|Function|Lemma|Theorem|Corollary|Fact|Remark|Proposition|Property|"
    r"(?:Co)?Inductive|Variant|Record|Structure|Class|Instance|Example|Notation|Module|Ltac|with)"
    r'\s+"?([\w\']+)([^.]*)',
    re.M,
)


def _named(text):
    """What a file of the library calls something that outlives it, constructors and fields too."""
    code = re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)
    names = set()
    for found in _NAMING.finditer(code):
        names.add(found[1])
        if found[0].lstrip().startswith(("Inductive", "Record", "Variant")):
            names |= set(re.findall(r"(?:\||:=|[{;])\s*([A-Za-z_]\w*)", found[2]))
    return names


def test_no_module_takes_a_name_that_a_statement_uses():
    """Else what a theorem says would hang on which file it names last."""
    texts = sources()
    trusted = _named(texts["Definitions"]) | _named(texts["Laws"])
    assert {"dp", "renyi_term", "use", "Laplace", "Response", "mass"} <= trusted
    said = {
        name
        for form in FORMS.values()
        for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"{\w+}", " ", form.statement))
    }
    assert not _named(texts["Definitions"]) & _named(texts["Laws"])
    for name, text in texts.items():
        if name not in ("Definitions", "Laws"):
            assert _named(text) and not _named(text) & (trusted | said | {"list", "nat", "R"}), name


def test_definitions_come_last():
    """So that they would be meant even if a module took one of their names."""
    for form in FORMS.values():
        required = re.findall(r"^From \w+ Require Import (.*)\.$", form.template, re.M)
        assert required[-1].split()[-2:] == ["Definitions", "Laws"]


def test_definitions_prove_nothing():
    for name in ("Definitions", "Laws"):
        assert re.search(r"\b(Lemma|Theorem|Proof)\b", sources()[name]) is None
