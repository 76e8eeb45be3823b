"""Mutants of certificates of every kind and all versions, each as a forger would leave it.

    python tests/certificate_mutants.py [COUNT] [SECONDS] [SEED]

No false one may be accepted, none may raise, and none may take longer than it is allowed. What is
false the prover says, which shares no code with the checker: an audit of what the mutant is about.
"""

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from certificates import LAWS, mutations, reconstructed, resealed

from exactdp import CertificateError, Enclosure, ParameterError, time_limit
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.additive.protocol import SumProtocol, Trust
from exactdp.verify import audit
from exactdp.verify.checker import check
from exactdp.verify.checker.canonical import loaded
from exactdp.verify.checker.statement import read

FIRST, SECOND, THIRD = (
    sorted((Path(__file__).parent / "verify" / f"{which}_version").glob("*.json"))
    for which in ("first", "second", "third")
)
GRACE = 3.0  # seconds: a step that no clock interrupts, on a busy machine
_JUDGED = 20.0  # seconds for the prover
_BYTES = b'0123456789"{}[]:,.-e/\\\x00\xff \n'
_BAD = (ValueError, TypeError, KeyError, AssertionError, AttributeError, ArithmeticError)


def second(content: dict[str, Any]) -> dict[str, Any]:
    """The same, told in the second version."""
    told = content | {"version": 2, "note": "a note", "digest": ""}
    told |= {"made": {"by": "x", "version": "1", "at": "2026-01-01T00:00:00Z"}}
    for name, usual in (("neighbours", "replace"), ("orientation", "free")):
        told.setdefault(name, usual)
    return resealed(told)


def sources() -> dict[str, dict[str, Any]]:
    """One certificate of each kind, in each version."""
    held = {path.stem: json.loads(path.read_text()) for path in FIRST}
    later = {path.stem: json.loads(path.read_text()) for path in SECOND}
    third = {f"{path.stem} 3": json.loads(path.read_text()) for path in THIRD}
    return held | {f"{name} 2": second(content) for name, content in held.items()} | later | third


def mutants(name: str, content: dict[str, Any], count: int, seed: int) -> Iterator[bytes]:
    """So many: half of them still certificates, a quarter none, of a quarter some bytes changed."""
    drawn = random.Random(f"{seed} {name}")
    whole: list[bytes] = []
    odd: list[bytes] = []
    for one in map(resealed, chain(mutations(content), _crossed(content))):
        if (raw := _raw(one)) is not None:
            (whole if _is_read(one) else odd).append(raw)
    half, quarter = count // 2, count // 4
    chosen = drawn.sample(whole, min(len(whole), half)) + drawn.sample(odd, min(len(odd), quarter))
    yield from chosen
    raw = json.dumps(content, indent=1).encode()
    for _ in range(count - len(chosen)):
        spoilt = _spoilt(raw, drawn)
        yield _sealed(spoilt) if drawn.random() < 0.5 else spoilt


def _crossed(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """With one field of another certificate."""
    for other in sources().values():
        for name in ("uses", "claim", "measured", "verdict", "hints", "protocol"):
            if other.get(name, content.get(name)) != content.get(name):
                yield {**content, name: other[name]}


def _is_read(content: Any) -> bool:
    try:
        read(content)
    except CertificateError:
        return False
    return True


def _raw(content: Any) -> bytes | None:
    try:
        return json.dumps(content).encode()
    except (ValueError, TypeError):
        return None


def _sealed(raw: bytes) -> bytes:
    try:
        return _raw(resealed(loaded(raw))) or raw
    except CertificateError:
        return raw


def _spoilt(raw: bytes, drawn: random.Random) -> bytes:
    for _ in range(drawn.choice((1, 1, 2, 3))):
        at, kind = drawn.randrange(len(raw)), drawn.randrange(5)
        digits = [i for i in range(len(raw)) if raw[i : i + 1].isdigit()]
        if kind == 0:
            raw = raw[:at] + raw[at + 1 :]
        elif kind == 1:
            raw = raw[:at] + bytes([drawn.choice(_BYTES)]) + raw[at:]
        elif kind == 4:
            lines = raw.splitlines(keepends=True)
            lines.insert(drawn.randrange(len(lines)), drawn.choice(lines))
            raw = b"".join(lines)
        elif digits:
            at = drawn.choice(digits)
            raw = raw[:at] + bytes([drawn.choice(b"0123456789")]) + raw[at + 1 :]
    return raw


def tried(raw: bytes, seconds: float) -> tuple[str, str | None]:
    """What became of it, and what was wrong with that; None: nothing."""
    start = time.monotonic()
    try:
        content = loaded(raw)
        outcome = check(content, seconds)
    except CertificateError:
        return "not JSON", None
    except Exception as error:
        return "raised", f"{type(error).__name__}: {error}"
    took = time.monotonic() - start
    if took > seconds + GRACE:
        return "late", f"{took:.1f} s of {seconds}"
    if outcome.undecided:
        return "undecided", None
    if not outcome.valid:
        return ("refused" if outcome.reason.startswith("not a") else "not valid"), None
    wrong = falsehood(content)
    return "accepted", None if wrong is None else f"accepted, though {wrong}"


def falsehood(content: Any) -> str | None:
    """What is false in what it says, by the prover; None where that finds nothing."""
    try:
        composition, claim = reconstructed(content)
        ends = [_end(content["measured"][side]) for side in ("lower", "upper")]
        if "protocol" in content and not _releases(content):
            return "the protocol releases something else"
    except _BAD as error:
        return f"it is about nothing: {type(error).__name__}: {error}"
    low, high = ends
    follows = high <= claim.bound if content["verdict"] == "VERIFIED" else low > claim.bound
    if not follows or not 0 <= low <= high:
        return "the verdict does not follow"
    try:
        truth = _measured(composition, claim)
    except ParameterError as error:
        return f"the prover refuses it: {error}"
    return f"the truth is {truth}" if truth.upper < low or truth.lower > high else None


def _releases(content: dict[str, Any]) -> bool:
    """Does the protocol, as the library builds it, release what is certified?"""
    fields = dict(content["protocol"])
    share, ways = dict(fields.pop("share")), (fields.pop("dropout"), fields.pop("collusion"))
    masks = [fields.pop(name, None) for name in ("mask-neighbours", "mask-threshold", "floor")]
    if Fraction(fields.pop("relaxation")):
        return False
    if masks[2] is not None and Fraction(ways[0]) < Fraction(fields["users"]) - Fraction(masks[2]):
        return False
    noise = LAWS[share.pop("name")](**share)
    trust = Trust(fields.pop("trust"))
    released = SumProtocol(noise=noise, trust=trust, **fields).released(*ways)
    plain = AdditiveNoise(released.law, released.sensitivity)
    (certified,) = reconstructed(content)[0].uses
    allowed = (released, plain) if content["verdict"] == "VERIFIED" else (released,)
    return certified.times == 1 and certified.mechanism in allowed


def _end(text: str) -> Fraction | Decimal:
    return Decimal("Infinity") if text == "inf" else Fraction(text)


@cache
def _measured(composition: Any, claim: Any) -> Enclosure:
    with time_limit(_JUDGED):
        return audit(composition, claim).measured


def survey(name: str, count: int, seconds: float, seed: int) -> tuple[Counter[str], list[str]]:
    """What became of the mutants of one certificate, and every fault."""
    found: Counter[str] = Counter()
    faults = []
    for raw in mutants(name, sources()[name], count, seed):
        state, wrong = tried(raw, seconds)
        found[state] += 1
        if wrong is not None:
            faults.append(f"{name}: {wrong}: {raw[:2000]!r}")
    return found, faults


def main() -> int:
    """Print counts; exit 1 where a mutant did what none may do."""
    given = [*map(float, sys.argv[1:]), *(10_000, 2.0, 0.0)[len(sys.argv) - 1 :]]
    names = list(sources())
    each = -(-int(given[0]) // len(names))
    total: Counter[str] = Counter()
    faults: list[str] = []
    with ProcessPoolExecutor(2) as pool:
        jobs = {name: pool.submit(survey, name, each, given[1], int(given[2])) for name in names}
        for name, job in jobs.items():
            found, wrong = job.result()
            total += found
            faults += wrong
            print(f"{name}: {dict(found)}", *wrong, sep="\n  ", flush=True)
    print(f"{total.total()} mutants: {dict(total)}; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
