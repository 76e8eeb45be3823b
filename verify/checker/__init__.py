"""Check certificates again, sharing no code with what makes them: mpmath and integers, no FLINT.

`check` accepts a certificate only if the verdict follows from its measured enclosure and it can
itself prove that the true value lies inside. What it cannot prove it says it could not
re-establish: that is no proof of the opposite, and never "valid". Hints save work; a wrong one can
only make a certificate fail.

A certificate that names a protocol is one of that protocol: that it releases what is certified is
proved first (`protocol`).

What is covered, verified and refuted, each law reduced mod m or not, by what means:

    pure      closed forms, or all residues listed; sums of them for several uses
    approx    sums of (P - e^epsilon Q)+ over the outcomes that matter; several uses by integer
              polynomials: exact where the losses share a lattice (discrete Laplace, discrete
              Gaussian, randomized response, a user's pair of one ratio) or a user's pairs have few
              values, else between two roundings to a grid, so about as narrow as the hint `step`;
              of several pairs (asymmetric laws, small moduli) one that dominates them
    rdp       sums over the outcomes that matter and a bound of the rest; they add up
    zcdp      closed forms (discrete Gaussian, sums of them, randomized response), else the orders
              from 1 to infinity covered by intervals; of several mechanisms each its share

for discrete Laplace (any scale), Polya difference, Skellam, discrete Gaussian, sums of discrete
Gaussians, binomial and finite laws, randomized response and users' own pairs of laws (with slack).

Of wider laws (more than 40,000 outcomes on either side) closed bounds remain (`closed`): rdp and
zcdp of Skellam noise and of sums of discrete Gaussians, not reduced, to about 100/variance (rdp) or
1e-3 (zcdp of Skellam), anything of discrete Laplace noise, pure of Pólya differences.

Not covered: approx of other laws with standard deviations above about 2,000; more than 250,000
residues times shifts; composed losses too many to multiply out (thousands of uses off a lattice);
zCDP where covering the orders takes more than 1.5 million terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mpmath import iv

from . import divergences
from .arithmetic import INFINITY, Enclosure, End, OpenError, add, precision, times
from .composition import profile
from .concentrated import rho_at_least, rho_at_most
from .protocol import objection
from .reading import CertificateError, Statement, read

__all__ = ["CertificateError", "Outcome", "check"]

_ATTEMPTS = ((96, False), (128, True), (320, True))  # bits, and whether all shifts are listed


@dataclass(frozen=True)
class Outcome:
    """valid: the certificate is proved. reason: in one line, why it is or is not."""

    valid: bool
    reason: str


def check(data: object) -> Outcome:
    """Check the content of a certificate (what its JSON file holds)."""
    try:
        statement = read(data)
    except CertificateError as error:
        return Outcome(False, f"not a certificate: {error}")
    low, high = statement.measured
    verified = statement.verdict == "VERIFIED"
    if not (high <= statement.bound if verified else low > statement.bound):
        return Outcome(False, f"{statement.verdict} does not follow from what is measured")
    if statement.protocol is not None:
        doubt = objection(statement.protocol, statement.uses, statement.kind, statement.verdict)
        if doubt is not None:
            return Outcome(False, doubt)
    reason = "its bounds are not narrow enough"
    for bits, full in _attempts(statement):
        try:
            with precision(bits):
                inside = _is_inside(statement, full)
        except OpenError as error:
            inside, reason = None, str(error)
        except (ArithmeticError, ValueError) as error:  # numbers of a size that nothing can hold
            inside, reason = None, f"{type(error).__name__}: {error}"
        if inside is not None:
            break
    if inside is None:
        return Outcome(False, f"could not be re-established: {reason}")
    if not inside:
        return Outcome(False, "what is measured does not contain the true value")
    return Outcome(True, "re-established")


def _attempts(statement: Statement) -> Sequence[tuple[int, bool]]:
    """Bits, and whether all shifts are listed: composition chooses its precision itself."""
    (_, count), *others = statement.uses
    if statement.kind != "approx" or (count == 1 and not others):
        return _ATTEMPTS
    return ((128, False), (128, True)) if _wraps(statement) else ((128, True),)


def _wraps(statement: Statement) -> bool:
    return any(getattr(mechanism, "modulus", None) for mechanism, _ in statement.uses)


def _is_inside(statement: Statement, full: bool) -> bool | None:
    """Does the measured enclosure contain the truth? None: not told at this precision."""
    kind, numbers, uses = statement.kind, statement.numbers, statement.uses
    if kind == "pure" or (kind == "approx" and numbers["delta"] == 0):
        found = [times(count, divergences.pure(one, full)) for one, count in uses]
    elif kind == "rdp":
        order = numbers["order"]
        found = [times(count, divergences.renyi(one, order, full)) for one, count in uses]
    elif kind == "approx":
        return _epsilon_is_inside(statement, full)
    else:
        low, high = statement.measured
        if not rho_at_most(uses, high, full):
            return None if _wraps(statement) and not full else False
        search = iv.prec == _ATTEMPTS[1][0]
        return True if rho_at_least(uses, low, full, search) else None
    total: Enclosure = (Fraction(0), Fraction(0))
    for each in found:
        total = add(total, each)
    return _contains(statement.measured, total)


def _contains(outer: Enclosure, inner: Enclosure) -> bool | None:
    if outer[0] <= inner[0] and inner[1] <= outer[1]:
        return True
    return False if inner[1] < outer[0] or outer[1] < inner[0] else None


def _epsilon_is_inside(statement: Statement, full: bool) -> bool | None:
    """epsilon(delta) <= e if and only if delta(e) <= delta."""
    goal = statement.numbers["delta"]
    low, high = statement.measured
    delta = _profile(statement, full)
    answers: list[bool | None] = []
    if high != INFINITY:
        least, most = delta(high)
        answers.append(True if most <= goal else (False if least > goal else None))
    if low > 0 and False not in answers:
        least, most = delta(low)
        answers.append(True if least > goal else (False if most < goal else None))
    return False if False in answers else (None if None in answers else True)


def _profile(statement: Statement, full: bool) -> Callable[[End], Enclosure]:
    """delta as a function of epsilon."""
    goal = statement.numbers["delta"]
    (mechanism, count), *others = statement.uses
    if count == 1 and not others:
        bits = 0.6 * iv.prec + goal.denominator.bit_length() - goal.numerator.bit_length()
        return lambda level: divergences.delta(mechanism, level, bits, full)
    ends = [Fraction(end) for end in statement.measured if end != INFINITY]
    largest = max(ends, default=Fraction(0))
    return profile(statement.uses, goal, largest, statement.step, full)
