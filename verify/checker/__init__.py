"""Check certificates again, sharing no code with what makes them: mpmath and integers, no FLINT.

`check` accepts a certificate only if the verdict follows from the end that it names, and that end
can be proved here, by the choices that it names (`hints`): each is held against a lemma. What is
not established is not thereby false, and never "valid": a wrong choice can only make a certificate
fail. Older versions name few choices: the others are tried (`choices`).

The digest of a certificate, from the second version on, must be that of all else in it
(`canonical`): who made it, when, and the note are held together by it with what is proved, and
change nothing else.

A certificate that names a protocol is one of that protocol: that it releases what is certified is
proved first (`protocol`).

What is covered, verified and refuted, each law reduced mod m or not, by what means:

    pure      closed forms, or all residues listed; sums of them for several uses
    approx    sums of (P - e^epsilon Q)+ over the outcomes that matter; several uses by integer
              polynomials: exact where the losses share a lattice (discrete Laplace, discrete
              Gaussian, randomized response, a user's pair of one ratio) or a user's pairs have few
              values, else on a grid from either side, about as narrow as the hint `step`; of
              several pairs (asymmetric laws, small moduli) one that dominates them
    rdp       sums over the outcomes that matter and a bound of the rest; they add up
    zcdp      closed forms (discrete Gaussian, sums of them, randomized response), else the orders
              from 1 to infinity covered by intervals, for all mechanisms together
    gdp       closed forms (`gaussian_dp`); of several uses, other than Gaussian noise, from above,
              and from below by a Rényi divergence

for Gaussian and Laplace noise whose users are sampled or not (closed forms of one use, and of
Gaussians that are not sampled; else about as narrow as the hint `step`), and
for discrete Laplace (any scale), Polya difference, Skellam, discrete Gaussian, sums of discrete
Gaussians, binomial and finite laws, randomized response and users' own pairs of laws (with slack);
these with users sampled by Poisson; random allocation of Gaussian noise (of epsilon and delta where
each user is in one step; else between Gaussians and that); symmetric log-concave laws, Gaussian and
Laplace noise and randomized response in batches of a fixed size.

Vectors are put between mechanisms of these kinds (`vectors`): of symmetric log-concave noise (fair
binomial noise included, of which no Gaussian envelope is known here), in any number of dimensions,
sampled or not, reduced or not; from above by the Gaussian envelope, whose mu_1 is bounded here
(`unit`), from below by a vector within reach that the certificate names. Real ones that are rounded
first (`rounded`) are as long as the longest that may be sent or, of epsilon
and delta and rounded at random, hardly longer than before but for a share of delta
(`rounded_distance`).

Counts that are told from a threshold on, and names of keys (`keys`), are one or other of two pairs
for each key; streams C x + z (`releases`) a Gaussian, or as vectors are, at a distance found here;
local reports are listed (`local`); runs of selection are summed up, and all of them bounded by
published proofs (`selection`); of what only Rényi divergences are known (`guarantees`), these tell.

Wide laws (variances above 200,000) are not listed: from above their Gaussians bound them (`unit`),
from below a closed form their Rényi divergences; discrete Laplace noise and pure of Pólya
differences have closed forms throughout.

Not covered: approx of other laws with standard deviations above about 2,000; more than 250,000
residues times shifts; zCDP where covering the orders takes more than 1,000 of them; VERIFIED gdp of
tables, of binomial noise and of Pólya differences of shape below 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

from .arithmetic import INFINITY, OpenError, precision
from .canonical import digest
from .choices import found
from .deadline import OutOfTimeError, time_limit
from .hints import hint_fields, read_hints
from .mechanisms import Family, Vector
from .proof import BITS, is_proved
from .protocol import objection
from .shape import CertificateError
from .statement import Statement, read

__all__ = ["SECONDS", "CertificateError", "OpenError", "OutOfTimeError", "Outcome", "check"]
__all__ += ["choices"]

SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """valid: the certificate is proved. reason: in one line, why it is or is not.

    undecided: the time allowed was over, or there are no bounds here, or only some between which it
    lies. Nothing that is not valid is thereby false.

    >>> Outcome(False, "the time allowed is over", undecided=True).undecided
    True
    """

    valid: bool
    reason: str
    undecided: bool = False

    def __bool__(self) -> bool:
        raise TypeError("the outcome of a check is not true or false: ask .valid")

    def _repr_html_(self) -> str:
        state = "undecided" if self.undecided else "valid" if self.valid else "not valid"
        return f"<b>{state}</b>: {escape(self.reason)}"


def check(data: object, seconds: float | None = SECONDS) -> Outcome:
    """Check the content of a certificate (what its JSON file holds); None: however long it takes.

    A file that is no certificate is not valid. What is too large or too close to prove, or would
    take longer than allowed, is not valid either, and its outcome says that it is undecided.

    data: what the JSON file holds. seconds: how long it may take. Returns an Outcome. Raises
    nothing of its own.

    >>> import exactdp
    >>> content = exactdp.certify("discrete-laplace:epsilon=0.1", "pure:0.1").content
    >>> check(content).valid
    True
    """
    try:
        with time_limit(seconds):
            return _check(data)
    except CertificateError as error:
        return Outcome(False, f"not a certificate: {error}")
    except OutOfTimeError as error:
        return Outcome(False, str(error), undecided=True)


def _check(data: object) -> Outcome:
    statement = read(data)
    if isinstance(data, dict) and statement.digest not in (None, digest(data)):
        return Outcome(False, "changed: its digest is of something else")
    if (doubt := _doubt(statement)) is not None:
        return Outcome(False, doubt)
    try:
        with precision(BITS), _opened():
            shown = all(_is_shown(statement, above) for above in (True, False))
    except OpenError as error:
        return Outcome(False, f"could not be re-established: {error}", undecided=True)
    if shown:
        return Outcome(True, "re-established")
    between = any(isinstance(one, Family | Vector) for one, _ in statement.uses)
    return Outcome(False, "not established, because its choices do not show it", undecided=between)


def _doubt(statement: Statement) -> str | None:
    """Why what it says does not hang together; None where it does."""
    low, high = statement.measured
    verified = statement.verdict == "VERIFIED"
    if not (high <= statement.bound if verified else low > statement.bound):
        return f"{statement.verdict} does not follow from what is measured"
    if statement.protocol is None:
        return None
    return objection(statement.protocol, statement.uses, statement.kind, statement.verdict)


@contextmanager
def _opened() -> Iterator[None]:
    """What cannot be computed, of numbers beyond all bounds, is open."""
    try:
        yield
    except OpenError:
        raise
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        raise OpenError(f"{type(error).__name__}: {error}") from error


def choices(data: object, seconds: float | None = SECONDS) -> dict[str, Any]:
    """The hints with which what is measured is proved, to be named: those that are there, and more.

    Raises OpenError where none are known here, OutOfTimeError where the time allowed is over.
    """
    statement = read(data)
    if (doubt := _doubt(statement)) is not None:
        raise OpenError(doubt)
    with time_limit(seconds), precision(BITS), _opened():
        hints = found(*statement.end(statement.verdict == "VERIFIED"))
    if hints is None:
        raise OpenError("its bounds are not narrow enough")
    named = hint_fields(hints)
    assert hint_fields(read_hints(named, [one for one, _ in statement.uses])) == named
    return named


def _is_shown(statement: Statement, above: bool) -> bool:
    """Is one end of what is measured proved by the choices that it names?"""
    if statement.measured[above] == (INFINITY if above else 0):
        return True
    if statement.version > 2:
        return is_proved(*statement.end(above))
    return found(*statement.end(above)) is not None
