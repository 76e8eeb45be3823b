"""What a certificate says: read from its fields, of which any odd one is refused; and in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any

from . import shape
from .arithmetic import INFINITY, Enclosure, End
from .hints import NONE, Hints, read_hints
from .kinds import read_use
from .mechanisms import Mechanism
from .notions import NOTIONS
from .protocol import Protocol, read_protocol
from .scenarios import Uses, is_fixed, neighbours_of
from .shape import CertificateError

FORMAT = "exactdp certificate"
VERSIONS = 1, 2, 3  # what the second adds:
_ADDED = ("made", "note", "digest")
_SETTING = ("neighbours", "orientation")  # both or neither
VERDICTS = ("VERIFIED", "REFUTED")
UNPROVED = "it says, which is not proved:"  # before the lines of what is not valid
_DIGITS = 17
_CLAIMED_DIGITS = 60  # of a claim: what is close to it must not read the same
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.A)  # UTC, to the second
_LONGEST_NOTE, _LONGEST_NAME = 1000, 100  # characters


@dataclass(frozen=True)
class Made:
    """Who says so: the program and its version, when (UTC), and what they noted. Nothing proves it.

    at, note: empty where there is none.
    """

    by: str
    version: str
    at: str
    note: str


@dataclass(frozen=True)
class Statement:
    """What a certificate says.

    made and digest: not of the first version.
    """

    uses: tuple[tuple[Mechanism, int], ...]
    kind: str
    numbers: Mapping[str, Fraction]
    verdict: str
    measured: Enclosure
    hints: Hints = NONE
    version: int = 3
    protocol: Protocol | None = None
    made: Made | None = None
    digest: str | None = None

    @property
    def bound(self) -> Fraction:
        """What the claim says is not exceeded."""
        return self.numbers[self.bounded]

    @property
    def bounded(self) -> str:
        """The name of that number."""
        return NOTIONS[self.kind].bounded

    def end(self, above: bool) -> tuple[Uses, str, Mapping[str, Fraction], End, bool, Hints]:
        """What is to be proved of one end of what is measured (`proof`)."""
        return self.uses, self.kind, self.numbers, self.measured[above], above, self.hints


def read(data: object) -> Statement:
    """Read a certificate. Raises CertificateError for what is not one."""
    shape.look_over(data)
    fields = shape.read_fields(data, "certificate", "format", "version", "uses", "claim", "verdict",
                         "measured", "hints", *_others(data))  # fmt: skip
    if fields["format"] != FORMAT or type(fields["version"]) is not int:
        raise CertificateError(f'format must be "{FORMAT}" and version a whole number')
    if fields["version"] not in VERSIONS:
        raise CertificateError("version must be 1, 2 or 3")
    uses = tuple(read_use(each) for each in shape.read_list(fields["uses"], "uses", 100))
    if "neighbours" in fields:
        _look_at_setting(fields, uses)
    elif any(hasattr(each, "neighbours") for each, _ in uses):
        raise CertificateError("neighbours and orientation must be named")
    kind, numbers = read_claim(fields["claim"])
    verdict = shape.read_choice(fields, "verdict", VERDICTS)
    ends = {"lower": _end, "upper": _end}
    low, high = shape.read_each(fields["measured"], "measured", ends).values()
    if not 0 <= low <= high:
        raise CertificateError("measured must have 0 <= lower <= upper")
    hints = read_hints(fields["hints"], [one for one, _ in uses])
    protocol = read_protocol(fields["protocol"]) if "protocol" in fields else None
    made = read_made(fields) if "made" in fields else None
    return Statement(
        uses, kind, numbers, verdict, (low, high), hints, fields["version"], protocol, made,
        fields.get("digest"),
    )  # fmt: skip


def _end(fields: Mapping[str, Any], name: str) -> End:
    return INFINITY if fields[name] == "inf" else shape.read_number(fields[name], name)


def _others(data: object) -> tuple[str, ...]:
    """The fields of a certificate besides those that each has, by its version.

    Certificates of the first version that name a protocol say version 2; they have no digest.
    """
    setting = _SETTING if shape.named(data, *_SETTING) else ()
    version = shape.held(data).get("version")
    if version not in (2, 3):
        return setting
    if version == 2 and shape.named(data, "protocol") and not shape.named(data, *_ADDED):
        return "protocol", *setting
    return *_SETTING, "made", "digest", *shape.named(data, "protocol", "note")


def _look_at_setting(fields: Mapping[str, Any], uses: Sequence[tuple[Mechanism, int]]) -> None:
    """Is what it says of the neighbours what is going to be checked?"""
    if [fields["neighbours"]] != [*neighbours_of(uses)]:
        raise CertificateError("neighbours must be those of all uses")
    if fields["orientation"] != ("fixed" if is_fixed(uses) else "free"):
        raise CertificateError(
            "orientation must be fixed where a use is a pair or samples, and free elsewhere"
        )


def read_claim(data: object) -> tuple[str, dict[str, Fraction]]:
    """Read a claim: its kind and its numbers."""
    wrong = f"claim kind must be one of {', '.join(NOTIONS)}"
    kind = shape.read_choice(data, "kind", NOTIONS, wrong)
    readers = dict.fromkeys(NOTIONS[kind].numbers, shape.number())
    numbers = shape.read_each(data, "claim", readers, "kind")
    if numbers.get("order", Fraction(2)) <= 1 or numbers.get("delta", Fraction(0)) > 1:
        raise CertificateError("order must be above 1 and delta at most 1")
    return kind, numbers


def read_made(fields: Mapping[str, Any]) -> Made:
    """Read the fields that the second version adds. Raises CertificateError for odd ones."""
    given = fields["made"]
    made = shape.read_fields(given, "made", "by", "version", *shape.named(given, "at"))
    if not isinstance(fields["digest"], str) or not re.fullmatch("[0-9a-f]{64}", fields["digest"]):
        raise CertificateError("digest must be 64 hexadecimal digits, small letters")
    by, version = (
        shape.read_readable(made[name], name, 1, _LONGEST_NAME) for name in ("by", "version")
    )
    at = _time(made["at"]) if "at" in made else ""
    return Made(by, version, at, read_note(fields["note"]) if "note" in fields else "")


def read_note(text: object) -> str:
    """Read what people noted: one line. Raises CertificateError for anything else."""
    return shape.read_readable(text, "note", 1, _LONGEST_NOTE)


def _time(text: object) -> str:
    wrong = CertificateError("at must be a time in UTC, to the second: 2026-01-31T23:59:59Z")
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        raise wrong
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise wrong from None
    return text


# -- in words -------------------------------------------------------------------------------------


def described(statement: Statement) -> list[str]:
    """A few lines: what is released, who neighbours are, what is claimed and what is true."""
    lines = [
        f"{mechanism.described()}{f', used {times:,} times' if times > 1 else ''}"
        for mechanism, times in statement.uses
    ]
    way = "each direction by itself" if is_fixed(statement.uses) else "both directions"
    added = "add-remove" in neighbours_of(statement.uses)
    differ = "one user added or removed" if added else "one user's data replaced by other data"
    lines.append(f"neighbours: {differ}; {way}")
    numbers = {name: _claimed(number) for name, number in statement.numbers.items()}
    lines.append(f"{statement.verdict}: {NOTIONS[statement.kind].words.format(**numbers)}")
    low, high = map(end_text, statement.measured, (ROUND_FLOOR, ROUND_CEILING))
    beyond = ""
    if statement.verdict == "REFUTED":
        if low != "inf" and Fraction(low) <= statement.bound:
            low = end_text(statement.measured[0], ROUND_FLOOR, _CLAIMED_DIGITS)
        excess = end_text(statement.measured[0] - statement.bound, ROUND_FLOOR, 2)
        beyond = f", above what is claimed by at least {excess}"
    name = statement.bounded
    lines.append(f"the least {name} for which that holds lies in [{low}, {high}]{beyond}")
    if statement.protocol is not None:
        made = statement.protocol
        lines.append(
            f"released by {made.users:,} users, each with a share of the noise, "
            f"{made.share.described()}, {made.trust}, precision {made.precision}; "
            f"{made.dropout:,} may drop out and {made.collusion:,} may tell what they drew"
        )
        if made.masks:
            k, t, floor = made.masks
            lines.append(f"summed under masks: {k} neighbours each, {t} needed, floor {floor}")
    if statement.made is not None:
        by = statement.made
        lines.append(f"made by {by.by} {by.version}{f', {by.at}' if by.at else ''}; not checked")
        if by.note:
            lines.append(f"note, not checked: {by.note}")
    return lines


def claim_text(statement: Statement) -> str:
    """The claim as one writes it: approx:1,0.000001."""
    return f"{statement.kind}:{','.join(map(_claimed, statement.numbers.values()))}"


def end_text(end: End, rounding: str, digits: int = _DIGITS) -> str:
    """An end of what is measured; of a number that is too long, its first digits, so rounded."""
    if end == INFINITY:
        return "inf"
    return shape.rounded_text(Fraction(end), digits, rounding)[1].lower()


def _claimed(number: Fraction) -> str:
    return shape.number_text(number, _CLAIMED_DIGITS)
