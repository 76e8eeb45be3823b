"""A corpus of certificates: true ones that stay valid, and forged ones that never become so.

`certificates.jsonl` has one a line, with the seconds that its check took; `forgeries.jsonl` names
one of these, a place in it and what a forger wrote there: the digest is made to fit. Every forgery
was found to be false by the prover, which shares no code with the checker.

usage (in tests/): python -m golden.corpus certificates [--seed 0] [--seconds 60] > rows.jsonl
                   python -m golden.corpus forgeries [--count 2000] [--seed 0] > rows.jsonl
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from certificate_mutants import falsehood
from certificates import edited, others, places
from golden.draw import drawn
from golden.reading import FOLDER, composition

import exactdp
from exactdp.verify.checker import check

CERTIFICATES, FORGERIES = FOLDER / "certificates.jsonl", FOLDER / "forgeries.jsonl"
CLAIMS = ("pure:1", "approx:1,1e-6", "rdp:2,1", "zcdp:1", "gdp:1")
_LATER = ("made", "note", "digest")  # fields that the first version did not have
_QUICK = 0.2  # seconds of a check in the quick tests


def certificates() -> list[dict[str, Any]]:
    """Rows: the certificate, its name in words, the seconds of its check."""
    return [json.loads(line) for line in CERTIFICATES.read_text(encoding="utf-8").splitlines()]


def forgeries() -> list[dict[str, Any]]:
    """Rows: which certificate by its number, the place that is changed, and its new value."""
    return [json.loads(line) for line in FORGERIES.read_text(encoding="utf-8").splitlines()]


def is_quick(row: dict[str, Any]) -> bool:
    """Whether its check took little time."""
    return bool(row["seconds"] <= _QUICK)


def first_version(content: dict[str, Any]) -> dict[str, Any]:
    """The same in the first version's words."""
    return {key: value for key, value in content.items() if key not in _LATER} | {"version": 1}


def _near(measured: exactdp.Enclosure, sign: int) -> Fraction | None:
    """A bound that is just true (1) or just false (-1), in few digits."""
    end = measured.upper if sign > 0 else measured.lower
    if end == Decimal("Infinity") or not end:
        return None
    off = Fraction(end) * (1 + sign * Fraction(1, 100))
    return Fraction(f"{float(off):.4g}")


def _claimed(claim: str, bound: Fraction) -> str:
    kind, _, numbers = claim.partition(":")
    parts = numbers.split(",")
    own = [parts[0], str(bound)] if kind == "rdp" else [str(bound), *parts[1:]]
    return f"{kind}:" + ",".join(own)


def _made(releases: str, claim: str) -> Iterator[dict[str, Any]]:
    released = composition(releases)
    measured = exactdp.audit(released, claim).measured
    for sign in (1, -1):
        bound = _near(measured, sign)
        if bound is None:
            continue
        asked = _claimed(claim, bound)
        try:
            content = exactdp.certify(released, asked).content
        except exactdp.NotCertifiedError as error:
            print(f"no certificate: {releases} {asked}: {error}", file=sys.stderr)
            continue
        for told in (content, first_version(content)):
            start = time.process_time()
            if check(told).valid:
                seconds = round(time.process_time() - start, 2)
                yield {"releases": releases, "claim": asked, "seconds": seconds, "content": told}


def _listed(releases: str, claim: str) -> list[dict[str, Any]]:
    return list(_made(releases, claim))


def _told(make: Callable[[], Any], answer: Connection) -> None:
    try:
        answer.send(make())
    except Exception as error:
        print(f"failed: {type(error).__name__}: {error}", file=sys.stderr)
        answer.send(None)


def apart(make: Callable[[], Any], seconds: float) -> Any:
    """What this gives, in a process of its own; None where it takes longer."""
    context = get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_told, args=(make, there))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(seconds) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def _draw_certificates(seed: int, seconds: float) -> None:
    rng, seen = random.Random(seed), set[str]()
    for row in drawn(seed):
        if row.releases in seen or rng.random() < 0.6:
            continue
        seen.add(row.releases)
        claim = rng.choice(CLAIMS)
        for one in apart(partial(_listed, row.releases, claim), seconds) or ():
            print(json.dumps(one, ensure_ascii=False), flush=True)


def _draw_forgeries(seed: int, count: int, seconds: float) -> None:
    rng, held, drawn_so_far = random.Random(seed), certificates(), 0
    quick = [index for index, row in enumerate(held) if is_quick(row)]
    while drawn_so_far < count:
        index, own = rng.choice(quick), rng.random()
        make = partial(_forged, held[index]["content"], own)
        path, value, wrong = apart(make, seconds) or ((), None, None)
        if wrong:
            drawn_so_far += 1
            row = {"of": index, "place": path, "value": value, "false": wrong}
            print(json.dumps(row, ensure_ascii=False), flush=True)


def _forged(content: dict[str, Any], seed: float) -> tuple[Any, Any, str | None]:
    rng = random.Random(seed)
    path, old = rng.choice([one for one in places(content) if one[0][0] not in _LATER])
    value = rng.choice([one for one in others(old) if one != old])
    forged = edited(content, path, value)
    try:
        wrong = falsehood(forged)
    except Exception as error:  # the prover cannot even read it
        wrong = f"{type(error).__name__}"
    if wrong and check(forged).valid:
        raise AssertionError(f"the checker accepts {json.dumps(forged)}, though {wrong}")
    return path, value, wrong


@cache
def forged(index: int) -> dict[str, Any]:
    """What the forger wrote."""
    row = forgeries()[index]
    return edited(certificates()[row["of"]]["content"], tuple(row["place"]), row["value"])


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("certificates", "forgeries"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    if asked.what == "certificates":
        _draw_certificates(asked.seed, asked.seconds)
    else:
        _draw_forgeries(asked.seed, asked.count, asked.seconds)


if __name__ == "__main__":
    main()
