"""Charges a second of a ledger, and what it takes to check one.

    python benchmarks/ledger.py [--url postgresql://…] [--entries N] [--writers N] [--workers N]

URL: an empty database; without it SQLite in a temporary folder. Everything is durable. The check is
measured at a quarter, a half and all of the entries, by a process of its own.
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
from exactdp.ledger.checking import check_at

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"
CHARGES, GROUP, LARGE = 500, 100_000, 10**7


def charge(url: str, name: str, charges: int) -> list[float]:
    """Seconds of each of so many charges of one user."""
    seconds = []
    with Ledger.open(url, timeout=600) as ledger:
        for number in range(charges):
            start = time.perf_counter()
            ledger.charge(ONE, f"{name} {number % 97}", f"{name} {number}")
            seconds.append(time.perf_counter() - start)
    return seconds


def checked(url: str, workers: int) -> tuple[float, int]:
    """Seconds of a check, and the most memory in MB that it, or a worker of it, took."""
    start = time.perf_counter()
    found = check_at(url, workers=workers)
    assert found.valid, found.reason
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    memory = max(resource.getrusage(each).ru_maxrss for each in who)
    return time.perf_counter() - start, memory // 1024


def main() -> None:
    """Print the figures, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--entries", type=int, default=200_000, help="of the ledger in the end")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1, help="processes that check")
    given = parser.parse_args()
    group = min(GROUP, given.entries // 4)
    users = [f"user {number}" for number in range(group)]
    spawn = multiprocessing.get_context("spawn")
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
        entries, groups, sizes = CHARGES + given.writers * (CHARGES // 5), 0, []
        for part in (4, 2, 1):
            start = time.perf_counter()
            before = groups
            with Ledger.open(url) as ledger:
                while entries + group <= given.entries // part:
                    ledger.charge(ONE, users, f"group {groups}")
                    entries, groups = entries + group, groups + 1
            if groups > before:
                mean = (time.perf_counter() - start) / (groups - before)
                print(f"{group} users at once: {mean:.2f} s")
            with spawn.Pool(1) as pool:
                seconds, memory = pool.apply(checked, (url, given.workers))
            print(f"check of {entries} entries: {seconds:.1f} s, {memory} MB")
            sizes.append((entries, seconds))
        slope, offset = statistics.linear_regression(*zip(*sizes, strict=True))
        print(f"so that {LARGE} entries take {offset + slope * LARGE:.0f} s")
        late = charge(url, "late", CHARGES // 5)
        print(f"then one writer: median {1000 * statistics.median(late):.2f} ms")


if __name__ == "__main__":
    main()
