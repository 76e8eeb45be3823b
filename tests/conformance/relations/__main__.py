"""Hold relations on drawn cases and print what was found: from the folder `tests`,

python -m conformance.relations [--cases 100] [--seconds 1] [--from 0] [--workers 1] [NAME ...]
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import mpmath
from conformance.relations.all import RELATIONS, SEARCHES
from conformance.relations.engine import Tally, examine

_EVERY = {each.__name__: each for each in RELATIONS + SEARCHES}
_BLOCK = 25  # cases that one process examines before another may take the next


def _examined(name: str, seeds: range, seconds: float) -> Tally:
    mpmath.mp.dps = 60
    return examine(_EVERY[name], seeds, seconds, Tally())


def main() -> int:
    """0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="relations", description=__doc__)
    parser.add_argument("names", nargs="*", help="of relations; all if none is given")
    parser.add_argument("--cases", type=int, default=100, help="of each relation")
    parser.add_argument("--seconds", type=float, default=1.0, help="that a case may take")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    asked = parser.parse_args()
    names = asked.names or list(_EVERY)
    if unknown := set(names) - set(_EVERY):
        parser.error(f"no relation is called {', '.join(sorted(unknown))}")
    last, start, whole = asked.first + asked.cases, time.monotonic(), Tally()
    with ProcessPoolExecutor(asked.workers) as pool:
        blocks = {
            name: [
                pool.submit(_examined, name, range(i, min(i + _BLOCK, last)), asked.seconds)
                for i in range(asked.first, last, _BLOCK)
            ]
            for name in names
        }
        for name, parts in blocks.items():
            tally = Tally()
            for part in parts:
                tally.add(part.result())
                print(f"{name}: {tally}", file=sys.stderr, flush=True)
            print(f"{name}: {tally}", flush=True)
            for failure in tally.failures:
                print("   ", failure, flush=True)
            whole.add(tally)
    print(f"all {len(names)} in {time.monotonic() - start:.0f} s: {whole}")
    return int(bool(whole.failures))


if __name__ == "__main__":
    sys.exit(main())
