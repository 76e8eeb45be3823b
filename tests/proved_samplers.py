"""What Python draws beside the programs that Coq proves, of the same bits: outcomes, and bits read.

python tests/proved_samplers.py [COUNT]

The programs of `verify/kernel/theory/Samplers.v` are extracted to OCaml and run on the bits of a
seed, one draw after the other; Python's samplers, those of releases, get the same.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from exactdp import time_limit
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace
from exactdp.mechanisms.samplers import RandomBits, SeededBits, SystemBits, simulated_release
from exactdp.mechanisms.samplers.coins import below, coin, coin_exp
from exactdp.verify.kernel.coq import compiled
from exactdp.verify.kernel.extracted import EXTRACTION

COUNT = 1_000_000
_BITS = 2**25  # given at a time: more than a hundredth of the draws read
_ASKED = """\
From Coq Require Import ZArith.
From ExactDP Require Import Programs Coins Samplers Running.
{extraction}
Extraction "proved.ml" run below coin coin_exp laplace_noise gaussian_noise.
"""
_DRIVER = """\
(* draw FILE NAME N D COUNT: draws of the bits of a file, and how many are read by then *)

let () =
  let number i = Z.of_string Sys.argv.(i) in
  let file = open_in_bin Sys.argv.(1) in
  let text = really_input_string file (in_channel_length file) in
  let bits = 8 * String.length text in
  let next at =
    if at = bits then None
    else Some ((Char.code text.[at lsr 3] lsr (at land 7)) land 1 = 1, at + 1) in
  let draw program show =
    let rec go left at =
      if left > 0 then
        match Proved.run next (Z.of_int 1_000_000_000) program at with
        | Some (x, at) -> print_string (show x ^ " " ^ string_of_int at ^ "\\n"); go (left - 1) at
        | None -> () in
    go (int_of_string Sys.argv.(5)) 0 in
  let n, d = number 3, number 4 and bit b = if b then "1" else "0" in
  match Sys.argv.(2) with
  | "below" -> draw (Proved.below n) Z.to_string
  | "coin" -> draw (Proved.coin n d) bit
  | "coin_exp" -> draw (Proved.coin_exp n d) bit
  | "laplace" -> draw (Proved.laplace_noise n d) Z.to_string
  | "gaussian" -> draw (Proved.gaussian_noise n d) Z.to_string
  | _ -> exit 2
"""
_OWN: dict[str, Callable[[int, int], Callable[[RandomBits], Any]]] = {
    "below": lambda n, d: partial(below, n),
    "coin": lambda n, d: partial(coin, n, d),
    "coin_exp": lambda n, d: partial(coin_exp, n, d),
    "laplace": lambda n, d: simulated_release(AdditiveNoise(DiscreteLaplace(Fraction(n, d)))),
    "gaussian": lambda n, d: simulated_release(AdditiveNoise(DiscreteGaussian(Fraction(n, d)))),
}
CASES = [
    *(("below", n, 1) for n in (1, 2, 3, 1000, 10**30)),
    *(("coin", n, d) for n, d in ((0, 1), (1, 3), (7, 7), (10**20, 3 * 10**20 + 1))),
    *(("coin_exp", n, d) for n, d in ((0, 1), (1, 3), (1, 1), (7, 2), (12345, 678), (50, 1))),
    *(("laplace", n, d) for n, d in ((1, 3), (1, 1), (10, 1), (7, 3), (1000, 1), (10**9, 7))),
    *(("gaussian", n, d) for n, d in ((1, 4), (1, 1), (7, 3), (100, 1), (10**6, 1), (10**14, 3))),
]


class Counted:
    """The bits of a source, and how many were taken."""

    def __init__(self, bits: RandomBits) -> None:
        self.bits, self.taken = bits, 0

    def take(self, count: int) -> int:
        self.taken += count
        return self.bits.take(count)


def build(folder: Path) -> Path:
    """The proved programs, native."""
    with time_limit(1800):
        path = ["-R", str(compiled(["Samplers", "Running"])), "ExactDP"]
    extraction = EXTRACTION.replace("Extraction Inline needed.", "")
    (folder / "Asked.v").write_text(_ASKED.format(extraction=extraction))
    (folder / "draw.ml").write_text(_DRIVER)
    packages = ["-O3", "-package", "zarith", "-linkpkg", "-w", "-a"]
    for command in (
        ["coqc", "-q", "-noglob", "-w", "none", *path, "Asked.v"],
        ["ocamlfind", "ocamlopt", *packages, "proved.mli", "proved.ml", "draw.ml", "-o", "draw"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder / "draw"


def proved(program: Path, case: tuple[str, int, int], seed: int, count: int) -> list[str]:
    """Draws of the proved program, and how many bits it has read after each."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(SeededBits(seed).take(_BITS).to_bytes(_BITS // 8, "little"))
        file.flush()
        asked = [program, file.name, *map(str, case), str(count)]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()


def own(case: tuple[str, int, int], seed: int) -> Iterator[str]:
    """Draws of Python's sampler, and how many bits it has read after each."""
    name, n, d = case
    draw, bits = _OWN[name](n, d), Counted(SeededBits(seed))
    while True:
        yield f"{int(draw(bits))} {bits.taken}"


def compare(program: Path, case: tuple[str, int, int], count: int) -> int:
    """How many draws were the same. AssertionError at the first that is not."""
    done = 0
    while done < count:
        found = proved(program, case, done, count - done)
        assert found, "too few bits for one draw"
        for place, (one, other) in enumerate(
            zip(found, islice(own(case, done), len(found)), strict=True)
        ):
            assert one == other, (case, done, place, one, other)
        done += len(found)
    return done


def rates(program: Path, case: tuple[str, int, int], count: int) -> tuple[float, float]:
    """Draws a second of the processor: by Python of the system's bits, and by the program."""
    name, n, d = case
    draw, bits = _OWN[name](n, d), SystemBits()
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(count):
        draw(bits)
    own_time = time.process_time() - start
    done = len(proved(program, case, 1, count))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return count / own_time, done / (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    )


if __name__ == "__main__":
    each = -(-(int(sys.argv[1]) if sys.argv[1:] else COUNT) // len(CASES))
    with tempfile.TemporaryDirectory() as made:
        program = build(Path(made))
        print(f"{sum(compare(program, case, each) for case in CASES):,} draws, all the same")
        for case in CASES:
            a_second = "{:,.0f} and {:,.0f}".format(*rates(program, case, min(each, 20_000)))
            print(f"{case[0]} {case[1]}/{case[2]}: {a_second} a second")
