"""What a certificate says, in words: of which mechanism, of which neighbours, and what of it."""

from __future__ import annotations

from dataclasses import fields
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import singledispatch

from .arithmetic import INFINITY, End
from .binomial import Logarithm
from .keys import Optimal, Thresholded
from .laws import FiniteLaw, Law
from .mechanisms import (
    Additive,
    Allocation,
    Continuous,
    Family,
    Finite,
    FixedSize,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
    Vector,
)
from .notions import NOTIONS
from .reach import Reach
from .reading import Statement
from .releases import Stream, Table, Toeplitz, Tree
from .rounded import Rounded
from .scenarios import is_fixed, neighbours_of
from .shape import number_text as _text

UNPROVED = "it says, which is not proved:"  # before the lines of what is not valid
_DIGITS = 17
_CLAIMED_DIGITS = 60  # of a claim: what is close to it must not read the same


def described(statement: Statement) -> list[str]:
    """A few lines: what is released, who neighbours are, what is claimed and what is true."""
    lines = [
        f"{_mechanism(mechanism)}{f', used {times:,} times' if times > 1 else ''}"
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
            f"{_law(made.share)}, {made.trust}, precision {made.precision}; "
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
    exact = Fraction(end)
    context = Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    near = context.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    text = format(near.normalize(context), "f" if -8 < near.adjusted() < 15 else "")
    return text.lower()


@singledispatch
def _mechanism(mechanism: Mechanism) -> str:
    raise TypeError(f"no words for {type(mechanism).__name__}")


@_mechanism.register
def _(mechanism: Additive) -> str:
    modulus = "" if mechanism.modulus is None else f", reduced mod {mechanism.modulus}"
    return (
        f"an integer query of sensitivity {mechanism.sensitivity} plus "
        f"{_law(mechanism.law)}{modulus}"
    )


@_mechanism.register
def _(mechanism: Continuous) -> str:
    name, scale = ("Gaussian", "sigma") if mechanism.is_gaussian else ("Laplace", "scale")
    return (
        f"a real query of sensitivity {_text(mechanism.sensitivity)} plus {name} noise "
        f"({scale}{' squared' * mechanism.root} {_text(mechanism.scale)})"
        f"{_taking_part(mechanism.rate)}"
    )


@_mechanism.register
def _(mechanism: Thresholded) -> str:
    told = "which of them reach" if mechanism.names else "each told where it reaches"
    noise = _mechanism(mechanism.noise)
    return (
        f"counts of keys, a user in {mechanism.keys:,} of them, each {noise}; "
        f"{told} {_text(mechanism.threshold)}{_taking_part(mechanism.rate)}"
    )


@_mechanism.register
def _(mechanism: Optimal) -> str:
    return (
        f"the names of keys by the optimal rule, a user in {mechanism.keys:,} of them, each of "
        f"epsilon {_text(mechanism.epsilon)} and delta {_text(mechanism.delta)}"
    )


@_mechanism.register
def _(mechanism: Family | Finite) -> str:
    return mechanism.said()


@_mechanism.register
def _(mechanism: Allocation) -> str:
    return (
        f"{mechanism.steps:,} steps of a real query of sensitivity "
        f"{_text(mechanism.sensitivity)} plus Gaussian noise (sigma {_text(mechanism.scale)}), "
        f"each user taking part in {mechanism.taken:,} of them, chosen at random"
    )


@_mechanism.register
def _(mechanism: Vector) -> str:
    modulus = "" if mechanism.modulus is None else f", reduced mod {mechanism.modulus}"
    reach = mechanism.reach
    moved = _rounded(reach) if isinstance(reach, Rounded) else _reach(reach)
    return (
        f"{moved}, plus {_law(mechanism.law)} in "
        f"every coordinate{modulus}{_taking_part(mechanism.rate)}"
    )


@_mechanism.register
def _(mechanism: Sampled) -> str:
    return _mechanism(mechanism.mechanism) + _taking_part(mechanism.rate)


@_mechanism.register
def _(mechanism: FixedSize) -> str:
    batches = f"{mechanism.size:,} of {mechanism.population:,} users take part"
    return f"{_mechanism(mechanism.mechanism)}, {batches}, all batches as likely"


@_mechanism.register
def _(mechanism: Response) -> str:
    revealed = f", revealed with probability {_text(mechanism.delta)}" if mechanism.delta else ""
    return f"randomized response (epsilon {_text(mechanism.epsilon)}){revealed}"


@_mechanism.register
def _(mechanism: TwoLaws) -> str:
    slack = f", known up to slack {_text(mechanism.slack)}" if mechanism.slack else ""
    return f"two distributions on {len(mechanism.p)} outcomes for two named datasets{slack}"


@_mechanism.register
def _stream(stream: Stream) -> str:
    matrix, who, noise = stream.matrix, stream.who, stream.noise
    name = {Tree: "a binary tree", Table: "a table"}.get(type(matrix), "a Toeplitz matrix")
    if isinstance(matrix, Tree) and matrix.restart < matrix.steps:
        name += f" begun anew every {matrix.restart:,}"
    if isinstance(matrix, Toeplitz):
        name = "a BLT" if matrix.terms else "the root of prefix sums"
    apart = f"{'exactly' if who.exactly else 'at least'} {who.separation:,} apart"
    often = f"at most {who.times:,} of them, {apart}" if who.times > 1 else "one of them"
    if isinstance(noise, Fraction):
        whole, added = "", f"Gaussian noise (sigma {_text(noise)})"
    else:
        whole, added = "whole ", _law(noise)
    return (
        f"a stream C x + z of {matrix.steps:,} steps, C {name}, z {added}, x "
        f"moved by {whole}vectors of at most {_text(stream.l2)} in L2 in {often}"
    )


def _reach(reach: Reach) -> str:
    norms = (("L2", reach.l2), ("L1", reach.l1), ("Linf", reach.linf))
    bounds = " and ".join(f"{_text(most)} in {name}" for name, most in norms if most is not None)
    count = reach.dimension
    where = "any dimension" if count is None else f"{count:,} dimension{'s' if count > 1 else ''}"
    return f"integer vectors moved by at most {bounds}, {where}"


def _rounded(reach: Rounded) -> str:
    ways = {
        "stochastic": "up or down at random without bias",
        "nearest": "to the nearest integer, halves up",
    }
    found = ways.get(reach.rounding)
    if reach.beta is not None:
        found = f"{ways['stochastic']}, repeated until the norm is within a bound that is missed "
        found += f"with probability at most {_text(reach.beta)}"
    count = f"{reach.dimension:,} dimension{'s' if reach.dimension > 1 else ''}"
    return (
        f"integer vectors, a user's part of which is a real vector of at most {_text(reach.norm)} "
        f"in L2, {count}, each coordinate rounded {found}: then of a squared L2 norm of at most "
        f"{reach.squared_bound:,}"
    )


def _taking_part(rate: Fraction) -> str:
    return "" if rate == 1 else f", each user taking part with probability {_text(rate)}"


def _law(law: Law) -> str:
    if isinstance(law, FiniteLaw):
        return f"noise on {len(law.outcomes)} integers"
    name = "".join(f" {each.lower()}" if each.isupper() else each for each in type(law).__name__)
    numbers = []
    for each in fields(law):  # type: ignore[arg-type]
        value = getattr(law, each.name)
        if isinstance(value, bool):
            numbers += [each.name] if value else []
        elif isinstance(value, Logarithm):
            argument = f"log({_text(value.argument)})"
            numbers.append(f"{each.name} {_text(value.factor)} {argument}")
        else:
            numbers.append(f"{each.name} {_text(Fraction(value))}")
    return f"{name.strip()} noise ({', '.join(numbers)})"


def _claimed(number: Fraction) -> str:
    return _text(number, _CLAIMED_DIGITS)
