"""The checks of all forms as a native program: extracted from Coq to OCaml, on Zarith integers.

For each form a theorem is compiled first, of all numbers at once: what the program computes implies
what the file says. The program reads files of these forms itself (`native/checker.ml`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path
from string import Formatter

from ...common.content_cache import default_cache
from ...exact import OutOfTimeError, ParameterError
from .coq import CoqError, compiled, run, run_program, sources
from .form import OF_A_USE, Form
from .forms import FORMS

PROGRAM = "exactdp-kernel"
_NEEDS = "`make kernel-checker` builds it (apt install coq ocaml-nox libzarith-ocaml-dev)"
_HEAD = """\
From Coq Require Import Reals List ZArith.
From ExactDP Require Import {modules}.
From ExactDP Require Import Definitions Laws.
Import ListNotations.
Open Scope R_scope.

(** The check that a theorem needs *)
Definition needed {{b : bool}} {{P : Prop}} (_ : b = true -> P) : bool := b.
"""
_EACH = """
(** {title} *)
Definition check_{place} {given} : bool := needed ({proof}).
Theorem form_{place} {given} : {nonnegative}check_{place} {names} = true ->
  {statement}.
Proof.
  intros. match goal with X : check_{place} {names} = true |- _ => pose proof ({proof} X) as Y end.
  rewrite ?Z2Nat.id in Y by assumption. exact Y.
Qed.
"""
_COUNTED = {"r": "(Z.to_nat r)"}  # how often exp is squared is a natural number in every proof
EXTRACTION = """
Require Import ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
(** Besides those of Coq's own files; what is too large for a shift ends the program. *)
Extract Constant Z.leb => "Big_int_Z.le_big_int".
Extract Constant Z.ltb => "Big_int_Z.lt_big_int".
Extract Constant Z.of_nat => "(fun n -> n)".
Extract Constant Z.to_nat => "(fun x -> Big_int_Z.max_big_int Big_int_Z.zero_big_int x)".
Extract Constant Z.sqrt =>
  "(fun x -> Big_int_Z.sqrt_big_int (Big_int_Z.max_big_int Big_int_Z.zero_big_int x))".
Extract Constant Z.pow =>
  "(fun x n -> if Big_int_Z.sign_big_int n < 0 then Big_int_Z.zero_big_int else
    let k = Big_int_Z.int_of_big_int n in
    if k > 1_000_000_000 then failwith ""power"" else Big_int_Z.power_big_int_positive_int x k)".
Extraction Inline needed.
"""


def coq_text() -> str:
    """A theorem for each form, of all numbers, with the check that it needs."""
    modules = dict.fromkeys(form.module for form in FORMS.values())
    text = _HEAD.format(modules=" ".join(modules))
    for place, form in enumerate(FORMS.values()):
        names = _numbers(form)
        lists = [f"list_{name.lower()}" for name in form.given]
        text += _EACH.format(
            title=form.title,
            place=place,
            given=" ".join((f"({' '.join(names)} : Z)", *(f"({each} : list Z)" for each in lists))),
            names=" ".join((*names, *lists)),
            nonnegative="".join(f"(0 <= {name})%Z -> " for name in names),
            statement=_real(form.statement).format(**{name: name for name in names}),
            proof=form.proof.format(**{name: name for name in names} | _COUNTED),
        )
    return text


def extraction_text(target: str) -> str:
    """What makes the OCaml text of all checks."""
    checks = " ".join(f"check_{place}" for place in range(len(FORMS)))
    return f'{EXTRACTION}Extraction "{target}" {checks}.\n'


def forms_text() -> str:
    """The forms as an OCaml table: the parts of their files, and the check of their numbers."""
    rows = []
    for place, form in enumerate(FORMS.values()):
        parts: list[str] = []
        for fixed, name, _, _ in Formatter().parse(form.template):
            parts += [f"Text {json.dumps(fixed)}"] if fixed else []
            if name is not None:
                size = OF_A_USE.get(f"list_{name.lower()}", (1, ""))[0]
                parts.append(
                    f'Number "{name}"' if name.islower() else f'Numbers ("{name}", {size})'
                )
        given = [f'(one "{name}")' for name in _numbers(form)]
        given += [f'(all "{name}")' for name in form.given]
        call = f"(fun one all -> ignore all; Checks.check_{place} {' '.join(given)})"
        rows.append(f"  ([{'; '.join(parts)}],\n   {call})")
    kinds = "type part = Text of string | Number of string | Numbers of string * int\n"
    return kinds + "let all = [\n" + ";\n".join(rows) + "\n]\n"


def _numbers(form: Form) -> list[str]:
    """The names of its single numbers, as they first occur."""
    names = (name for _, name, _, _ in Formatter().parse(form.template) if name is not None)
    return [name for name in dict.fromkeys(names) if name.islower()]


def _real(statement: str) -> str:
    """Quotients of numbers that are not written out are of whole numbers as real ones."""
    return re.sub(r"\(\{(\w)\} / (?:\{(\w)\}|1)\)", _quotient, statement)


def _quotient(found: re.Match[str]) -> str:
    bottom = "1" if found[2] is None else f"IZR {{{found[2]}}}"
    return f"(IZR {{{found[1]}}} / {bottom})"


def _driver() -> str:
    return files("exactdp.verify.kernel").joinpath("native/checker.ml").read_text(encoding="utf-8")


def kept() -> Path:
    """Where the program is, or would be: by all that it is made from."""
    made_from = (sources(), coq_text(), extraction_text(""), forms_text(), _driver())
    return default_cache() / "coq" / hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]


def build() -> Path:
    """The program, built in a minute if it is not there. Raises ParameterError, CoqError."""
    if (kept() / PROGRAM).exists():
        return kept() / PROGRAM
    for tool in ("coqc", "ocamlfind", "ocamlopt"):
        if shutil.which(tool) is None:
            raise ParameterError(f"the native checker needs {tool}: {_NEEDS}")
    library = compiled(list(sources()))
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "Checks.v").write_text(
            coq_text() + extraction_text("checks.ml"), encoding="utf-8"
        )
        outcome = run(["-R", str(library), "ExactDP", "Checks.v"], folder)
        if not outcome.compiled:
            raise CoqError(f"the checks are not extracted: {outcome.message}")
        (folder / "forms.ml").write_text(forms_text(), encoding="utf-8")
        (folder / "checker.ml").write_text(_driver(), encoding="utf-8")
        command = ["ocamlfind", "ocamlopt", "-O3", "-package", "zarith,unix,str", "-linkpkg"]
        command += ["-w", "-a", "checks.mli", "checks.ml", "forms.ml", "checker.ml", "-o", PROGRAM]
        asked = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if asked.returncode:
            raise CoqError(f"the native checker does not compile: {asked.stderr.strip()[-300:]}")
        kept().mkdir(parents=True, exist_ok=True)
        beside = Path(shutil.copy(folder / PROGRAM, kept() / f"{PROGRAM}.new"))
        return beside.rename(kept() / PROGRAM)


def run_extracted(text: str) -> bool:
    """Is the check of a theorem's file true, by the program?

    Raises ParameterError where it is not built, OutOfTimeError at the end of time or memory.
    """
    program = kept() / PROGRAM
    if not program.exists():
        raise ParameterError(f"--extracted: the native checker is not there: {_NEEDS}")
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "Verdict.v").write_text(text, encoding="ascii")
        output = run_program([str(program), "Verdict.v"], Path(made)).output
    said = output.partition("\n")[0]  # then what was shown
    if said.startswith("undecided"):
        raise OutOfTimeError("the native checker needs more than it may take")
    if said not in ("valid", "not valid"):
        raise CoqError(f"the native checker did not say what it found: {said[:100]}")
    return said == "valid"


def main() -> None:
    """Build it, and copy it where asked."""
    asked = argparse.ArgumentParser(description="Build the native checker of theorems.")
    asked.add_argument("target", type=Path)
    target = asked.parse_args().target
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(build(), target)
    print(target)


if __name__ == "__main__":
    main()
