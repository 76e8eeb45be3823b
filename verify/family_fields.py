"""What a certificate file says of the families: mechanisms that are known by others, and tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, TypeAlias

from attrs import evolve

from ..exact.number import decimal_text
from ..mechanisms.continuous import ContinuousNoise
from ..mechanisms.local.local_families import Bits, Categories, OneBitMean, Reports
from ..mechanisms.local.local_file import Table as LocalTable
from ..mechanisms.local.randomizer import Weight
from ..mechanisms.local.shuffled import Shuffled
from ..mechanisms.matrices.columns import Endless, Table, Toeplitz, Tree
from ..mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise, Stream
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.pairs.pair import FinitePair
from ..mechanisms.sampling.guaranteed import Guaranteed
from ..mechanisms.selection.key_names import KeyNames, Optimal
from ..mechanisms.selection.threshold import Thresholded

Fields: TypeAlias = dict[str, Any]
Inner: TypeAlias = Callable[[Mechanism], Fields]  # of a mechanism that it is made of
_MOST_SHUFFLED = 5  # values of a table whose pairs the checker compares


@singledispatch
def family_fields(mechanism: object, inner: Inner) -> Fields | None:
    """The fields of one of them; None for anything else."""
    return None


@family_fields.register
def _(one: Thresholded, inner: Inner) -> Fields:
    return _counts(one, "no", inner)


@family_fields.register
def _(one: KeyNames, inner: Inner) -> Fields:
    rule, keys = one.rule, one.keys
    if not isinstance(rule, Optimal):
        return _counts(evolve(rule.counts, keys=keys), "yes", inner)
    epsilon, delta = decimal_text(rule.epsilon), decimal_text(rule.delta)
    return {
        "kind": "partition-selection",
        "epsilon": epsilon,
        "delta": delta,
        "keys": str(keys),
    }


def _counts(one: Thresholded, names: str, inner: Inner) -> Fields:
    noise = one.noise
    if isinstance(noise, ContinuousNoise):
        noise = evolve(noise, neighbours="add-remove")
    return {
        "kind": "threshold",
        "noise": inner(noise),
        "threshold": decimal_text(one.threshold),
        "keys": str(one.keys),
        "names": names,
        "poisson": decimal_text(one.rate),
    }


@family_fields.register
def _(one: MatrixNoise, inner: Inner) -> Fields | None:
    noise = {"name": "gaussian", "sigma": decimal_text(one.sigma)}
    return _stream(one.stream, one.neighbours, noise, None)


@family_fields.register
def _(one: DiscreteMatrixNoise, inner: Inner) -> Fields | None:
    law, dimension = one.law.fields(), one.reach.dimension
    return _stream(one.stream, one.neighbours, law, dimension)


@family_fields.register
def _(one: Guaranteed, inner: Inner) -> Fields:
    bound, order = decimal_text(one.curve.bound), one.curve.order
    claim = {"kind": "zcdp", "rho": bound}
    if order is not None:
        claim = {"kind": "rdp", "order": decimal_text(order), "epsilon": bound}
    return {"kind": "guarantee", "claim": claim, "neighbours": one.neighbours}


@family_fields.register
def _(one: OneBitMean, inner: Inner) -> Fields:
    return inner(Categories(one.epsilon, 2))


@family_fields.register
def _(one: FinitePair, inner: Inner) -> Fields:
    masses = {name: [decimal_text(mass) for mass in getattr(one, name)] for name in ("p", "q")}
    slack = decimal_text(one.slack)
    return {"kind": "pair", "outcomes": list(one.outcomes), **masses, "slack": slack}


@family_fields.register
def _(one: Shuffled, inner: Inner) -> Fields | None:
    local = one.local
    if isinstance(local, Bits) and local.size is not None and local.size < 3:
        return None  # the checker compares three values
    if isinstance(local, LocalTable) and len(local.rows) > _MOST_SHUFFLED:
        return None
    return {"kind": "shuffled", "report": inner(local), "users": str(one.users)}


@family_fields.register
def _(one: Bits, inner: Inner) -> Fields:
    (on,), (off,) = _weight(one.on), _weight(one.off)
    turned = {"flipped": "yes"} if one.flipped else {}
    return {"kind": "bits", "on": on, "off": off, "hashes": str(one.hashes), **_many(one), **turned}


def _many(one: Bits | Reports) -> Fields:
    """How many bits are reported, where that is stated."""
    return {} if one.size is None else {"bits": str(one.size)}


@family_fields.register
def _(one: Reports, inner: Inner) -> Fields:
    numbers = {"wrong": one.half, "p": one.p, "q": one.q}
    return {
        "kind": "reports",
        **{name: decimal_text(number) for name, number in numbers.items()},
        "hashes": str(one.hashes),
        "reports": str(one.reports),
        **_many(one),
    }


@family_fields.register
def _(one: LocalTable, inner: Inner) -> Fields:
    rows = [
        [entry[0] if len(entry) == 1 else entry or "0" for entry in map(_weight, row)]
        for row in one.rows
    ]
    return {"kind": "local-table", "rows": rows}


def _weight(weight: Weight) -> list[str | dict[str, str]]:
    """Its terms: numbers, or {factor, exponent}."""
    return [
        {"factor": decimal_text(factor), "exponent": decimal_text(exponent)}
        if exponent
        else decimal_text(factor)
        for exponent, factor in weight.terms
    ]


def _stream(
    stream: Stream, neighbours: str, noise: Fields | None, dimension: int | None
) -> Fields | None:
    matrix, who = stream.matrix, stream.who
    if isinstance(matrix, Endless) or (isinstance(matrix, Table) and matrix.rounded):
        return None
    if noise is None:
        return None
    return {
        "kind": "stream",
        "matrix": _matrix(matrix),
        "participations": str(who.times),
        "separation": str(who.separation),
        "fixed": "yes" if who.fixed else "no",
        "l2": decimal_text(stream.l2),
        "noise": noise,
        "dimension": None if dimension is None else str(dimension),
        "neighbours": neighbours,
    }


def _matrix(matrix: Tree | Toeplitz | Table) -> Fields:
    if isinstance(matrix, Table):
        whole = [[int(entry) for entry in row] for row in matrix.rows.tolist()]
        lower = (row[: i + 1] for i, row in enumerate(whole))
        return {
            "name": "table",
            "rows": [[decimal_text(entry * matrix.unit) for entry in row] for row in lower],
        }
    steps = str(matrix.steps)
    if isinstance(matrix, Tree):
        return {"name": "tree", "steps": steps, "restart": str(matrix.restart)}
    if matrix.terms is None:
        return {"name": "sqrt-toeplitz", "steps": steps}
    omega, theta = ([decimal_text(each[side]) for each in matrix.terms] for side in (0, 1))
    return {"name": "blt", "steps": steps, "omega": omega, "theta": theta}
