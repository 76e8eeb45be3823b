"""What Coq's kernel needs for theorems, and the largest that it decides in a minute.

    python benchmarks/kernel.py [--largest] [--only WORD]

For each theorem: seconds of the processor and the most memory of `coqc`, with 1.5 s and 440 MB for
loading Coq's real numbers, and the file's size. Every claim is within 1e-10 of the boundary. With
`--largest` instead, each family's parameter is raised until the seconds exceed a minute.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from exactdp.accounting.composition.composed import Composition, compose
from exactdp.cli.options import read_uses
from exactdp.verify import audit, parse_claim
from exactdp.verify.kernel import theorem_of
from exactdp.verify.kernel.coq import compiled, find_coq, required_by, sources
from exactdp.verify.kernel.extracted import PROGRAM, build, kept
from exactdp.verify.kernel.forms import FORMS
from exactdp.verify.kernel.theorem import ALLOWED, axioms_in

LIMIT = 60  # seconds of one theorem
LOOP = 20_000_000  # squares that tell how fast the machine is
CLAIMS: Sequence[tuple[str, str]] = (
    ("discrete-laplace:epsilon=0.1", "pure:0.1"),
    ("binomial:trials=62,probability=1/2", "approx:1,1e-5"),
    ("binomial:trials=61,probability=1/2", "approx:1,1e-5"),
    ("randomized-response:epsilon=1*48", "delta:1e-6"),
    ("discrete-gaussian:sigma2=100", "delta:1e-6"),
    ("pmf:file={pair}", "delta:1e-2"),
    ("skellam:variance=100", "delta:1e-6"),
    ("discrete-laplace:epsilon=0.1*100", "delta:1e-6"),
    ("discrete-laplace:scale=10,sensitivity=10*20", "delta:1e-6"),
    ("discrete-laplace:epsilon=0.1*10 + randomized-response:epsilon=0.5*8", "delta:1e-6"),
    ("discrete-laplace:epsilon=0.1*10 + randomized-response:epsilon=0.5*8", "pure:5"),
    ("discrete-gaussian:sigma2=100*1000", "zcdp:5"),
    ("discrete-gaussian:sigma2=100*1000", "rdp:2,9.9999999999"),
    ("@docs/census_2020_persons.txt", "zcdp:293764/114921"),
    ("@docs/census_2020_persons.txt", "approx:17.15,1e-10"),
    ("discrete-gaussian:sigma2=4,neighbours=add-remove,poisson=0.01*1000", "approx:0.686186,1e-5"),
    (
        "discrete-gaussian:sigma2=10000,l2=50,neighbours=add-remove,poisson=0.01*1000",
        "approx:0.686186,1e-5",
    ),
)
FAMILIES: Mapping[str, tuple[Callable[[int], str], str, int]] = {  # spec, claim, where to begin
    "fair bits": (lambda n: f"binomial:trials={n},probability=1/2", "delta:1e-5", 8_000),
    "binomial": (lambda n: f"binomial:trials={n},probability=1/3", "delta:1e-5", 1_000),
    "randomized response": (lambda n: f"randomized-response:epsilon=0.1*{n}", "delta:1e-6", 2_000),
    "discrete Laplace uses": (lambda n: f"discrete-laplace:epsilon=0.1*{n}", "delta:1e-6", 500),
    "discrete Gaussian sigma2": (lambda n: f"discrete-gaussian:sigma2={n}", "delta:1e-6", 160_000),
    "Skellam variance": (lambda n: f"skellam:variance={n}", "delta:1e-6", 300_000),
    "outcomes of a pair": (lambda n: f"pmf:file={{{n}}}", "delta:1e-2", 8_000),
}


@dataclass(frozen=True)
class Cost:
    """What a theorem took; None where the time ended."""

    verdict: str
    claim: str
    seconds: float
    megabytes: float
    size: int

    @property
    def row(self) -> str:
        digits = 3 if self.seconds < 1 else 1 if self.seconds <= 100 else 0
        seconds = f"{self.seconds:.{digits}f}"
        return f"{self.claim} {self.verdict} | {seconds} | {self.megabytes:.0f} | {self.size:,}"


def theorems(spec: str, claim: str, folder: Path) -> list[str]:
    """The theorem of a claim; of `delta:D` two, at an epsilon 1e-10 above the truth and below."""
    uses = read_uses([_filled(each, folder) for each in spec.split(" + ")])
    listed = compose(*((named.mechanism, times) for named, times in uses))
    claims = _around(listed, claim) if claim.startswith("delta:") else [claim]
    return [theorem_of(audit(listed, parse_claim(each))) for each in claims]


def _around(listed: Composition, claim: str) -> list[str]:
    delta = claim.removeprefix("delta:")
    found = listed.epsilon(delta)
    unit = 10**10
    above = -(-Fraction(found.upper) * unit // 1)
    below = Fraction(found.lower) * unit // 1
    return [f"approx:{Fraction(end, unit)},{delta}" for end in (above, below)]


def _filled(spec: str, folder: Path) -> str:
    """{pair}: three outcomes; {n}: so many, of 60 bits."""
    if "{" not in spec:
        return spec
    name = spec.split("{")[1].rstrip("}")
    file = folder / f"{name}.csv"
    if name == "pair":
        file.write_text("outcome,p,q\na,0.5,0.25\nb,0.3,0.45\nc,0.2,0.3\n")
    else:
        count, draw = int(name), random.Random(1)
        unit = 10**18
        weights = [draw.randrange(unit // (2 * count), unit // count) for _ in range(count - 1)]
        weights.append(unit - sum(weights))
        rows = zip(weights, weights[::-1], strict=True)
        lines = (f"{i},{p}/{unit},{q}/{unit}\n" for i, (p, q) in enumerate(rows))
        file.write_text("outcome,p,q\n" + "".join(lines))
    return f"pmf:file={file}"


def cost(text: str, limit: float | None = None, extracted: bool = False) -> Cost | None:
    """Compile a theorem; None where it does not end in time. It must rest on the four axioms.

    extracted: by the native checker.
    """
    title = text.split("version 1: ")[1].split(" *)")[0]
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "Verdict.v").write_text(text)
        if extracted:
            command = [str(kept() / PROGRAM), "Verdict.v"]
        else:
            command = [find_coq().path, "-q", "-noglob", "-w", "none"]
            command += ["-R", str(compiled(required_by(text))), "ExactDP", "Verdict.v"]
        if limit is not None:  # seconds of the processor, as what is measured
            command = ["sh", "-c", f'ulimit -t {limit:.0f}; exec "$@"', "sh", *command]
        process = subprocess.Popen(command, cwd=made, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    if status:
        return None
    assert output == "valid\n" if extracted else set(axioms_in(output)) <= set(ALLOWED)
    statement = text.split("Theorem verdict :")[1].split(".\nProof")[0].strip()
    claim = f"{title.rpartition(',')[0]}: {statement[-60:]}"
    seconds = used.ru_utime + used.ru_stime
    return Cost(title.rpartition(" ")[2], claim, seconds, used.ru_maxrss / 1024, len(text))


def largest(family: str, folder: Path, extracted: bool) -> None:
    """Raise a family's parameter by a fifth until its verified claim no longer ends in time."""
    spec, claim, number = FAMILIES[family]
    while True:
        found = cost(theorems(spec(number), claim, folder)[0], LIMIT, extracted)
        if found is None:
            print(f"{family} {number:,} | no", flush=True)
            return
        print(f"{family} {number:,} | {found.seconds:.1f} | {found.megabytes:.0f}", flush=True)
        number += number // 5


def counted() -> None:
    """Lines of what is to be trusted, of the library and of what writes theorems."""
    lines = {name: len(text.splitlines()) for name, text in sources().items()}
    trusted = lines["Definitions"] + lines["Laws"]
    package = Path(__file__).parent.parent / "verify" / "kernel"
    code = sum(len(file.read_text().splitlines()) for file in package.glob("*.py"))
    print(f"definitions {lines['Definitions']}, laws {lines['Laws']}, the rest of the library")
    print(f"{sum(lines.values()) - trusted:,}; forms of theorems {len(FORMS)}; Python {code:,}")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--largest", action="store_true")
    asked.add_argument("--only", default="")
    asked.add_argument("--extracted", action="store_true", help="by the native checker")
    given = asked.parse_args()
    begun = time.process_time()
    for each in range(LOOP):
        each * each
    print(f"{LOOP:,} squares in Python: {time.process_time() - begun:.1f} s")
    counted()
    if given.extracted:
        build()
    else:
        compiled(list(sources()))
    with tempfile.TemporaryDirectory() as made:
        if given.largest:
            for family in FAMILIES:
                if given.only in family:
                    largest(family, Path(made), given.extracted)
            return
        for spec, claim in CLAIMS:
            if given.only in spec:
                for text in theorems(spec, claim, Path(made)):
                    found = cost(text, extracted=given.extracted)
                    assert found is not None, spec
                    print(f"{spec} | {found.row}", flush=True)


if __name__ == "__main__":
    main()
