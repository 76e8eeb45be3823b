"""Certificates: an audit's verdict as a file that the checker proves again by other means.

The file is JSON, every number in it exact text; `docs/certificates.md` says what each field means,
`checker/certificate.schema.json` which shape it has. This is version 3:

    format, version   "exactdp certificate", 3
    neighbours        replace: one user's data are replaced by other data; add-remove: one user
                      more or less
    orientation       fixed: some use tells the two datasets apart, so that the same one comes first
                      in every use; free: every use may meet them either way round
    uses              what is released: mechanisms with exact parameters, who takes part in each,
                      and how often each is used
    claim             its kind and numbers
    verdict           VERIFIED or REFUTED
    measured          the end that the verdict needs, of the smallest number for which the claim
                      would hold: an upper one if it is VERIFIED, a lower one if it is REFUTED (the
                      other is 0, or inf)
    hints             the choices that prove it (`checker/hints.py`); nothing rests on them
    protocol          if one is named, the protocol that releases it: users, precision, accuracy,
                      modulus, the law of one share, trust, how many users may vanish (dropout) or
                      tell what they drew (collusion), and what the aggregation may leak
                      (relaxation); the checker proves that it releases what `uses` says
    made              by which program, in which version, and when, if that is told
    note              what people noted, if anything: nothing proves it
    digest            SHA-256 of all the rest in canonical form (`checker/canonical.py`)

Files of the first two versions are read as before: they have both ends, and few hints, and those of
the first version have neither `made` nor `note` nor `digest` (and say 1, or 2 if they name a
protocol).

The end is the audit's and a little wider, so that the checker, which knows slower and coarser ways
only, can prove it; where it cannot, the claim's own number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from attrs import frozen

from ..accounting.composition.composed import Use, compose
from ..common.atomic_write import write_atomically
from ..common.regular_file import read_at_most
from ..common.rows import Rows
from ..exact.budget import time_left
from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ParameterError, decimal_text
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.additive.shuffle import ShuffleSum
from ..mechanisms.continuous import Shape, continuous
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ..mechanisms.laws.discrete_laplace import DiscreteLaplace
from ..mechanisms.mechanism import AdditiveNoise, Mechanism, RandomizedResponse
from .audit import Audit, Verdict
from .checker import SECONDS, OpenError, Outcome, OutOfTimeError, check, choices
from .checker.canonical import DIGEST, digest, loaded
from .checker.composition import NO_LATTICE
from .checker.protocol import COVERING, read_protocol
from .checker.shape import CertificateError
from .checker.statement import FORMAT, VERSIONS
from .checker.statement import read as _read_fields
from .checker.statement import read_note as _read_note
from .fields import (
    NotCertifiedError,
    made_fields,
    protocol_fields,
    setting_fields,
    time_field,
    use_fields,
    with_user_first,
)
from .guarantee import Guarantee
from .hints import directions, ends, has_cells, step

__all__ = ["Certificate", "CertificateError", "MismatchError", "NotCertifiedError"]
__all__ += ["certificate_of", "certificate_stating", "check_in_time", "is_close_call_in_reach"]

LARGEST_FILE = 20_000_000  # bytes
_INFINITY = Decimal("Infinity")
_SHORT = 10_000  # uses times sensitivity, or times sigma2


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
        return _read_note(text)
    except CertificateError as error:
        raise ParameterError(str(error)) from error


def certificate_of(audit: Audit, protocol: Mapping[str, Any] | None = None) -> Certificate:
    """The certificate of a decided audit, which its checker has proved.

    protocol: the fields of the protocol that releases what was audited, if it is to be named.

    Raises NotCertifiedError for an UNDECIDED audit, and for what the checker cannot re-establish.
    """
    if audit.verdict is Verdict.UNDECIDED:
        raise NotCertifiedError(f"an UNDECIDED audit has no certificate: {audit.note}")
    uses, claim, verdict = compose(audit.mechanism).uses, audit.claim, audit.verdict
    for use in with_user_first(uses):
        use_fields(use)  # else nothing that could be proved has a name
    on_grid = claim.of_losses and compose(audit.mechanism).times > 1 and any(map(has_cells, uses))
    ways = directions(audit) if verdict is Verdict.REFUTED else [{}]
    left, reason = ends(audit, on_grid), ""
    while left:
        end = left.pop(0)
        grid = {"step": step(audit, end)} if on_grid else {}
        for way in ways:
            found = _proved(uses, claim, verdict, end, way | grid, protocol)
            if isinstance(found, Certificate):
                return found
            reason = found
        if NO_LATTICE in reason and not on_grid:
            on_grid, left = True, ends(audit, True)
    raise NotCertifiedError(f"no certificate: {reason}")


def _proved(
    uses: Sequence[Use],
    claim: Guarantee,
    verdict: Verdict,
    end: str,
    hints: Mapping[str, Any],
    protocol: Mapping[str, Any] | None = None,
) -> Certificate | str:
    """The certificate with this end, if its checker proves it, or why it does not."""
    measured = {"lower": "0", "upper": end}
    if verdict is Verdict.REFUTED:
        measured = {"lower": end, "upper": "inf"}
    content = _stated(uses, claim, verdict, measured, protocol)
    limit = time_left()
    try:
        named = choices(content | {"hints": hints}, SECONDS if limit == math.inf else limit)
    except (OpenError, OutOfTimeError) as error:
        return str(error)
    except CertificateError as error:
        raise NotCertifiedError(f"no certificate: {error}") from error
    return _sealed(content | {"hints": named})


def certificate_stating(
    mechanism: Mechanism, claim: Guarantee, protocol: Mapping[str, Any]
) -> Certificate | None:
    """The certificate of a claim that its checker verifies, without an audit; None if it cannot."""
    bound = decimal_text(claim.bound)
    found = _proved([Use(mechanism, 1)], claim, Verdict.VERIFIED, bound, {}, protocol)
    return found if isinstance(found, Certificate) else None


def _stated(
    uses: Sequence[Use],
    claim: Guarantee,
    verdict: Verdict,
    measured: Mapping[str, str],
    protocol: Mapping[str, Any] | None,
) -> dict[str, Any]:
    named = {} if protocol is None else {"protocol": dict(protocol)}
    uses = with_user_first(uses)
    content = {
        "format": FORMAT,
        "version": VERSIONS[-1],
        **setting_fields(uses),
        "uses": [use_fields(use) for use in uses],
        "claim": claim.fields(),
        "verdict": verdict.name,
        "measured": measured,
        "hints": {},
        **named,
        "made": made_fields(),
    }
    return _sealed(content).content


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


def _said(fields: Mapping[str, Any]) -> str:
    """The fields of a certificate in one line."""
    return ", ".join(
        f"{name} {f'({_said(held)})' if isinstance(held, Mapping) else held}"
        for name, held in fields.items()
    )


def _written(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
