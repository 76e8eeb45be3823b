"""What a certificate says, in words: of which mechanism, of which neighbours, and what of it."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from .arithmetic import INFINITY, End
from .notions import NOTIONS
from .reading import Statement
from .scenarios import is_fixed, neighbours_of
from .shape import number_text, rounded_text

UNPROVED = "it says, which is not proved:"  # before the lines of what is not valid
_DIGITS = 17
_CLAIMED_DIGITS = 60  # of a claim: what is close to it must not read the same


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
    low, high = map(_end, statement.measured, (ROUND_FLOOR, ROUND_CEILING))
    beyond = ""
    if statement.verdict == "REFUTED":
        if low != "inf" and Fraction(low) <= statement.bound:
            low = _end(statement.measured[0], ROUND_FLOOR, _CLAIMED_DIGITS)
        excess = _end(statement.measured[0] - statement.bound, ROUND_FLOOR, 2)
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


def _end(end: End, rounding: str, digits: int = _DIGITS) -> str:
    """An end of what is measured; of a number that is too long, its first digits, so rounded."""
    if end == INFINITY:
        return "inf"
    return rounded_text(Fraction(end), digits, rounding)[1].lower()


def _claimed(number: Fraction) -> str:
    return number_text(number, _CLAIMED_DIGITS)
