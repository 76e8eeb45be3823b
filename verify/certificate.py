"""Certificates: an audit's verdict as a file that the checker proves again by other means.

The file is JSON, every number in it exact text; `docs/certificates.md` says what each field means,
`checker/certificate.schema.json` which shape it has. This is version 2:

    format, version   "exactdp certificate", 2
    neighbours        replace: one user's data are replaced by other data; add-remove: one user
                      more or less
    orientation       fixed: some use tells the two datasets apart, so that the same one comes first
                      in every use; free: every use may meet them either way round
    uses              what is released: mechanisms with exact parameters, who takes part in each,
                      and how often each is used
    claim             its kind and numbers
    verdict           VERIFIED or REFUTED
    measured          an enclosure of the smallest number for which the claim would hold
    hints             the step of the grid to round composed losses to, if that is needed; of
                      vectors what bounds them from above and below (`checker/vectors.py`); nothing
                      rests on them
    protocol          if one is named, the protocol that releases it: users, precision, accuracy,
                      modulus, the law of one share, trust, how many users may vanish (dropout) or
                      tell what they drew (collusion), and what the aggregation may leak
                      (relaxation); the checker proves that it releases what `uses` says
    made              by which program, in which version, and when, if that is told
    note              what people noted, if anything: nothing proves it
    digest            SHA-256 of all the rest in canonical form (`checker/canonical.py`)

Files of the first version have neither `made` nor `note` nor `digest` (and say 1, or 2 if they name
a protocol); they are read as before.

The measured enclosure contains the audit's and is a little wider, so that the checker, which knows
slower and coarser ways only, can prove it: by the least of a few widths with which it can, and
never so wide that the verdict would not follow from it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from ..accounting.composition.composed import Composition, Use, compose
from ..common.atomic_write import write_atomically
from ..common.regular_file import read_at_most
from ..common.rows import Rows
from ..exact.budget import time_left
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, decimal_text
from ..exact.rounding import to_digits
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.additive.shuffle import ShuffleSum
from ..mechanisms.additive.vector import vector
from ..mechanisms.continuous import Shape, continuous
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ..mechanisms.laws.discrete_laplace import DiscreteLaplace
from ..mechanisms.laws.skellam import Skellam
from ..mechanisms.local.shuffled import Shuffled
from ..mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from ..mechanisms.sampling.allocation import allocation
from ..mechanisms.sampling.guaranteed import Guaranteed
from ..mechanisms.selection.candidates import Exponential
from .audit import Audit, Verdict
from .checker import SECONDS, Outcome, check, made
from .checker.canonical import DIGEST, digest, loaded
from .checker.closed import WIDE
from .checker.composition import NO_LATTICE
from .checker.protocol import COVERING, read_protocol
from .checker.reading import FORMAT, SECOND
from .checker.reading import read as _read_fields
from .checker.shape import CertificateError
from .fields import (
    NotCertifiedError,
    made_fields,
    protocol_fields,
    setting_fields,
    time_field,
    use_fields,
    with_user_first,
)
from .guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, RenyiDP
from .vector_bounds import bounded

__all__ = ["Certificate", "CertificateError", "MismatchError", "NotCertifiedError"]
__all__ += ["certificate_of", "certificate_stating", "check_in_time", "is_close_call_in_reach"]

_WIDTHS = ("1e-12", "1e-9", "1e-7", "1e-5", "1e-4", "1e-3", "1e-2")  # relative, tried in turn
_LEAST_ROUNDED = Fraction(1, 10**5)  # where composed losses have to be rounded
_LEAST_CELLS = Fraction(1, 10**3)  # where those of continuous noise have to be; less if it must
_DIGITS = (20, 60, 200)  # of the ends of an enclosure
LARGEST_FILE = 20_000_000  # bytes
_INFINITY = Decimal("Infinity")
_COARSE = (Guaranteed, Shuffled)  # of which it knows epsilon and delta to some digits only
_SHORT = 10_000  # uses times sensitivity, or times sigma2
_CLOSED: dict[type[Guarantee], Callable[[Fraction], Fraction]] = {
    RenyiDP: lambda variance: 100 / variance,
    ZCDP: lambda _: Fraction(1, 1000),
}  # about how narrow the checker's closed bounds of Skellam noise are


class MismatchError(ValueError):
    """A certificate of something else than what is used; the message names the first difference."""


@frozen(repr=False)
class Certificate(Rows):
    """The content of a certificate file; `check` proves it again.

    That there is one says nothing of the claim (`bool` raises TypeError): ask `.verdict`.

    text: of the file, JSON. Raises CertificateError for anything but a certificate.

    >>> import exactdp
    >>> certificate = exactdp.certify("discrete-laplace:epsilon=0.1", "pure:0.1")
    >>> Certificate(certificate.text).check().valid
    True
    """

    text: str

    def rows(self) -> list[dict[str, object]]:
        """One row: uses, claim, verdict and what is measured."""
        content = self.content
        return [
            {
                "uses": "; ".join(map(_said, content["uses"])),
                "claim": _said(content["claim"]),
                "verdict": content["verdict"],
                "measured": self.measured,
            }
        ]

    def __bool__(self) -> bool:
        raise TypeError("a certificate is not true or false: ask .verdict, or .check().valid")

    def __repr__(self) -> str:
        return f"Certificate({_said(self.content['claim'])}, {self.verdict.name})"

    @property
    def content(self) -> dict[str, Any]:
        """A fresh copy of what the file holds."""
        data = json.loads(self.text)
        assert isinstance(data, dict)
        return data

    @property
    def verdict(self) -> Verdict:
        """VERIFIED or REFUTED."""
        return Verdict(self.content["verdict"])

    @property
    def measured(self) -> Enclosure:
        """The enclosure that the checker proves."""
        ends = (self.content["measured"][side] for side in ("lower", "upper"))
        return Enclosure(*(_INFINITY if end == "inf" else Fraction(end) for end in ends))

    @property
    def digest(self) -> str:
        """SHA-256 of all that it says, as hexadecimal digits: computed, whatever the file says."""
        return digest(self.content)

    def noted(self, note: str | None = None, at: datetime | None = None) -> Certificate:
        """The same with a note, with the time when it was made, and with their digest.

        Neither is proved, nor changes what is. Raises ParameterError for a note of more than one
        line or 1,000 characters, a time without its zone, and a certificate of the first version.
        """
        content = self.content
        if DIGEST not in content:
            raise ParameterError("certificates of the first version take no note")
        if at is not None:
            if not isinstance(at, datetime):
                raise ParameterError(f"at must be a datetime with its time zone, got {at!r:.40}")
            content["made"]["at"] = time_field(at)
        if note is not None:
            content["note"] = read_note(note)
        return _sealed(content)

    def matches(
        self,
        protocol: SumProtocol | ShuffleSum,
        dropout: int = 0,
        collusion: int = 0,
        relaxation: ExactInput = 0,
    ) -> None:
        """Raise MismatchError unless this certificate says that its claim holds of this protocol.

        What was verified with more users missing holds with fewer: further independent shares are
        post-processing. It does not check the certificate; `check` does.
        """
        held = _read_fields(self.content).protocol
        if held is None:
            raise MismatchError("the certificate names no protocol")
        if self.verdict is not Verdict.VERIFIED:
            raise MismatchError("the certificate's claim is REFUTED")
        used = read_protocol(protocol_fields(protocol, dropout, collusion, relaxation))
        for name in COVERING:
            certified, found = getattr(held, name), getattr(used, name)
            if certified != found:
                raise MismatchError(f"{name} is {found}, but was certified as {certified}")
        if held.missing < used.missing:
            raise MismatchError(
                f"dropout and collusion are {used.missing} together, but were certified as "
                f"{held.missing}"
            )

    def check(self, seconds: float | None = SECONDS) -> Outcome:
        """Prove it again, in so many seconds; None: however long it takes."""
        return check_in_time(self.content, seconds)

    def write(self, path: str | Path) -> None:
        """Write the file, whole or not at all: under a temporary name, then renamed."""
        write_atomically(Path(path), self.text)

    @staticmethod
    def read(path: str | Path) -> Certificate:
        """Read a file. Raises CertificateError for anything but a certificate of this version."""
        try:
            raw = read_at_most(path, LARGEST_FILE)
        except OSError as error:
            raise CertificateError(f"{path}: {error.strerror or error}") from error
        return Certificate.of_bytes(raw, path)

    @staticmethod
    def of_bytes(raw: bytes, path: str | Path) -> Certificate:
        """The same of what a file holds; path: its name in errors."""
        try:
            data = loaded(raw)
        except CertificateError as error:
            raise CertificateError(f"{path}: {error}") from error
        _read_fields(data)
        assert isinstance(data, dict)
        return Certificate(_written(data))


def check_in_time(content: Mapping[str, Any], seconds: float | None = SECONDS) -> Outcome:
    """What the checker says of a certificate's content, within the limit of time around it.

    It minds its own clock, by the standard library alone.
    """
    limits = [limit for limit in (seconds, time_left()) if limit is not None and limit < math.inf]
    return check(content, min(limits, default=None))


def read_note(text: str) -> str:
    """A note as certificates hold it. Raises ParameterError for any other text."""
    try:
        return made.read_note(text)
    except CertificateError as error:
        raise ParameterError(str(error)) from error


def certificate_of(audit: Audit, protocol: Mapping[str, Any] | None = None) -> Certificate:
    """The certificate of a decided audit, which its checker has proved.

    protocol: the fields of the protocol that releases what was audited, if it is to be named.

    Raises NotCertifiedError for an UNDECIDED audit, and for what the checker cannot re-establish.
    """
    if audit.verdict is Verdict.UNDECIDED:
        raise NotCertifiedError(f"an UNDECIDED audit has no certificate: {audit.note}")
    for use in with_user_first(compose(audit.mechanism).uses):
        use_fields(use)  # else nothing that could be proved has a name
    found: Certificate | str = "no bound of its vectors that is known here is low enough"
    for known, hints in bounded(audit):
        found = _proved(known, hints, protocol)
        if isinstance(found, Certificate):
            return found
    raise NotCertifiedError(f"no certificate: {found}")


def _proved(
    audit: Audit, more: Mapping[str, Any], protocol: Mapping[str, Any] | None
) -> Certificate | str:
    """The certificate with the narrowest enclosure that the checker proves, or why it does not.

    more: what its hints hold besides the step of a grid.
    """
    uses = compose(audit.mechanism).uses
    grids: tuple[int, ...] = (0,)  # how much finer than usual; 0 for none
    coarse = _closed_width(audit)
    rounded = _LEAST_ROUNDED
    tried: set[str] = set()
    if more or any(map(_has_cells, uses)):
        rounded = _cells_width(audit)
    for width in map(Fraction, _WIDTHS):
        if width < coarse or (grids[0] and width < rounded):
            continue
        for finer in grids:
            hints = dict(more) | ({"step": _step(audit, width, finer)} if finer else {})
            measured = _widened(audit, width)
            certificate = _stated(uses, audit.claim, audit.verdict, measured, hints, protocol)
            if certificate.text in tried:
                continue
            tried.add(certificate.text)
            outcome = certificate.check()
            if outcome.valid:
                return certificate
        if NO_LATTICE in outcome.reason:
            grids = (1, 2) if rounded == _LEAST_CELLS else (1, 8)
    return outcome.reason


def _closed_width(audit: Audit) -> Fraction:
    """How narrow the checker's closed bounds are about, where it is left to them; else 0."""
    uses = compose(audit.mechanism).uses
    if isinstance(audit.claim, ZCDP | GaussianDP) and any(vector(use.mechanism) for use in uses):
        return _LEAST_ROUNDED  # vectors are hardly known more narrowly
    if not audit.claim.of_losses and _samples_laplace(audit.mechanism):
        return _LEAST_ROUNDED  # its orders, between two sums
    if isinstance(audit.claim, ApproxDP) and any(isinstance(one, _COARSE) for one, _ in uses):
        return Fraction(1, 1000)
    if isinstance(audit.claim, ZCDP) and any(isinstance(one, Exponential) for one, _ in uses):
        return Fraction(1, 100)  # between some scores, and a theorem about all
    law = getattr(audit.mechanism, "law", None)
    if not isinstance(law, Skellam) or law.variance <= WIDE:
        return Fraction(0)
    width = _CLOSED.get(type(audit.claim))
    return width(law.variance) if width else Fraction(0)


def _has_cells(use: Use) -> bool:
    if allocation(use.mechanism) is not None:
        return True
    return continuous(getattr(use.mechanism, "mechanism", use.mechanism)) is not None


def _cells_width(audit: Audit) -> Fraction:
    """Ten times as wide, at a third of the work, where the verdict is not close."""
    bound, high = audit.claim.bound, audit.measured.upper
    close = high != _INFINITY and abs(Fraction(high) - bound) <= Fraction(high) / 50
    return _LEAST_CELLS if close else 10 * _LEAST_CELLS


def _samples_laplace(mechanism: Mechanism | Composition) -> bool:
    noises = (continuous(use.mechanism) for use in compose(mechanism).uses)
    return any(one and one.shape is Shape.LAPLACE and one.rate < 1 for one in noises)


def certificate_stating(
    mechanism: Mechanism, claim: Guarantee, least: Fraction, protocol: Mapping[str, Any]
) -> Certificate | None:
    """The certificate of a claim that its checker verifies, without an audit; None if it cannot.

    least: a number that is likely to be below the true value; nothing rests on it.
    """
    for lower in (least, Fraction(0)):
        measured = {
            "lower": decimal_text(to_digits(lower, 20, ROUND_FLOOR)),
            "upper": decimal_text(claim.bound),
        }
        uses = [Use(mechanism, 1)]
        certificate = _stated(uses, claim, Verdict.VERIFIED, measured, {}, protocol)
        if lower <= claim.bound and certificate.check().valid:
            return certificate
    return None


def _stated(
    uses: Sequence[Use],
    claim: Guarantee,
    verdict: Verdict,
    measured: Mapping[str, str],
    hints: Mapping[str, Any],
    protocol: Mapping[str, Any] | None,
) -> Certificate:
    named = {} if protocol is None else {"protocol": dict(protocol)}
    uses = with_user_first(uses)
    return _sealed(
        {
            "format": FORMAT,
            "version": SECOND,
            **setting_fields(uses),
            "uses": [use_fields(use) for use in uses],
            "claim": claim.fields(),
            "verdict": verdict.name,
            "measured": measured,
            "hints": hints,
            **named,
            "made": made_fields(),
        }
    )


def _sealed(content: Mapping[str, Any]) -> Certificate:
    """With its digest, which comes last."""
    rest = {name: held for name, held in content.items() if name != DIGEST}
    try:
        return Certificate(_written({**rest, DIGEST: digest(rest)}))
    except CertificateError as error:
        raise NotCertifiedError(f"no certificate: {error}") from error


def is_close_call_in_reach(audit: Audit) -> bool:
    """Can the checker, in seconds, tell a verdict from its neighbour's, about 1e-9 away?

    Of many uses it can tell (epsilon, delta) apart so closely only on a lattice, in time only if
    the lattice is short. Other audits are worth trying.
    """
    composition = compose(audit.mechanism)
    if composition.times == 1 or not audit.claim.of_losses:
        return True
    return all(_on_a_short_lattice(use.mechanism, use.times) for use in composition.uses)


def _on_a_short_lattice(mechanism: Mechanism, times: int) -> bool:
    noise = continuous(mechanism)
    if noise is not None:
        return noise.shape is Shape.GAUSSIAN and noise.rate == 1  # a closed form
    if isinstance(mechanism, AdditiveNoise):
        if isinstance(mechanism.law, DiscreteGaussian):
            return times * mechanism.law.sigma2 <= _SHORT
        short = times * mechanism.sensitivity <= _SHORT
        return isinstance(mechanism.law, DiscreteLaplace) and short
    return isinstance(mechanism, RandomizedResponse) and times <= _SHORT


def _step(audit: Audit, relative: Fraction, finer: int) -> str:
    """A grid on which composed losses are known about so narrowly.

    The rounding of one loss has a variance of at most step^2/4; what all of them together move
    epsilon by is a few times that. Few large outcomes need a finer one.
    """
    bound, low, high = audit.claim.bound, audit.measured.lower, audit.measured.upper
    ends = [Fraction(end) for end in (low, high) if end != _INFINITY]
    near = max(ends, default=Fraction(1))
    closed = audit.verdict is Verdict.VERIFIED and _is_enveloped(audit.mechanism)
    to_bound = [] if closed else [abs(end - bound) for end in ends if end != bound]
    room = min([near * relative, *to_bound])
    count = compose(audit.mechanism).times
    step = Fraction(math.sqrt(float(room) / count * 0.6) / finer)
    return decimal_text(to_digits(step, 2, ROUND_FLOOR))


def _is_enveloped(mechanism: Mechanism | Composition) -> bool:
    """Are all uses vectors, of none of which users are sampled? Then no grid bounds them above."""
    found = [vector(use.mechanism) for use in compose(mechanism).uses]
    return all(one is not None and one.rate == 1 and not one.is_one_number for one in found)


# -- the enclosure --------------------------------------------------------------------------------


def _widened(audit: Audit, relative: Fraction) -> dict[str, str]:
    """The audit's enclosure, wider by this share of each end where the verdict allows."""
    bound = audit.claim.bound
    if isinstance(audit.claim, GaussianDP) and not _is_told(audit):
        return {"lower": "0", "upper": decimal_text(bound)}
    low, high = audit.measured.lower, audit.measured.upper
    lower = upper = "inf"
    if low != _INFINITY:
        end = max(Fraction(low), Fraction(0))
        least = (end + bound) / 2 if audit.verdict is Verdict.REFUTED else Fraction(0)
        lower = _in_few_digits(max(end * (1 - relative), least), ROUND_FLOOR, least.__le__)
    if high != _INFINITY:
        goal, verified = Fraction(high) * (1 + relative), audit.verdict is Verdict.VERIFIED
        most = bound if verified else 2 * goal
        upper = _in_few_digits(min(goal, most), ROUND_CEILING, most.__ge__)
    return {"lower": lower, "upper": upper}


def _is_told(audit: Audit) -> bool:
    """Does the verdict need mu from below, or does the checker know it as narrowly as the audit?

    It knows Gaussian noise, and one use of noise that is neither sampled nor reduced mod m.
    """
    uses = compose(audit.mechanism).uses
    noises = [continuous(use.mechanism) for use in uses]
    gaussian = all(one is not None and one.shape is Shape.GAUSSIAN for one in noises)
    one, alone = uses[0].mechanism, len(uses) == uses[0].times == 1
    plain = isinstance(one, AdditiveNoise | RandomizedResponse) or noises[0] is not None
    whole = getattr(one, "modulus", None) is None and getattr(one, "rate", 1) == 1
    return audit.verdict is Verdict.REFUTED or gaussian or (alone and plain and whole)


def _in_few_digits(goal: Fraction, rounding: str, fits: Callable[[Fraction], bool]) -> str:
    """In few digits, as many as it takes to be allowed."""
    rounded = (to_digits(goal, digits, rounding) for digits in _DIGITS)
    return decimal_text(next(filter(fits, rounded), goal))


def _said(fields: Mapping[str, Any]) -> str:
    """The fields of a certificate in one line."""
    return ", ".join(
        f"{name} {f'({_said(held)})' if isinstance(held, Mapping) else held}"
        for name, held in fields.items()
    )


def _written(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
