"""Draws golden figures from `templates.txt` and writes `figures.csv`.

usage (in tests/): python -m golden.draw [--seed 0] [--workers 2] [--seconds 600] > rows.csv

Every option of every template is drawn at least once; which figure is asked, and at what, is drawn
too. A row is computed in a process of its own, without a limit of time but for `--seconds` on the
clock; rows that need longer are named on stderr and left out.
"""

import argparse
import csv
import math
import multiprocessing
import random
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace
from multiprocessing.connection import Connection

from golden.reading import FOLDER, NAMES, Row, composition, relative_width

from exactdp import ParameterError

DELTAS = ("1e-300", "1e-30", "1e-9", "1e-6", "1e-6", "1e-3", "0.05", "0.5", "0")
EPSILONS = ("0", "0.01", "0.5", "1", "3", "50")
ORDERS = ("1.0001", "1.5", "2", "3", "10", "64", "1000")
FIGURES = {"epsilon": DELTAS, "delta": EPSILONS, "renyi": ORDERS, "zcdp": "", "gdp": "", "pure": ""}
WEIGHTS = (8, 5, 4, 2, 2, 2)
LEAST, TRIES = 9, 60  # rows of a template, and how often one is drawn
_LATTICE = re.compile(
    r"(discrete-laplace|discrete-gaussian|randomized-response)(?!.*(poisson|fixed|l1|l2|linf|round))"
)
_GAUSSIAN = re.compile(r"gaussian(?!.*(poisson|fixed|threshold|allocation))")


def templates() -> tuple[list[str], dict[str, list[str]]]:
    """The lines of `templates.txt`, and what `<noise>` and its like stand for."""
    lines, laws = [], dict[str, list[str]]()
    for line in (FOLDER / "templates.txt").read_text(encoding="utf-8").splitlines():
        if defined := re.match(r"(noise|narrow|wide) (.*)", line):
            laws.setdefault(defined[1], []).append(defined[2])
        elif line and not line.startswith("#"):
            lines.append(line)
    return lines, laws


def expanded(template: str, laws: dict[str, list[str]], rng: random.Random) -> tuple[str, set[str]]:
    """A list of releases, and the options that were drawn."""
    options = set()

    def law(match: re.Match[str]) -> str:
        drawn = rng.choice(laws[match[1]])
        options.add(drawn.partition(":")[0])
        return drawn

    def option(match: re.Match[str]) -> str:
        drawn = rng.choice(match[1].split("|"))
        options.add(f"{match.start()}: {drawn}" if "<" not in template else drawn)
        return drawn

    text = re.sub(r"<(\w+)>", law, template)
    return re.sub(r"\{([^}]*)\}", option, text).replace("*1 ", " ").removesuffix("*1"), options


def drawn(seed: int) -> Iterator[Row]:
    """Rows without their figures: of each template at least LEAST, until nothing new is drawn."""
    lines, laws = templates()
    for template in lines:
        rng, seen, rows = random.Random(f"{seed} {template}"), set[str](), set[Row]()
        for _ in range(TRIES):
            releases, options = expanded(template, laws, rng)
            (figure,) = rng.choices(list(FIGURES), WEIGHTS)
            row = Row(releases, figure, rng.choice(FIGURES[figure]) if FIGURES[figure] else "")
            if row in rows or (len(rows) >= LEAST and options <= seen):
                continue
            try:
                composition(releases)
            except ParameterError as error:
                print(f"refused: {releases}: {error}", file=sys.stderr)
                continue
            seen |= options
            rows.add(row)
            yield row


def promised(row: Row, width: float) -> str:
    """The relative width to keep: that of the kind, or what is reached where this is wider."""
    parts = row.releases.split(" + ")
    one = len(parts) == 1 and "*" not in row.releases
    alone = len(parts) == 1 and _LATTICE.match(row.releases)
    if width <= 1e-12 and (one or alone or all(map(_GAUSSIAN.match, parts))):
        return "1e-12"
    if width <= 1e-6:
        return "1e-6"
    return "inf" if width == math.inf else f"{min(width * 1.1, 1):.2g}"


def _child(row: Row, answer: Connection) -> None:
    start = time.process_time()
    try:
        enclosure = row.compute()
    except Exception as error:
        answer.send(f"{type(error).__name__}: {error}")
        return
    ends = enclosure.to_json()
    width = promised(row, float(relative_width(enclosure)))
    seconds = f"{time.process_time() - start:.2f}"
    answer.send(replace(row, **ends, width=width, seconds=seconds))


def computed(row: Row, seconds: float) -> Row | str:
    """The row with its enclosure, or why there is none."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(row, there))
    process.start()
    there.close()
    try:
        return here.recv() if here.poll(seconds) else f"no answer in {seconds:g} s"
    except EOFError:
        return "its process ended"
    finally:
        process.kill()
        process.join()


def main() -> None:
    """Draw, compute and print all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--list", action="store_true", help="print what is drawn, compute nothing")
    asked = parser.parse_args()
    rows = list(drawn(asked.seed))
    file = csv.writer(sys.stdout, lineterminator="\n")
    file.writerow(NAMES)
    if asked.list:
        file.writerows(map(astuple, rows))
        return
    with ThreadPoolExecutor(asked.workers) as pool:
        for row, result in zip(
            rows, pool.map(computed, rows, [asked.seconds] * len(rows)), strict=True
        ):
            if isinstance(result, Row):
                file.writerow(astuple(result))
                sys.stdout.flush()
            else:
                print(f"left out: {row}: {result}", file=sys.stderr)


if __name__ == "__main__":
    main()
