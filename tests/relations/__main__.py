"""Hold relations on drawn cases and print what was found: from the folder `tests`,

python -m relations [--cases 100] [--seconds 1] [--from 0] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys

import mpmath
from relations.all import RELATIONS, SEARCHES
from relations.engine import Tally, examine


def main() -> int:
    """0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="relations", description=__doc__)
    parser.add_argument("names", nargs="*", help="of relations; all if none is given")
    parser.add_argument("--cases", type=int, default=100, help="of each relation")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a case may take")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    found = False
    for relation in RELATIONS + SEARCHES:
        if asked.names and relation.__name__ not in asked.names:
            continue
        seeds = range(asked.first, asked.first + asked.cases)
        tally = examine(relation, seeds, asked.seconds, Tally())
        print(f"{relation.__name__}: {tally}", flush=True)
        for failure in tally.failures:
            print("   ", failure, flush=True)
        found = found or bool(tally.failures)
    return int(found)


if __name__ == "__main__":
    mpmath.mp.dps = 60
    sys.exit(main())
