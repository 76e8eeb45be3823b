"""The native checker: what it is built from, what it says, and that Coq says the same."""

import re
import subprocess
import tracemalloc
from string import Formatter

import pytest
from kernel_cases import ONE_SIDED, theorem, with_tools
from kernel_mutants import compare, written

from exactdp import time_limit
from exactdp.cli.main import main
from exactdp.verify.kernel import extracted
from exactdp.verify.kernel.coq import compiled, sources
from exactdp.verify.kernel.forms import FORMS, FormError, recognise
from exactdp.verify.kernel.stated import stated
from exactdp.verify.kernel.theorem import ALLOWED, axioms_in

LAPLACE = "discrete-laplace:epsilon=0.1"


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program of one's own in the place of the native checker."""
    monkeypatch.setattr(extracted, "kept", lambda: tmp_path)

    def put(script):
        file = tmp_path / extracted.PROGRAM
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    return put


# -- what it is built from ------------------------------------------------------------------------


def test_each_form_has_a_theorem_and_a_check():
    text, table = extracted.coq_text(), extracted.forms_text()
    for place, form in enumerate(FORMS.values()):
        proved = re.search(
            rf"^Theorem form_{place} .*?= true ->\n  (.*?)\.\nProof", text, re.M | re.S
        )
        said = re.sub(r"\(IZR (\w) / (?:IZR )?(\w)\)", r"({\1} / {\2})", proved[1])
        plain = re.sub(r"\{(\w)\}", r"\1", form.statement)
        assert re.sub(r"[{}]", "", said) == plain, form.title
        assert f"Checks.check_{place} " in table
        assert f" check_{place}" in extracted.extraction_text("x")


def test_the_table_is_the_forms():
    """Its parts, put together, are the files' templates; each check has all numbers, in order."""
    rows = re.findall(r"^  \(\[(.*)\],\n   \(fun one all -> ignore all; (.*)\)\)", extracted.forms_text(), re.M)  # fmt: skip  # noqa: E501
    checks = dict(re.findall(r"^Definition (check_\d+) (.*) : bool :=", extracted.coq_text(), re.M))
    assert len(rows) == len(FORMS) == len(checks)
    for (parts, call), form in zip(rows, FORMS.values(), strict=True):
        text = ""
        for kind, part in re.findall(r'(Text|Numbers?) \(?"((?:[^"\\]|\\.)*)"', parts):
            plain = part.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
            text += plain.replace("{", "{{") if kind == "Text" else f"{{{part}}}"
        assert text == form.template
        name = re.search(r"check_\d+", call)[0]
        named = re.findall(r'\((?:one|all) "(\w+)"\)', call)
        given = re.findall(r"\(([\w ]+) : (?:list )?Z\)", checks[name])
        names = [each.removeprefix("list_") for each in " ".join(given).split()]
        assert names == [each.lower() for each in named]
        assert set(named) == {x for _, x, _, _ in Formatter().parse(form.template) if x}


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code", "says"),
    [
        ("echo valid; echo more", 0, "valid: the check that was extracted from its proof is true"),
        ("echo not valid; exit 1", 1, "not valid: the check that was extracted"),
        ("echo undecided: too large; exit 3", 3, "undecided: the native checker needs more"),
        ("kill -9 $$", 3, "undecided: it needs more memory"),
        ("exec sleep 60", 3, "undecided: "),
        ("echo what", 2, "the native checker did not say what it found: what"),
    ],
)
def test_what_it_says_decides(capsys, tmp_path, program, pair, script, code, says):
    file, certificate = tmp_path / "t.v", tmp_path / "c.json"
    asked = ["audit", LAPLACE, "--claim", "pure:0.1"]
    assert main([*asked, "--coq", str(file), "--certificate", str(certificate)]) == 0
    program(script)
    for each in (file, certificate):
        capsys.readouterr()
        assert main(["check", str(each), "--extracted", "--time", "2"]) == code
        told = capsys.readouterr()
        assert says in told.out + told.err
        assert main(["check", str(each), "--extracted", "--claim", "pure:0.05"]) == 1  # another


def test_where_it_is_not_built(capsys, tmp_path, monkeypatch, pair):
    file = tmp_path / "t.v"
    file.write_text(theorem(LAPLACE, "pure:0.1", pair))
    monkeypatch.setattr(extracted, "kept", lambda: tmp_path / "nowhere")
    assert main(["check", str(file), "--extracted"]) == 2
    told = capsys.readouterr().err
    assert "make kernel-checker" in told and len(told.splitlines()) == 1
    assert main(["check", str(file), "--extracted", "--coq", str(tmp_path / "u.v")]) == 2
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(extracted.ParameterError, match="needs coqc"):
        extracted.build()


# -- with Coq and OCaml ---------------------------------------------------------------------------


def exchanged(texts):
    """Numbers of one verdict in the form of the other: false."""
    for one, other in zip(texts[::2], texts[1::2], strict=True):
        for text, false in ((one, other), (other, one)):
            (form, own), (_, numbers) = recognise(text), recognise(false)
            names = {x for _, x, _, _ in Formatter().parse(form.template) if x}
            left_out = {"n": 0, "d": 1, "p": 300, "r": 140}
            yield form.write({name: (own | left_out | numbers)[name] for name in names})


@pytest.mark.slow
@with_tools
def test_it_says_what_is_true(native, tmp_path):
    texts = written(tmp_path)
    assert {recognise(text)[0].title for text in texts} >= set(FORMS) - _RARE
    for text in texts:
        assert native(text, tmp_path / "t.v") == (0, "valid"), text
    for text in exchanged(texts[: -len(ONE_SIDED)]):
        assert native(text, tmp_path / "t.v") == (1, "not valid"), text


_RARE = {"discrete Laplace mod m, pure, VERIFIED", "randomized response, pure, VERIFIED"}


@pytest.mark.slow
@with_tools
def test_coq_computes_the_same_of_mutants(tmp_path):
    found = compare(300, 1, tmp_path)
    assert found["valid"] > 30 and found["not valid"] > 100 and found["refused"] > 10
    assert found["late"] + found["late for Coq"] < 30


@pytest.mark.slow
@with_tools
def test_hostile_files_are_refused(native, tmp_path, pair):
    text = theorem(LAPLACE, "pure:0.1", pair)
    huge = theorem("discrete-gaussian:sigma2=100", "approx:0.4,1e-6", pair)
    form, numbers = recognise(huge)
    for odd in (
        b"", b"\0" * 10**6, b"(" * 10**7, text[:-1], text + "\n", text.replace("10", "010"),
        text.replace("10", "-10"), text.replace("10", "1" * 4001), text.replace("10", "0x10"),
        text.replace("10", "1_0"), text.replace("(10 / 1)", "(11 / 1)"), text + "Print All.\n",
        "1" * 20_000_001, text.replace("Qed", "Admitted"), text.encode("utf-16"),
    ):  # fmt: skip
        assert native(odd, tmp_path / "t.v")[0] == 2, odd[:200]
    for name in ("p", "r", "l", "h"):
        ended, said = native(form.write(numbers | {name: 10**3999}), tmp_path / "t.v")
        assert ended in (1, 3) and said, (name, ended, said)
    slow = numbers | {"t": 10**6, "n": 1, "d": 10**9, "l": 10**7, "h": 10**7, "p": 10**5}
    assert native(form.write(slow), tmp_path / "t.v", 2) == (3, "undecided: out of time")


@pytest.mark.slow
@with_tools
def test_lists_of_another_length_are_refused(native, tmp_path):
    """As Python does: Coq reads what is left over as no use, and a theorem of no use is true."""
    for form in filter(lambda form: form.given, FORMS.values()):
        names = [x for _, x, _, _ in Formatter().parse(form.template) if x]
        ones = {x: "1" + "; 1" * 36 if x == form.given[0] else "1" for x in names}
        text = form.template.format(**ones)  # 37 numbers: no whole number of uses
        with pytest.raises(FormError, match="list_"):
            recognise(text)
        assert native(text, tmp_path / "t.v") == (2, "not a theorem's file")


@pytest.mark.slow
def test_a_long_list_takes_little_memory():
    """Of 20 MB not a gigabyte: what the pattern remembers, the numbers, and their laws."""
    form = FORMS["pair of tables, VERIFIED"]
    numbers = dict.fromkeys("kabndpr", 1) | {"A": [1, 2] * 10**5, "B": [2, 1] * 10**5}
    text = form.write(numbers)
    tracemalloc.start()
    stated(*recognise(text))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 60 * len(text)


@pytest.mark.slow
@with_tools
def test_the_overrides_are_coqs_functions(tmp_path):
    """Each function that Zarith computes, at edges and elsewhere, beside Coq's own definition."""
    numbers = [0, 1, -1, 2, 7, -7, 2**62, -(2**62), 2**64 + 1, -(10**20), 3**200]
    small = [0, 1, 3, 64, 65, -1, -2]
    both = ("add", "sub", "mul", "div", "modulo", "max", "min", "leb", "ltb", "eqb")
    of_both, shifted, of_one = (
        "; ".join(
            f"if Z.{name} {of} then 1 else 0" if name in ("leb", "ltb", "eqb") else f"Z.{name} {of}"
            for name in names
        )
        for names, of in (
            (both, "x y"), (("pow", "shiftr", "shiftl"), "x y"), (("opp", "abs", "sqrt"), "x")
        )
    )  # fmt: skip
    (tmp_path / "A.v").write_text(
        "From Coq Require Import ZArith List.\nImport ListNotations.\nOpen Scope Z_scope.\n"
        "Definition all (xs ys : list Z) : list Z := map (fun z => z mod 1000000000000037)\n"
        "  (flat_map (fun x =>\n"
        f"  flat_map (fun y => [{of_both}]) xs ++ flat_map (fun y => [{shifted}]) ys ++\n"
        f"  [{of_one}]) xs ++ map (fun y => Z.of_nat (Z.to_nat y)) ys).\n"
        f"Eval vm_compute in (all {numbers} {small}).\n".replace(",", ";")
        + extracted.EXTRACTION.replace("Extraction Inline needed.", 'Extraction "a.ml" all.')
    )
    coq = subprocess.run(
        ["coqc", "-q", "-w", "none", "A.v"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    given = ("; ".join(f'Z.of_string "{x}"' for x in each) for each in (numbers, small))
    (tmp_path / "b.ml").write_text(
        "let show x = print_endline (Z.to_string x)\n"
        f"let () = List.iter show (A.all [{next(given)}] [{next(given)}])\n"
    )
    subprocess.run(
        ["ocamlfind", "ocamlopt", "-package", "zarith", "-linkpkg", "-w", "-a", "a.mli", "a.ml",
         "b.ml", "-o", "b"], cwd=tmp_path, check=True,
    )  # fmt: skip
    native = subprocess.run([tmp_path / "b"], capture_output=True, text=True, check=True).stdout
    ours = [int(x) for x in re.findall(r"-?\d+", coq.stdout.split("\n     :")[0])]
    assert ours == [int(x) for x in native.split()]
    assert len(ours) == len(numbers) * (10 * len(numbers) + 3 * len(small) + 3) + len(small)


@pytest.mark.slow
@with_tools
def test_its_theorems_rest_on_the_four_axioms(tmp_path):
    """All of them at once, as the conjunction of what they say."""
    every = " ".join(f"(form_{place}, " for place in range(len(FORMS))).replace(" ", "")
    text = f"{extracted.coq_text()}\nDefinition every := {every}tt{')' * len(FORMS)}.\n"
    (tmp_path / "A.v").write_text(f"{text}Print Assumptions every.\n")
    with time_limit(1800):
        path = ["-R", str(compiled(list(sources()))), "ExactDP"]
    ran = subprocess.run(
        ["coqc", "-q", "-noglob", "-w", "none", *path, "A.v"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(axioms_in(ran.stdout)) == set(ALLOWED)
