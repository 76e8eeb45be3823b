"""What Coq says of theorems: true ones near the boundary compile, false ones do not."""

import re
import shutil
import subprocess
import time

import pytest
from kernel_cases import LISTS, NEAR, ONE_SIDED, theorem

from exactdp.cli.main import main
from exactdp.exact import OutOfTimeError, time_limit
from exactdp.verify.kernel import CoqError, check_theorem
from exactdp.verify.kernel import theorem as kernel_theorem
from exactdp.verify.kernel.coq import Run
from exactdp.verify.kernel.forms import FORMS, recognise
from exactdp.verify.kernel.library import compiled, sources
from exactdp.verify.kernel.theorem import ALLOWED, axioms_in

with_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs coqc")
GENERAL = (
    "adaptive_composition",
    "image_dominated",
    "post_processing",
    "group_privacy",
    "renyi_composition",
)
LISTED = """\
Axioms:
ClassicalDedekindReals.sig_not_dec : forall P : Prop, {~ ~ P} + {~ P}
ClassicalDedekindReals.sig_forall_dec
  : forall P : nat -> Prop,
    (forall n : nat, {P n} + {~ P n}) -> {n : nat | ~ P n} + {forall n : nat, P n}
"""


@pytest.fixture
def pair(tmp_path):
    return tmp_path / "pair.csv"


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


@pytest.mark.parametrize(("spec", "verified", "refuted"), NEAR)
def test_what_it_must_be_of(monkeypatch, tmp_path, pair, spec, verified, refuted):
    """Of its own uses and claim it reaches Coq; of any other it is not valid, whatever Coq says."""
    monkeypatch.setattr(kernel_theorem, "compiled", lambda needed: tmp_path)
    monkeypatch.setattr(kernel_theorem, "run", lambda *_: Run(True, LISTED, ""))
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
        monkeypatch.setattr(kernel_theorem, "run", lambda *_: Run(False, "", "Error: no"))
        assert main(told) == 1
        monkeypatch.setattr(kernel_theorem, "run", lambda *_: Run(True, LISTED, ""))


@pytest.mark.parametrize(("spec", "verified", "refuted"), LISTS)
def test_what_a_list_must_be_of(monkeypatch, tmp_path, pair, spec, verified, refuted):
    """Of all of its uses, in any order, no fewer and no others."""
    monkeypatch.setattr(kernel_theorem, "compiled", lambda needed: tmp_path)
    monkeypatch.setattr(kernel_theorem, "run", lambda *_: Run(True, LISTED, ""))
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
    w = numbers["W"]
    for wrong, holds in (((*w, 1), True), (w[:-1], False), ((*w[:2], 0, *w[3:]), False),
                         ((*w[:1], 0, *w[2:]), False), ((w[0] + 1, *w[1:]), False)):  # fmt: skip
        file.write_text(form.write(numbers | {"W": wrong}))
        assert (told(refuted, uses) == 0) is holds  # Coq drops what is no four as well


def test_what_is_read_back(tmp_path, pair):
    """Pure is approximate at delta = 0; a modulus counts, and a denominator of 0."""
    file = tmp_path / "t.v"

    def says(text, spec, claim):
        file.write_text(text)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(kernel_theorem, "compiled", lambda needed: tmp_path)
            patched.setattr(kernel_theorem, "run", lambda *_: Run(True, LISTED, ""))
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


# -- with Coq -------------------------------------------------------------------------------------


def _outcome(text, tmp_path):
    file = tmp_path / "t.v"
    file.write_text(text)
    with time_limit(600):
        return check_theorem(file)


@pytest.mark.slow
@with_coq
@pytest.mark.parametrize(("spec", "verified", "refuted"), [*NEAR, *LISTS])
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
