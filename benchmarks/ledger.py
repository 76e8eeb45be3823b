"""Charges a second of a ledger, what a charge takes in a large one, and what its check takes.

    python benchmarks/ledger.py [--url postgresql://…] [--entries N] [--writers N] [--workers N]

URL: an empty database; without it SQLite in a temporary folder. Everything is durable. The ledger
grows to a hundredth, a tenth and all of the entries, each a charge of its own, written in bulk as
single charges would be. At each size one writer charges, and a process of its own checks it; beside
seconds stand those of the processor, and what the database's smallest durable transaction takes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update

from exactdp.ledger import Ledger, amounts, rows, schema
from exactdp.ledger.chain import CHARGE, Link, Used
from exactdp.ledger.checking import check_at
from exactdp.ledger.database import Database
from exactdp.ledger.head import read_head
from exactdp.ledger.inputs import now
from exactdp.ledger.written import costs_text

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"
COST = Fraction(1, 200)
CHARGES, GROUP, BATCH, LARGE = 500, 100_000, 20_000, 10**7


def charge(url: str, name: str, charges: int, users: int) -> tuple[float, float]:
    """Median milliseconds of a charge of one user: on the clock, and of the processor."""
    seconds = []
    with Ledger.open(url, timeout=600) as ledger:
        for number in range(charges):
            start = time.perf_counter(), time.process_time()
            ledger.charge(ONE, f"user {number * 97 % users}", f"{name} {number}")
            end = time.perf_counter(), time.process_time()
            seconds.append((end[0] - start[0], end[1] - start[1]))
    clock, processor = (1000 * statistics.median(each) for each in zip(*seconds, strict=True))
    return clock, processor


def bare(url: str, folder: str) -> float:
    """Median milliseconds of a durable transaction of one row, by the database's driver alone."""
    if "://" in url:
        import psycopg

        connection = psycopg.connect(url, autocommit=True)
    else:
        connection = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS bare (a INTEGER)")
    seconds = []
    for _ in range(200):
        start = time.perf_counter()
        connection.execute("INSERT INTO bare VALUES (1)")
        seconds.append(time.perf_counter() - start)
    connection.execute("DROP TABLE bare")
    connection.close()
    return 1000 * statistics.median(seconds)


def grow(url: str, entries: int, users: int) -> None:
    """Charge one user after the other, until there are so many entries: as `charge` would."""
    spent: Counter[int] = Counter()
    database = Database(url)
    with database.write() as connection:
        head = read_head(connection)
        assert head.users in (0, users)
        if not head.users:
            known = [{"id": user, "name": f"user {user}"} for user in range(users)]
            connection.execute(insert(schema.users), known)
            none = [{"user": user, "limit": 0, "spent": "0/1"} for user in range(users)]
            connection.execute(insert(schema.balances), none)
        asked = connection.execute(schema.balances.select())
        spent.update({user: amounts.read(text) / COST for user, _, text in asked})
        use = Used(ONE, 1, costs_text((((COST, COST),),)))
        digest, at, end = head.hash, max(now(), head.at), max(entries + 1, head.charges)
        for first in range(head.charges, end, BATCH):
            links: list[dict[str, Any]] = []
            used: list[dict[str, Any]] = []
            listed: list[dict[str, Any]] = []
            for number in range(first, min(first + BATCH, end)):
                user = number * 97 % users
                link = Link(number, CHARGE, f"bulk {number}", 0, "", "replace", "", at, [use],
                            [f"user {user}"])  # fmt: skip
                digest = link.hash(digest)
                names = ("id", "action", "key", "stage", "project", "neighbours", "certificate")
                row = {name: getattr(link, name) for name in names}
                links.append(row | {"at": at, "hash": digest})
                used.append({"charge": number, "position": 0, "mechanism": use.mechanism,
                             "times": 1, "costs": use.costs})  # fmt: skip
                listed.append({"charge": number, "user": user})
                spent[user] += 1
            tables = (schema.charges, schema.uses, schema.entries)
            for table, some in zip(tables, (links, used, listed), strict=True):
                connection.execute(insert(table), some)
        known = rows.balances_of(connection, range(users))
        rows.write_balances(connection, known, {
            (user, 0): amounts.text(count * COST) for user, count in spent.items()
        })  # fmt: skip
        connection.execute(update(schema.head), {
            "charges": end, "users": users, "at": at, "neighbours": "replace", "hash": digest
        })  # fmt: skip
    database.close()


def checked(url: str, workers: int) -> tuple[float, float, float]:
    """Seconds of a check and of its processors, and the most MB that it, or a worker, took."""
    start = time.perf_counter()
    found = check_at(url, workers=workers)
    assert found.valid, found.reason
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(each) for each in who]
    processor = sum(each.ru_utime + each.ru_stime for each in used)
    memory = max(each.ru_maxrss for each in used)
    return time.perf_counter() - start, processor, memory / 1024


def main() -> None:
    """Print the figures, one a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--entries", type=int, default=1_000_000, help="of the ledger in the end")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1, help="processes that check")
    given = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or f"{folder}/ledger.db"
        Ledger.create(url, "zcdp:1000").close()
        sizes, users = [], given.entries // 100  # who are charged, one after the other
        for entries in (given.entries // 100, given.entries // 10, given.entries):
            start = time.perf_counter()
            grow(url, entries, users)
            os.sync()  # what was written in bulk
            print(f"{entries} entries, written in {time.perf_counter() - start:.0f} s", flush=True)
            clock, processor = charge(url, f"at {entries}", CHARGES, users)
            print(f"  charge: median {clock:.2f} ms, of the processor {processor:.2f} ms; "
                  f"a bare durable transaction {bare(url, folder):.2f} ms", flush=True)  # fmt: skip
            with spawn.Pool(1) as pool:
                seconds, processor, memory = pool.apply(checked, (url, given.workers))
            print(f"  check: {seconds:.1f} s, of processors {processor:.1f} s, {memory:.0f} MB",
                  flush=True)  # fmt: skip
            sizes.append((entries, seconds))
        slope, offset = statistics.linear_regression(*zip(*sizes, strict=True))
        print(f"so that a check of {LARGE} entries takes {offset + slope * LARGE:.0f} s")
        if not given.url:
            print(f"{Path(url).stat().st_size / 2**20:.0f} MB on the disk")
        start = time.perf_counter()
        with multiprocessing.get_context("fork").Pool(given.writers) as pool:
            jobs = [(url, f"w{number}", CHARGES // 5, users) for number in range(given.writers)]
            pool.starmap(charge, jobs, chunksize=1)
        rate = given.writers * (CHARGES // 5) / (time.perf_counter() - start)
        print(f"{given.writers} writers: {rate:.0f} charges a second")
        everyone = [f"user {number}" for number in range(GROUP)]
        start = time.perf_counter()
        with Ledger.open(url) as ledger:
            ledger.charge(ONE, everyone, "group")
        print(f"{GROUP} users at once: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
