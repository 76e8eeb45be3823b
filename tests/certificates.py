"""Certificates as a forger leaves them: mutations, and what the prover makes of each."""

import contextlib
import copy
import hashlib
import io
import json
import math
import re
import tempfile
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from flint import fmpz_mat
from jsonschema import Draft202012Validator

import exactdp
from exactdp import Composition, Enclosure
from exactdp.accounting.composition.composed import compose
from exactdp.cli.main import main
from exactdp.exact.number import decimal_text, exact, whole
from exactdp.exact.square_root import square_root
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FixedSize,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.additive.reach import Reach, RoundedReach
from exactdp.mechanisms.additive.vector import VectorNoise
from exactdp.mechanisms.bracket import RenyiCurve
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.laws.finite import FiniteLaw
from exactdp.mechanisms.local.local_families import (
    Bits,
    Categories,
    Hadamard,
    Reports,
    Subsets,
)
from exactdp.mechanisms.local.local_file import Table as LocalTable
from exactdp.mechanisms.local.randomizer import Weight, total
from exactdp.mechanisms.local.shuffled import Shuffled
from exactdp.mechanisms.matrices.columns import Table, Tree, buffered, prefix_root
from exactdp.mechanisms.matrices.participation import Participation
from exactdp.mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise, Stream
from exactdp.mechanisms.pairs.pair import FinitePair
from exactdp.mechanisms.sampled import Sampled
from exactdp.mechanisms.sampling.allocation import Allocation
from exactdp.mechanisms.sampling.guaranteed import Guaranteed
from exactdp.mechanisms.selection.candidates import Exponential, NoisyMax, PermuteAndFlip
from exactdp.mechanisms.selection.key_names import KeyNames, Noisy, Optimal
from exactdp.mechanisms.selection.sparse_vector import SparseVector
from exactdp.mechanisms.selection.threshold import Thresholded
from exactdp.verify import Claim
from exactdp.verify.guarantee import NOTIONS


def certified(spec: str, claim: str) -> dict[str, Any]:
    """What the certificate of a spec's audit holds."""
    return exactdp.certify(spec, claim).content


def resealed(content: Any) -> Any:
    """As a forger would leave it: with the digest of what it says now, where it has one."""
    if not (isinstance(content, dict) and "digest" in content):
        return content
    rest = {name: held for name, held in content.items() if name != "digest"}
    try:  # the canonical form is that of RFC 8785
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return {**content, "digest": hashlib.sha256(text.encode("utf-8")).hexdigest()}
    except (ValueError, RecursionError, TypeError):
        return content  # not to be written at all


def check(content: Any, seconds: float | None = 60) -> Any:
    """The checker's answer to a forger's certificate: what it accepts has the published shape."""
    outcome = exactdp.check(resealed(content), seconds)
    if outcome.valid:
        shape().validate(resealed(content))
    return outcome


def in_words(content: Any, *expected: str) -> str:
    """What the command says of a valid certificate."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main(["check", str(path), *expected]) == 0, printed.getvalue()
    return printed.getvalue()


@cache
def shape() -> Draft202012Validator:
    """The published schema, as the command prints it."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["check", "--schema"]) == 0
    return Draft202012Validator(json.loads(printed.getvalue()))


def edited(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """A copy with another value at this place."""
    found = copy.deepcopy(content)
    place = found
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return resealed(found)


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every text, number and null in it, with where it stands."""
    if isinstance(content, (dict, list)):
        pairs = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in pairs:
            yield from places(value, (*path, key))
    else:
        yield path, content


NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d{1,4})?|-?\d+/\d+")
OTHER_NAMES = ("skellam", "discrete-laplace", "pair", "additive", "rdp", "approx", "REFUTED", "x")


def mutations(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The content with one thing changed: each number in many ways, each name, each field."""
    for path, old in places(content):
        for new in others(old):
            if new != old:
                yield edited(content, path, new)
        owner = content
        for key in path[:-1]:
            owner = owner[key]
        without = copy.deepcopy(owner)
        del without[path[-1]]
        yield edited(content, path[:-1], without) if path[:-1] else without


def others(old: Any) -> Iterator[Any]:
    yield from (None, 1, 0.5, [], {}) if old is not None else ("7", "1", 0)
    if isinstance(old, str) and NUMBER.fullmatch(old):
        number = Fraction(old)
        changed = [number * 2, number / 2, number + 1, number + Fraction(1, 7), 1 / (number or 3)]
        changed += [
            number * (1 + sign * Fraction(1, 10**size)) for sign in (1, -1) for size in (2, 6)
        ]
        yield from (decimal_text(each) for each in changed)
        yield from ("0", "1", "-" + old, old[:-1], old + "1", "1" + old, "inf", "nan", "")
    elif isinstance(old, str):
        yield from OTHER_NAMES


def told(content: dict[str, Any]) -> Enclosure:
    """The two ends that it names: any exact texts, 1/3 too."""
    ends = (content["measured"][side] for side in ("lower", "upper"))
    return Enclosure(*(Decimal("Infinity") if end == "inf" else Fraction(end) for end in ends))


def reconstructed(content: dict[str, Any]) -> tuple[Composition, Claim]:
    """What a certificate is about, for the prover to judge. Raises where it is about nothing."""
    uses = [(_mechanism(use["mechanism"]), use["times"]) for use in content["uses"]]
    claim = dict(content["claim"])
    kind = NOTIONS[claim.pop("kind")]
    return compose(*uses), kind(**claim)


def _mechanism(fields: dict[str, Any]) -> Mechanism:
    fields = dict(fields)
    kind = fields.pop("kind")
    if kind == "randomized-response":
        return RandomizedResponse(**fields)
    if kind == "pair":
        columns = [tuple(fields.pop(name)) for name in ("outcomes", "p", "q")]
        return FinitePair(*columns, **fields)
    if kind == "fixed-size":
        return FixedSize(_mechanism(fields["mechanism"]), fields["size"], fields["population"])
    if kind == "allocation":
        return Allocation(**fields)
    if kind == "sampled":
        return Sampled(_mechanism(fields["mechanism"]), fields["poisson"])
    if kind == "continuous":
        rate = fields.pop("poisson")
        if "scale-squared" in fields:
            fields["scale"] = square_root(Fraction(fields.pop("scale-squared")))
        return ContinuousNoise(Shape(fields.pop("law")), **fields, rate=rate)
    if kind in FAMILIES:
        return FAMILIES[kind](fields)
    assert kind in ("additive", "vector", "rounded-vector")
    law = dict(fields.pop("law"))
    name = law.pop("name")
    if name == "finite":
        law = FiniteLaw(dict(zip(law["outcomes"], law["masses"], strict=True)))
    elif "inverted-scale" in law:
        law = DiscreteLaplace(papers.InvertedScale(Fraction(law["inverted-scale"])))
    else:
        law = LAWS[name](**law)
    if kind == "additive":
        return AdditiveNoise(law, **fields)
    if kind == "rounded-vector":
        rounding = fields["rounding"] + ("" if fields["beta"] is None else f":{fields['beta']}")
        moved = RoundedReach(fields["l2"], fields["dimension"], rounding)
        return VectorNoise(law, moved, fields["modulus"], fields["neighbours"], fields["poisson"])
    reach = Reach(*(fields.pop(name) for name in ("l2", "l1", "linf", "dimension")))
    return VectorNoise(law, reach, fields["modulus"], fields["neighbours"], fields["poisson"])


def _thresholded(fields: dict[str, Any]) -> Mechanism:
    names, noise = fields.pop("names"), _mechanism(fields.pop("noise"))
    found = Thresholded(noise, fields["threshold"], fields["keys"], fields["poisson"])
    return KeyNames(Noisy(found), found.keys) if names == "yes" else found


def _selected(fields: dict[str, Any]) -> Mechanism:
    return KeyNames(Optimal(fields["epsilon"], fields["delta"]), fields["keys"])


def _square(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    assert [len(row) for row in rows] == list(range(1, len(rows) + 1))
    return [row + [Fraction(0)] * (len(rows) - len(row)) for row in rows]


def _stream(fields: dict[str, Any]) -> Mechanism:
    matrix, noise = fields.pop("matrix"), dict(fields.pop("noise"))
    kind, name = noise.pop("name"), matrix["name"]
    sigma = noise.get("sigma", noise.get("variance", noise.get("sigma2")))
    if name == "table":
        rows = [[exact(x, "entry") for x in row] for row in matrix["rows"]]
        unit = Fraction(1, math.lcm(*(x.denominator for row in rows for x in row)))
        found = Table(fmpz_mat([[int(x / unit) for x in row] for row in _square(rows)]), unit)
    elif name == "tree":
        steps = whole(matrix["steps"], "steps", at_least=1)
        found = Tree(steps, whole(matrix["restart"], "restart", at_least=1, at_most=steps))
    elif name == "blt":
        lists = ([Fraction(x) for x in matrix[side]] for side in ("omega", "theta"))
        found = buffered(int(matrix["steps"]), *lists)
    else:
        found = prefix_root(int(matrix["steps"]))
    times = min(int(fields["participations"]), 1 + (found.steps - 1) // int(fields["separation"]))
    who = Participation(found.steps, times, fields["separation"], fields["fixed"] == "yes")
    known, l2 = found.sensitivity(who), exact(fields["l2"], "l2", above=0)
    held, neighbours = Stream(found, who, l2, known.pattern), fields["neighbours"]
    if kind == "gaussian":
        return MatrixNoise("", known.square.times(l2**2), Fraction(sigma), held, neighbours)
    law, reach = LAWS[kind](**noise), Reach(l2=l2, dimension=fields["dimension"])
    most = math.floor(Fraction(known.square.upper)) * reach.largest_square
    return DiscreteMatrixNoise("", law, reach, most, known.shifts, held, neighbours)


def _guarantee(fields: dict[str, Any]) -> Mechanism:
    claim = fields["claim"]
    bound, order = claim.get("rho", claim.get("epsilon")), claim.get("order")
    curve = RenyiCurve(Fraction(bound), None if order is None else Fraction(order))
    return Guaranteed(curve, fields["neighbours"])


def _weight(data: Any) -> Weight:
    if isinstance(data, list):
        return total(map(_weight, data))
    return (
        Weight.of(data["factor"], data["exponent"]) if isinstance(data, dict) else Weight.of(data)
    )


def _bits(fields: dict[str, Any]) -> Mechanism:
    flipped = fields.get("flipped") == "yes"
    odds = _weight(fields["on"]), _weight(fields["off"])
    return Bits(*odds, fields["hashes"], fields.get("bits"), flipped)


def _reports(fields: dict[str, Any]) -> Mechanism:
    numbers = (Fraction(fields[name]) for name in ("wrong", "p", "q"))
    return Reports(*numbers, fields["hashes"], int(fields["reports"]), fields.get("bits"))


def _local_table(fields: dict[str, Any]) -> Mechanism:
    rows = tuple(tuple(map(_weight, row)) for row in fields["rows"])
    values, reports = (tuple(map(str, range(len(each)))) for each in (rows, rows[0]))
    return LocalTable(rows, values, reports)


def _sparse_vector(fields: dict[str, Any]) -> Mechanism:
    return SparseVector(fields["epsilon"], fields["answers"], fields["share"], fields["variant"])


FAMILIES = {
    "guarantee": _guarantee,
    "categories": lambda fields: Categories(**fields),
    "subset-selection": lambda fields: Subsets(**fields),
    "hadamard-response": lambda fields: Hadamard(**fields),
    "bits": _bits,
    "reports": _reports,
    "local-table": _local_table,
    "exponential": lambda fields: Exponential(**fields),
    "noisy-max": lambda fields: NoisyMax(
        fields["scale"], fields["candidates"], fields["monotone"] == "yes"
    ),
    "shuffled": lambda fields: Shuffled(_mechanism(fields["report"]), fields["users"]),
    "permute-and-flip": lambda fields: PermuteAndFlip(**fields),
    "sparse-vector": _sparse_vector,
    "threshold": _thresholded,
    "partition-selection": _selected,
    "stream": _stream,
}


LAWS = {
    "discrete-laplace": DiscreteLaplace,
    "polya-difference": PolyaDifference,
    "skellam": Skellam,
    "discrete-gaussian": DiscreteGaussian,
    "discrete-gaussian-sum": DiscreteGaussianSum,
    "binomial": Binomial,
}
