"""Charges a second of a ledger, and what it takes to check one.

    python benchmarks/ledger.py [--url postgresql://…] [--entries N] [--writers N]

URL: an empty database; without it SQLite in a temporary folder. Everything is durable.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import tempfile
import time
from pathlib import Path

from exactdp.ledger import Ledger

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"
CHARGES, GROUP = 500, 100_000


def charge(url: str, name: str, charges: int) -> list[float]:
    """Seconds of each of so many charges of one user."""
    seconds = []
    with Ledger.open(url, timeout=600) as ledger:
        for number in range(charges):
            start = time.perf_counter()
            ledger.charge(ONE, f"{name} {number % 97}", f"{name} {number}")
            seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    """Print the figures, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--entries", type=int, default=10_000, help="of the ledger that is checked")
    parser.add_argument("--writers", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or str(Path(folder) / "ledger.db")
        Ledger.create(url, "zcdp:1000").close()
        each = charge(url, "one", CHARGES)
        print(f"one writer: {CHARGES / sum(each):.0f} charges a second, median "
              f"{1000 * statistics.median(each):.2f} ms")  # fmt: skip
        start = time.perf_counter()
        with multiprocessing.get_context("fork").Pool(given.writers) as pool:
            jobs = [(url, f"w{number}", CHARGES // 5) for number in range(given.writers)]
            pool.starmap(charge, jobs, chunksize=1)
        rate = given.writers * (CHARGES // 5) / (time.perf_counter() - start)
        print(f"{given.writers} writers: {rate:.0f} charges a second")
        with Ledger.open(url) as ledger:
            users = [f"user {number}" for number in range(GROUP)]
            for turn in ("new", "known"):
                start = time.perf_counter()
                ledger.charge(ONE, users, turn)
                print(f"{GROUP} {turn} users at once: {time.perf_counter() - start:.2f} s")
            for number in range(given.entries // 1000):
                ledger.charge(ONE, users[:1000], f"more {number}")
            start = time.perf_counter()
            found = ledger.check()
            assert found.valid, found.reason
            entries = 2 * GROUP + 1000 * (given.entries // 1000)
            print(f"check of {entries} entries: {time.perf_counter() - start:.2f} s")
            each = charge(url, "late", CHARGES // 5)
            print(f"then one writer: median {1000 * statistics.median(each):.2f} ms")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
