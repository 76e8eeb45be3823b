"""What a certificate file says of mechanisms and protocols: all numbers in exact text.

Of a mechanism it says what its class names (`fields.schema`), but for those that are told by what
they are made of, and for tables (`_told`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, singledispatch
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

from attrs import evolve

from ..accounting.composition.composed import Use
from ..accounting.scenario import is_oriented, neighbours
from ..exact.number import ExactInput, ParameterError, decimal_text, exact, whole
from ..mechanisms import Binomial, Law, Mechanism
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.additive.shuffle import ShuffleSum
from ..mechanisms.continuous import ContinuousNoise
from ..mechanisms.fields.schema import parts, written
from ..mechanisms.local.local_families import Bits, Categories, OneBitMean, Reports
from ..mechanisms.local.local_file import Table as LocalTable
from ..mechanisms.local.randomizer import Weight
from ..mechanisms.local.shuffled import Shuffled
from ..mechanisms.matrices.columns import Endless, Table, Toeplitz, Tree
from ..mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise
from ..mechanisms.pairs.pair import FinitePair
from ..mechanisms.sampling.guaranteed import Guaranteed
from ..mechanisms.selection.key_names import KeyNames, Optimal
from ..mechanisms.selection.threshold import Thresholded
from ..protocols.aggregation import Masking
from .checker.laws import LAWS

Fields: TypeAlias = dict[str, Any]
_MOST_SHUFFLED = 5  # values of a table whose pairs the checker compares

_MIXED = "there are no certificates of lists in which the user comes first in some uses only"


class NotCertifiedError(ValueError):
    """An audit for which no certificate can be made; the message says why."""


def with_user_first(uses: Sequence[Use]) -> Sequence[Use]:
    """The same uses, told so that P is the law with the user wherever users are sampled.

    Both ways round are scenarios of either list, so that all of it may be turned.
    """
    turned = [Use(mechanism.reversed(), times) for mechanism, times in uses]
    return uses if _is_user_first(uses) or not _is_user_first(turned) else turned


def _is_user_first(uses: Sequence[Use]) -> bool:
    return all(getattr(use.mechanism, "removing", True) for use in uses)


def setting_fields(uses: Sequence[Use]) -> dict[str, str]:
    """Who neighbours are, and whether they keep their order over all uses."""
    return {
        "neighbours": neighbours(uses),
        "orientation": "fixed" if is_oriented(uses) else "free",
    }


def made_fields() -> dict[str, str]:
    """Who makes it. When is left to who asks, so that the same audit gives the same bytes."""
    return {"by": "exactdp", "version": _version()}


@cache
def _version() -> str:
    try:
        return version("exactdp")
    except PackageNotFoundError:
        return "unknown"


def time_field(at: datetime) -> str:
    """A time, in UTC to the second. Raises ParameterError for one that names no zone."""
    if at.tzinfo is None:
        raise ParameterError(f"at must name its zone, as datetime.now(UTC) does: {at}")
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def use_fields(use: Use) -> Fields:
    """A use: a mechanism, and how often."""
    return {"mechanism": mechanism_fields(use.mechanism), "times": str(use.times)}


def mechanism_fields(mechanism: Mechanism) -> Fields:
    """A mechanism with its exact parameters."""
    if not getattr(mechanism, "removing", True):
        raise NotCertifiedError(_MIXED)
    if (found := _told(mechanism)) is not None:
        return found
    kind: str | None = getattr(mechanism, "kind", None)
    if kind is None:
        name = type(mechanism).__name__
        raise NotCertifiedError(f"certificates do not know the mechanism {name}")
    return {"kind": kind, **_fields(**parts(mechanism))}


def _fields(**values: Any) -> Fields:
    """Each as it is written; what others are made of by its own fields."""
    return {name: _field(value) for name, value in values.items()}


def _field(value: Any) -> Any:
    if isinstance(value, Law):
        return law_fields(value)
    if isinstance(value, dict | list):
        return value
    return mechanism_fields(value) if hasattr(value, "pairs") else written(value)


def law_fields(law: Law) -> Fields:
    """A law by its name and parameters."""
    if law.name not in LAWS:
        raise NotCertifiedError(f"certificates do not know the distribution {type(law).__name__}")
    fields = law.fields()
    if fields is None:
        raise NotCertifiedError(f"certificates do not know the formula in {law}")
    return fields


@singledispatch
def _told(mechanism: object) -> Fields | None:
    """The fields of what its class does not name by itself; None of all else."""
    return None


@_told.register
def _(one: Thresholded) -> Fields:
    return _counts(one, "no")


@_told.register
def _(one: KeyNames) -> Fields:
    rule = one.rule
    if not isinstance(rule, Optimal):
        return _counts(evolve(rule.counts, keys=one.keys), "yes")
    return _fields(
        kind="partition-selection", epsilon=rule.epsilon, delta=rule.delta, keys=one.keys
    )


def _counts(one: Thresholded, names: str) -> Fields:
    noise = one.noise
    if isinstance(noise, ContinuousNoise):
        noise = evolve(noise, neighbours="add-remove")
    return _fields(
        kind="threshold",
        noise=noise,
        threshold=one.threshold,
        keys=one.keys,
        names=names,
        poisson=one.rate,
    )


@_told.register
def _(one: MatrixNoise | DiscreteMatrixNoise) -> Fields | None:
    matrix, who = one.stream.matrix, one.stream.who
    noise: Fields | None
    dimension: int | None = None
    if isinstance(one, MatrixNoise):
        noise = _fields(name="gaussian", sigma=one.sigma)
    else:
        noise, dimension = one.law.fields(), one.reach.dimension
    if isinstance(matrix, Endless) or (isinstance(matrix, Table) and matrix.rounded):
        return None
    if noise is None:
        return None
    return _fields(
        kind="stream",
        matrix=_matrix(matrix),
        participations=who.times,
        separation=who.separation,
        fixed=who.fixed,
        l2=one.stream.l2,
        noise=noise,
        dimension=dimension,
        neighbours=one.neighbours,
    )


def _matrix(matrix: Tree | Toeplitz | Table) -> Fields:
    if isinstance(matrix, Table):
        whole = [[int(entry) for entry in row] for row in matrix.rows.tolist()]
        lower = (row[: i + 1] for i, row in enumerate(whole))
        rows = [[decimal_text(entry * matrix.unit) for entry in row] for row in lower]
        return {"name": "table", "rows": rows}
    if isinstance(matrix, Tree):
        return _fields(name="tree", steps=matrix.steps, restart=matrix.restart)
    if matrix.terms is None:
        return _fields(name="sqrt-toeplitz", steps=matrix.steps)
    omega, theta = ([decimal_text(each[side]) for each in matrix.terms] for side in (0, 1))
    return _fields(name="blt", steps=matrix.steps, omega=omega, theta=theta)


@_told.register
def _(one: Guaranteed) -> Fields:
    bound, order = one.curve.bound, one.curve.order
    claim = _fields(kind="zcdp", rho=bound)
    if order is not None:
        claim = _fields(kind="rdp", order=order, epsilon=bound)
    return _fields(kind="guarantee", claim=claim, neighbours=one.neighbours)


@_told.register
def _(one: OneBitMean) -> Fields:
    return mechanism_fields(Categories(one.epsilon, 2))


@_told.register
def _(one: FinitePair) -> Fields:
    p, q = ([decimal_text(mass) for mass in masses] for masses in (one.p, one.q))
    return _fields(kind="pair", outcomes=list(one.outcomes), p=p, q=q, slack=one.slack)


@_told.register
def _(one: Shuffled) -> Fields | None:
    local = one.local
    if isinstance(local, Bits) and local.size is not None and local.size < 3:
        return None  # the checker compares three values
    if isinstance(local, LocalTable) and len(local.rows) > _MOST_SHUFFLED:
        return None
    return _fields(kind="shuffled", report=local, users=one.users)


@_told.register
def _(one: Bits) -> Fields:
    (on,), (off,) = _weight(one.on), _weight(one.off)
    turned = {"flipped": "yes"} if one.flipped else {}
    return {"kind": "bits", "on": on, "off": off, "hashes": str(one.hashes), **_many(one), **turned}


@_told.register
def _(one: Reports) -> Fields:
    numbers = _fields(wrong=one.half, p=one.p, q=one.q, hashes=one.hashes, reports=one.reports)
    return {"kind": "reports", **numbers, **_many(one)}


def _many(one: Bits | Reports) -> Fields:
    """How many bits are reported, where that is stated."""
    return {} if one.size is None else {"bits": str(one.size)}


@_told.register
def _(one: LocalTable) -> Fields:
    rows = [
        [entry[0] if len(entry) == 1 else entry or "0" for entry in map(_weight, row)]
        for row in one.rows
    ]
    return {"kind": "local-table", "rows": rows}


def _weight(weight: Weight) -> list[str | Fields]:
    """Its terms: numbers, or {factor, exponent}."""
    return [
        _fields(factor=factor, exponent=exponent) if exponent else decimal_text(factor)
        for exponent, factor in weight.terms
    ]


def protocol_fields(
    protocol: SumProtocol | ShuffleSum,
    dropout: int,
    collusion: int,
    relaxation: ExactInput,
    masking: Masking | None = None,
) -> Fields:
    """The section of a certificate that names the protocol, and the masks if it is to."""
    ways = _fields(
        dropout=whole(dropout, "dropout", at_least=0),
        collusion=whole(collusion, "collusion", at_least=0),
        relaxation=exact(relaxation, "relaxation", at_least=0),
    )
    if masking is not None:
        masks = {"mask-neighbours": masking.neighbours, "mask-threshold": masking.threshold}
        ways |= _fields(**masks, floor=masking.floor)
    if isinstance(protocol, ShuffleSum):
        precision, accuracy, modulus, trust = 1, 0, None, "shuffled"
        share: Law = Binomial(protocol.noise_bits, protocol.success)
    else:
        precision, accuracy, modulus = protocol.precision, protocol.accuracy, protocol.modulus
        share, trust = protocol.noise, protocol.trust.value
    said = _fields(
        users=protocol.users,
        precision=precision,
        accuracy=accuracy,
        modulus=modulus,
        share=share,
        trust=trust,
    )
    return said | ways
