"""What Coq says of theorems: true ones near the boundary compile, false ones do not."""

import hashlib
import json
import re
import shutil
import subprocess
import time
from fractions import Fraction

import pytest
from kernel_cases import GAUSSIANS, LISTED, LISTS, NEAR, ONE_SIDED, SAMPLED, theorem

from exactdp import OutOfTimeError, time_limit
from exactdp.cli.main import main
from exactdp.verify import parse_claim
from exactdp.verify.kernel import CoqError, check_theorem
from exactdp.verify.kernel import theorem as kernel_theorem
from exactdp.verify.kernel.coq import Run, compiled, sources
from exactdp.verify.kernel.forms import FORMS, recognise
from exactdp.verify.kernel.stated import stated, vacuity
from exactdp.verify.kernel.theorem import ALLOWED, axioms_in

with_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs coqc")
GENERAL = (
    "adaptive_composition",
    "image_dominated",
    "post_processing",
    "group_privacy",
    "renyi_composition",
    "renyi_approx",
    "vector_renyi",
    "removed_within",
    "added_within",
    "sampled_one_more",
    "sampled_cost",
)


def test_axioms_are_read():
    assert axioms_in(LISTED) == (
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
    )
    assert axioms_in("Closed under the global context\n") == ()


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Axioms",
        LISTED + "x is assumed to be positive.\n",
        "Closed under the global context\nmore\n",
        "Theorem\n" + LISTED,
    ],
)
def test_nothing_else_is_read_as_axioms(output):
    with pytest.raises(CoqError):
        axioms_in(output)


@pytest.mark.parametrize(
    ("ran", "valid", "reason"),
    [
        (Run(True, LISTED, ""), True, "proved"),
        (Run(True, LISTED + "Evil.absurd : False\n", ""), False, "more axioms: Evil.absurd"),
        (Run(False, "", "Error: no"), False, "does not accept it: Error: no"),
    ],
)
def test_what_coq_says_decides(monkeypatch, tmp_path, pair, ran, valid, reason):
    compiled_texts = []

    def run(arguments, folder):
        compiled_texts.append((folder / arguments[-1]).read_text())
        return ran

    monkeypatch.setattr(kernel_theorem, "compiled", lambda needed: tmp_path)
    monkeypatch.setattr(kernel_theorem, "run", run)
    text = theorem("discrete-laplace:epsilon=1", "pure:1", pair)
    outcome = _outcome(text, tmp_path)
    assert (outcome.valid, compiled_texts) == (valid, [text]) and reason in outcome.reason


@pytest.mark.parametrize("text", ["", "Print All.\n", "Fail Fail Check 1.\n"])
def test_nothing_else_reaches_coq(monkeypatch, tmp_path, text):
    monkeypatch.setattr(kernel_theorem, "run", lambda *_: pytest.fail("it was compiled"))
    outcome = _outcome(text, tmp_path)
    assert not outcome.valid and outcome.says is None


def test_without_coq_it_says_how_to_get_it(capsys, monkeypatch, tmp_path, pair):
    file = tmp_path / "t.v"
    file.write_text(theorem("discrete-laplace:epsilon=1", "pure:1", pair))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["check", str(file)]) == 2
    assert "apt install coq" in capsys.readouterr().err


def test_commands(capsys, monkeypatch, tmp_path):
    file, certificate = tmp_path / "t.v", tmp_path / "c.json"
    laplace = ["audit", "discrete-laplace:epsilon=0.1", "--coq", str(file)]
    assert main(laplace) == 2 and not file.exists()
    assert "--claim is missing" in capsys.readouterr().err
    assert main([*laplace, "--claim", "zcdp:1"]) == 2 and not file.exists()
    assert "randomized-response" in capsys.readouterr().err  # names what can be written
    both = [*laplace, "--claim", "pure:0.1", "--certificate", str(certificate)]
    assert main(both) == 0
    first = file.read_text()
    assert main(["check", str(certificate), "--coq", str(file)]) == 0
    assert recognise(file.read_text())[0] is recognise(first)[0]
    assert main([*laplace, "--claim", "pure:0.05"]) == 1
    assert not recognise(file.read_text())[0].verified
    assert main(["check", str(file), "--coq", str(tmp_path / "u.v")]) == 2
    assert main(["check", str(file), "--claim", "pure:0.1"]) == 1  # it is of another claim
    assert main(["check", str(tmp_path / "missing.v")]) == 2
    capsys.readouterr()
    file.write_text(first + 'Redirect "x" Print All.\n')
    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().out.startswith("not valid: it is not a file that `--coq` writes")


@pytest.mark.quick_cases(10)
@pytest.mark.slow_cases(
    "discrete-gaussian:sigma2=100-approx:0.3967900926952,1e-6-approx:0.3967900926951,1e-6",
    "discrete-gaussian:sigma2=7/3,sensitivity=3-approx:1.0052401205786,0.5-approx:1.0052401205785,0.5",
    "skellam:variance=25-approx:0.6852603602,1e-5-approx:0.6852603601,1e-5",
    "skellam:variance=7/3,sensitivity=3-approx:3.0370477553638,0.1-approx:3.0370477553637,0.1",
)
@pytest.mark.parametrize(
    ("spec", "verified", "refuted"), [*NEAR, *(each for each in GAUSSIANS if " + " not in each[0])]
)
def test_what_it_must_be_of(believed, tmp_path, pair, spec, verified, refuted):
    """Of its own uses and claim it reaches Coq; of any other it is not valid, whatever Coq says."""
    file = tmp_path / "t.v"
    here = spec.replace("{pair}", str(pair))
    more = here + ("0" if "*" in here else "*2")  # used more often
    for claim, other, verdict in (
        (verified, refuted, []),
        (refuted, verified, ["--verdict", "REFUTED"]),
    ):
        file.write_text(theorem(spec, claim, pair))
        told = ["check", str(file), "--expect", here, "--claim", claim]
        assert main(told) == (1 if verdict else 0)
        told += verdict
        assert main(told) == 0
        for wrong in (
            [*told[:3], more],
            [*told[:3], "randomized-response:epsilon=1.5"],
            [*told, "--expect", here],
            [*told[:2], "--claim", other, *verdict],
            [*told[:2], "--claim", "gdp:99" if verdict else "gdp:1e-9", *verdict],
        ):
            assert main(wrong) == 1
        believed(Run(False, "", "Error: no"))
        assert main(told) == 1
        believed(Run(True, LISTED, ""))


@pytest.mark.parametrize(
    ("spec", "verified", "refuted"), [*LISTS, *(each for each in GAUSSIANS if " + " in each[0])]
)
def test_what_a_list_must_be_of(believed, tmp_path, pair, spec, verified, refuted):
    """Of all of its uses, in any order, no fewer and no others."""
    file = tmp_path / "t.v"
    uses = spec.split(" + ")

    def told(claim, uses):
        expected = [word for each in uses for word in ("--expect", each)]
        verdict = ["--verdict", "REFUTED" if claim == refuted else "VERIFIED"]
        return main(["check", str(file), *expected, "--claim", claim, *verdict])

    for claim in (verified, refuted):
        file.write_text(theorem(spec, claim, pair))
        assert told(claim, uses) == told(claim, uses[::-1]) == 0
        assert told(claim, uses[1:]) == told(claim, [*uses, uses[0]]) == 1
        assert told(claim, [*uses[1:], "randomized-response:epsilon=7"]) == 1
    form, numbers = recognise(file.read_text())
    name = "W" if "W" in numbers else "V"
    w = numbers[name]
    for wrong in ((*w[:2], 0, *w[3:]), (*w[:1], 0, *w[2:]), (w[0] + 1, *w[1:])):
        file.write_text(form.write(numbers | {name: wrong}))
        assert told(refuted, uses) == 1


def test_sampled_users_are_of_their_rate_and_neighbours(believed, tmp_path, pair):
    file = tmp_path / "t.v"
    for spec, claim, beyond in SAMPLED:
        file.write_text(theorem(spec, claim, pair))
        own = [word for each in spec.split(" + ") for word in ("--expect", each)]
        likelier = [each.replace("=0.01", "=0.02").replace("1/50", "1/49") for each in own]
        for told, code in (
            ([*own, "--claim", claim], 0),
            ([*own, "--claim", beyond], 1),
            ([*own, "--claim", claim, "--verdict", "REFUTED"], 1),
            (likelier, 1),
            (["--claim", claim, "--neighbours", "add-remove"], 0),
            (["--claim", claim, "--neighbours", "replace"], 1),
        ):
            assert main(["check", str(file), *told]) == code, told


def test_a_theorem_of_noise_is_of_either_neighbours(believed, tmp_path, pair, capsys):
    file = tmp_path / "t.v"
    added = "discrete-laplace:epsilon=1,neighbours=add-remove"
    for claim, verdict in (("pure:1", "VERIFIED"), ("pure:0.9", "REFUTED")):
        file.write_text(theorem(added, claim, pair))
        for spec in (added, "discrete-laplace:epsilon=1"):
            asked = ["check", str(file), "--expect", spec, "--claim", claim]
            assert main([*asked, "--verdict", verdict]) == 0
        assert main(["check", str(file), "--expect", f"{added},poisson=1/2"]) == 1
    assert main(["check", str(file), "--expect", added, "--claim", "pure:0.9"]) == 1
    assert "it is REFUTED, and VERIFIED was expected" in capsys.readouterr().out


def test_what_is_read_back(believed, tmp_path, pair):
    """Pure is approximate at delta = 0; a modulus counts, and a denominator of 0."""
    file = tmp_path / "t.v"

    def says(text, spec, claim):
        file.write_text(text)
        return main(["check", str(file), "--expect", spec, "--claim", claim]) == 0

    laplace, reduced = "discrete-laplace:epsilon=1", "discrete-laplace:epsilon=1,modulus=64"
    pure = theorem(laplace, "pure:1", pair)
    assert says(pure, laplace, "approx:1,0") and not says(pure, laplace, "approx:0.9,1e-9")
    assert says(pure, "discrete-laplace:scale=1", "pure:1")
    loose = theorem(laplace, "approx:1,1e-9", pair)
    assert says(loose, laplace, "approx:1,1e-9") and not says(loose, laplace, "pure:1")
    seen = theorem(reduced, "pure:1", pair)
    assert says(seen, reduced, "pure:1") and not says(seen, laplace, "pure:1")
    assert not says(pure, reduced, "pure:1")
    assert not says(pure, laplace.replace("1", "1,sensitivity=2"), "pure:1")
    gauss = "discrete-gaussian:sigma2=4,sensitivity=2"
    renyi = theorem(gauss, "rdp:3/2,1", pair)
    assert says(renyi, gauss, "rdp:1.5,1") and not says(renyi, gauss, "rdp:2,1")
    assert not says(renyi, gauss, "zcdp:1") and not says(renyi, gauss, "approx:1,0")
    form, numbers = recognise(renyi)
    assert not says(form.write(numbers | {"o": 0}), gauss, "rdp:1.5,1")
    form, numbers = recognise(pure)
    assert not says(form.write(numbers | {"u": 0}), laplace, "pure:1")


VACUOUS = [
    ("discrete-laplace:epsilon=1", "pure:1", {"s": 0}, "sensitivity is 0"),
    ("discrete-laplace:epsilon=1*3", "pure:3", {"k": 0}, "nothing is used"),
    ("discrete-laplace:epsilon=1,modulus=64", "pure:1", {"m": 0}, "no values mod 0"),
    ("discrete-laplace:epsilon=1,modulus=64", "pure:1", {"m": 1}, "mod 1 all values are 0"),
    ("discrete-laplace:epsilon=1", "approx:1,0.5", {"n": 2}, "a delta of 1 or more"),
    ("discrete-gaussian:sigma2=9*2", "zcdp:1/9", {"k": 0}, "nothing is used"),
    ("discrete-gaussian:sigma2=9", "zcdp:1/18", {"s": 0}, "sensitivity is 0"),
    ("discrete-gaussian:sigma2=9", "rdp:2,1/9", {"s": 0}, "sensitivity is 0"),
    ("randomized-response:epsilon=1*2", "rdp:2,2", {"k": 0}, "nothing is used"),
    ("randomized-response:epsilon=1*2", "pure:2", {"W": (0, 1, 1, 0)}, "nothing is used"),
    ("randomized-response:epsilon=1*2", "pure:2", {"W": (2, 1, 0, 0)}, "no regard for its bit"),
    ("randomized-response:epsilon=1", "pure:1", {"e": 0}, "no regard for its bit"),
    (
        "discrete-gaussian:sigma2=9,l2=3*2",
        "zcdp:1",
        {"V": (0, 9, 1, 3, 1, 0, 1, 0, 0)},
        "nothing is used",
    ),
    (
        "discrete-gaussian:sigma2=9,l2=3*2",
        "zcdp:1",
        {"V": (2, 9, 1, 1, 2, 0, 1, 0, 0)},
        "the sensitivity is below 1",
    ),
    (
        "discrete-gaussian:sigma2=9,l2=3,neighbours=add-remove,poisson=1/2",
        "approx:3,0.1",
        {"U": (1, 0, 2, 9, 1, 3, 1, 0, 1, 0, 0)},
        "nobody takes part",
    ),
    (
        "discrete-gaussian:sigma2=9,neighbours=add-remove,poisson=1/2",
        "rdp:2,1",
        {"U": (1, 1, 2, 9, 1, 1, 2, 0, 1, 0, 0)},
        "the sensitivity is below 1",
    ),
    (
        "discrete-gaussian:sigma2=9,neighbours=add-remove,poisson=1/2",
        "rdp:2,1",
        {"U": (0, 1, 2, 9, 1, 0, 1, 0, 1, 1, 1)},
        "nothing is used",
    ),
    ("pmf:file={pair}*2", "pure:3", {"k": 0}, "nothing is used"),
    ("pmf:file={pair}*2", "rdp:2,1", {"B": (10, 6, 4)}, "both laws of the pair are the same"),
]


def _told(text, file, capsys, *options):
    """What `check` says of it, as text and as JSON."""
    file.write_text(text)
    assert main(["check", str(file), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main(["check", str(file), "--json", *options]) == 0
    return lines, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("spec", "claim", "wrong", "reason"), VACUOUS)
def test_what_says_nothing_is_called_vacuous(
    capsys, believed, tmp_path, pair, spec, claim, wrong, reason
):
    form, numbers = recognise(theorem(spec, claim, pair))
    file = tmp_path / "t.v"
    lines, shown = _told(form.write(numbers), file, capsys)
    assert lines[0].startswith("valid: proved") and shown["vacuous"] is None
    lines, shown = _told(form.write(numbers | wrong), file, capsys)
    assert lines[0].startswith("valid, but vacuous: proved")
    assert any(reason in line for line in lines) and reason in shown["vacuous"]
    believed(Run(False, "", "Error: no"))
    assert _outcome(form.write(numbers | wrong), tmp_path).vacuous is None  # it is not proved


@pytest.mark.parametrize("number", [0, 1, 2, 10**30])
def test_all_numbers_are_read_back(number):
    """Whatever stands in a file is stated, and judged: Coq decides whether it is proved."""
    for form in FORMS.values():
        names = re.findall(r"{(\w+)}", form.template)
        numbers = {name: number if name.islower() else (number,) * 4 for name in names}
        if "W" in names:
            numbers["W"] = (number, number, number, 0, 0, number, number, number)
        if "V" in names:
            numbers["V"] = (number,) * 9 + (number, number, 1, 0, 1, 0, 1, number, 1)
        if "U" in names:
            numbers["U"] = (number,) * 11 + (number, number, 1, number, 1, 0, 1, 0, 1, number, 1)
        statement = stated(form, numbers)
        assert vacuity(statement) is None or form.verified
        assert form.described(numbers)


def test_lists_that_are_named(capsys, believed, tmp_path, pair):
    """In JSON by length and digest: two theorems of other pairs differ in more than the file."""
    text = theorem("pmf:file={pair}", "pure:1", pair)
    _, shown = _told(text, tmp_path / "t.v", capsys, "--claim", "pure:1")
    assert shown["lists"] == {
        "list_a": {"length": 3, "sha256": hashlib.sha256(b"10; 6; 4").hexdigest()},
        "list_b": {"length": 3, "sha256": hashlib.sha256(b"5; 9; 6").hexdigest()},
    }
    laplace = theorem("discrete-laplace:epsilon=1", "pure:1", pair)
    assert _told(laplace, tmp_path / "t.v", capsys)[1]["lists"] == {}


# -- with Coq -------------------------------------------------------------------------------------


def _outcome(text, tmp_path):
    file = tmp_path / "t.v"
    file.write_text(text)
    with time_limit(600):
        return check_theorem(file)


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize(("spec", "verified", "refuted"), [*NEAR, *LISTS, *GAUSSIANS])
def test_true_claims_compile_and_false_ones_do_not(tmp_path, pair, spec, verified, refuted):
    """The numbers of a refuted claim in the form of a verified one, and the other way round."""
    found = {}
    for claim, verdict in ((verified, "VERIFIED"), (refuted, "REFUTED")):
        text = theorem(spec, claim, pair)
        form, numbers = recognise(text)
        assert form.title.endswith(verdict)
        outcome = _outcome(text, tmp_path)
        assert outcome.valid and set(outcome.axioms) == set(ALLOWED), outcome
        found[verdict] = form, numbers
    for one, other in (("VERIFIED", "REFUTED"), ("REFUTED", "VERIFIED")):
        (form, own), (_, numbers) = found[one], found[other]
        names = re.findall(r"{(\w+)}", form.template)
        left_out = {"n": 0, "d": 1, "p": 300, "r": 140}  # of claims that delta = 0 settles
        false = form.write({name: (own | left_out | numbers)[name] for name in names})
        outcome = _outcome(false, tmp_path)
        assert not outcome.valid and "does not accept" in outcome.reason


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize(("spec", "claim", "verdict"), ONE_SIDED)
def test_other_true_claims_compile(tmp_path, pair, spec, claim, verdict):
    text = theorem(spec, claim, pair)
    assert recognise(text)[0].title.endswith(verdict)
    outcome = _outcome(text, tmp_path)
    assert outcome.valid and set(outcome.axioms) == set(ALLOWED), outcome


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize(("spec", "verified", "beyond"), SAMPLED)
def test_what_whole_orders_do_not_imply_is_not_proved(tmp_path, pair, spec, verified, beyond):
    """Just below; users more likely to take part, less noise, more uses, longer vectors."""
    form, numbers = recognise(theorem(spec, verified, pair))
    claimed = parse_claim(beyond).fields()["epsilon"]
    a, b = Fraction(claimed).as_integer_ratio()
    u = numbers["U"]
    wrong = [{"a": a, "b": b}, {"p": 20, "r": 4}, {"r": 0}]
    for place, more in ((0, 1), (1, 1), (3, -1)):
        wrong.append({"U": (*u[:place], u[place] + more, *u[place + 1 :])})
    wrong += [{"U": (u[0], u[2] + 1, *u[2:])}]  # a probability above 1
    for each in wrong:
        outcome = _outcome(form.write(numbers | each), tmp_path)
        assert not outcome.valid and "does not accept" in outcome.reason, each


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize(
    ("spec", "claim", "wrong"),
    [
        ("discrete-laplace:epsilon=1", "pure:1", {"s": 0, "a": 0}),
        ("discrete-laplace:epsilon=1*3", "pure:3", {"k": 0, "a": 0}),
        ("discrete-laplace:epsilon=1,modulus=64", "pure:1", {"m": 0}),
        ("randomized-response:epsilon=1*2", "pure:2", {"W": (0, 1, 1, 0), "a": 0}),
        ("pmf:file={pair}*2", "pure:3", {"k": 0, "a": 0}),
    ],
)
def test_coq_proves_what_is_vacuous(tmp_path, pair, spec, claim, wrong):
    form, numbers = recognise(theorem(spec, claim, pair))
    outcome = _outcome(form.write(numbers | wrong), tmp_path)
    assert outcome.valid and outcome.vacuous is not None, outcome


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize("title", FORMS)
def test_nothing_is_proved_of_a_quotient_by_0(tmp_path, pair, title):
    """Coq's real numbers have 1/0; no theorem is of it."""
    written = (
        recognise(theorem(spec, claim, pair))
        for spec, *claims in [*NEAR, *LISTS, *GAUSSIANS, *(each[:2] for each in ONE_SIDED)]
        for claim in claims
    )
    form, numbers = next((x for x in written if x[0].title == title), (None, None))
    if form is None:
        pytest.skip("written of none of these claims")
    wrong = [{name: 0} for name in sorted(set(re.findall(r" / {(\w+)}", form.statement)))]
    if "W" in form.given:
        k, _, _, reach, *others = numbers["W"]
        wrong.append({"W": (k, *((1, 0) if reach else (0, 1)), reach, *others)})
    if "V" in form.given:  # sigma2, l2 and l1 in turn
        v = numbers["V"]
        wrong += [{"V": (*v[:place], 0, *v[place + 1 :])} for place in (2, 4, 6)]
    if "U" in form.given:  # the probability as well
        u = numbers["U"]
        wrong += [{"U": (*u[:place], 0, *u[place + 1 :])} for place in (2, 4, 6, 8)]
    for each in wrong:
        outcome = _outcome(form.write(numbers | each), tmp_path)
        assert not outcome.valid and "does not accept" in outcome.reason, each


@pytest.mark.slow
@with_coq
def test_the_library_rests_on_the_four_axioms(tmp_path):
    with time_limit(900):
        folder = compiled(list(sources()))
    proved = [form.proof.split()[0] for form in FORMS.values()]
    text = "".join(f"From ExactDP Require Import {name}.\n" for name in sources())
    for name in (*proved, *GENERAL):
        (tmp_path / "A.v").write_text(f"{text}Print Assumptions {name}.\n")
        command = ["coqc", "-q", "-noglob", "-R", str(folder), "ExactDP", "A.v"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert set(axioms_in(ran.stdout)) <= set(ALLOWED)


@pytest.mark.slow
@with_coq
def test_the_time_is_kept(tmp_path, pair):
    with time_limit(600):
        compiled(["BinomialTail"])
    text = theorem("binomial:trials=100000,probability=1/2", "pure:1", pair)
    form, numbers = recognise(text)
    file = tmp_path / "t.v"
    file.write_text(form.write(numbers | {"m": 100_000}))
    begun = time.monotonic()
    with pytest.raises(OutOfTimeError), time_limit(6):
        check_theorem(file)
    assert time.monotonic() - begun < 60


@pytest.mark.slow
@with_coq
def test_another_checker_agrees(tmp_path, pair):
    """coqchk reads a compiled theorem and all of the library again, with a kernel of its own."""
    with time_limit(900):
        folder = compiled(list(sources()))
    (tmp_path / "Verdict.v").write_text(theorem("discrete-laplace:epsilon=1", "pure:1", pair))
    path = ["-R", str(folder), "ExactDP"]
    subprocess.run(["coqc", "-q", "-noglob", *path, "Verdict.v"], cwd=tmp_path, check=True)
    modules = [*(f"ExactDP.{name}" for name in sources()), "Verdict"]
    ran = subprocess.run(
        ["coqchk", "-silent", "-o", *path, *modules], cwd=tmp_path, capture_output=True, text=True
    )
    summary = ran.stdout + ran.stderr
    assert ran.returncode == 0, summary
    axioms = re.search(r"\* Axioms:\n(.*?)\n *\n", summary, re.S)[1].split()
    assert set(axioms) == {
        f"Coq.{'Reals' if 'Dedekind' in name else 'Logic'}.{name}" for name in ALLOWED
    }
    assert summary.count("<none>") == 3  # type-in-type, unsafe fixpoints, assumed positivity
