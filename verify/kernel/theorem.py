"""Is a theorem proved? Coq's kernel decides, of a text that this package has written itself."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, field, frozen

from ...common.regular_file import read_at_most
from ..checker.implied import ANYTHING, Expected, difference
from ..checker.mechanisms import NEIGHBOURS
from .coq import CoqError, compiled, required_by, run
from .form import FormError
from .forms import recognise
from .stated import stated, vacuity
from .words import digest

LARGEST = 20_000_000  # bytes of a file
ALLOWED = (
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "Classical_Prop.classic",
    "FunctionalExtensionality.functional_extensionality_dep",
)  # what Coq's own library of classical real numbers rests on
_NONE = "Closed under the global context"
_AXIOM = re.compile(r"([\w.']+)(?: :.*)?")


@frozen
class Listed:
    """A list that a theorem names: how long it is, and the SHA-256 of what its brackets hold."""

    length: int
    sha256: str


@frozen
class Outcome:
    """Whether the kernel accepts a theorem.

    valid    does it? reason: why not
    says     what it says, in words
    axioms   that it rests on
    lists    those that it names
    vacuous  of what is valid: why it says nothing of any noise, where it does not

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "Mine.v"
    >>> _ = file.write_text("Theorem mine : True. Proof. exact I. Qed.")
    >>> check_theorem(file).valid  # not a file that `--coq` wrote
    False
    """

    valid: bool
    reason: str
    says: str | None = None
    axioms: tuple[str, ...] = ()
    lists: Mapping[str, Listed] = field(factory=dict)
    vacuous: str | None = None


def check_theorem(file: Path, expected: Expected = ANYTHING, *, extracted: bool = False) -> Outcome:
    """Compile a file that `--coq` wrote; nothing else is compiled, whatever it holds.

    file: its path. expected: what it must be of, as for certificates.
    extracted: by the native program instead.

    Raises OSError where the file cannot be read, ParameterError where there is no Coq, or no such
    program, CoqError where the library does not compile, OutOfTimeError at the end of a
    `time_limit`.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "Mine.v"
    >>> _ = file.write_text("Theorem mine : True. Proof. exact I. Qed.")
    >>> check_theorem(file).valid  # not a file that `--coq` wrote
    False
    """
    try:
        text = read_at_most(file, LARGEST).decode("ascii")
    except UnicodeDecodeError:
        return Outcome(False, "it is not plain text")
    return check_text(text, expected, extracted=extracted)


def check_text(text: str, expected: Expected = ANYTHING, *, extracted: bool = False) -> Outcome:
    """The same of a file's text."""
    try:
        form, numbers = recognise(text)  # the text is what the form writes, to the letter
    except FormError as error:
        return Outcome(False, str(error))
    statement = stated(form, numbers)
    lists = {name: Listed(len(each), digest(each)) for name, each in form.lists(numbers).items()}
    said = Outcome(False, "", form.described(numbers), (), lists)
    if not expected.is_anything:
        others = [difference(stated(form, numbers, each), expected) for each in NEIGHBOURS]
        if None not in others:
            # the reason that is not of neighbours, of which a theorem says nothing
            return evolve(said, reason=min(others, key=_is_of_releases) or "")
    if extracted:
        from .extracted import run_extracted

        if not run_extracted(text):
            return evolve(said, reason="the check that was extracted from its proof is false")
        reason = "the check that was extracted from its proof is true"
        return evolve(said, valid=True, reason=reason, axioms=ALLOWED, vacuous=vacuity(statement))
    library = compiled(required_by(text))
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "Verdict.v").write_text(text, encoding="ascii")
        outcome = run(["-R", str(library), "ExactDP", "Verdict.v"], Path(made))
    if not outcome.compiled:
        return evolve(said, reason=f"Coq does not accept it: {outcome.message}")
    said = evolve(said, axioms=axioms_in(outcome.output))
    if odd := set(said.axioms) - set(ALLOWED):
        return evolve(said, reason=f"it rests on more axioms: {', '.join(sorted(odd))}")
    proved = "proved: Coq's kernel accepts it"
    return evolve(said, valid=True, reason=proved, vacuous=vacuity(statement))


def _is_of_releases(reason: str | None) -> bool:
    return reason is not None and "releases" in reason


def axioms_in(output: str) -> tuple[str, ...]:
    """What `Print Assumptions` printed. Raises CoqError for anything else than names with types."""
    first, *lines = output.strip().splitlines() or [""]
    if first == _NONE and not lines:
        return ()
    if first != "Axioms:":
        raise CoqError(f"Coq did not say what it rests on: {first[:100]}")
    names = []
    for line in lines:
        if line.startswith(" "):
            continue  # the type of the one above
        found = _AXIOM.fullmatch(line)
        if found is None:
            raise CoqError(f"Coq named an axiom in an unknown way: {line[:100]}")
        names.append(found[1])
    return tuple(sorted(names))
