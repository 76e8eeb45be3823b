"""`exactdp ledger`: what every user has spent, kept in a database and checked."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ..common.regular_file import read_at_most
from ..common.table import Table, no_formula, visible
from ..exact import Enclosure, ParameterError, exact, time_limit, whole
from ..ledger.errors import LedgerError, RefusedError, UnavailableError
from ..ledger.limits import Limit
from ..verify.guarantee import CLAIMS
from . import options, output
from .ledger_certificate import digest_of
from .options import DEFAULT_TIME, Time, option
from .parts import shown
from .plain import PlainCommand, PlainGroup
from .result import Part, Result, printed

if TYPE_CHECKING:  # what needs a database's drivers is loaded where one is opened: help needs none
    from ..ledger import Ledger

ledger = typer.Typer(
    name="ledger",
    cls=PlainGroup,
    help="What every user has spent, kept in a database: no limit is exceeded.",
    no_args_is_help=True,
)

URL: TypeAlias = Annotated[
    str, typer.Argument(metavar="URL", help="a path (SQLite) or postgresql://...")
]
Key: TypeAlias = Annotated[str, option("KEY", "of this charge alone")]
Wait: TypeAlias = Annotated[str, option("S", "seconds to wait for other writers")]
WAIT = "30"
_MOST = 50  # rows of a table
_MOST_BYTES = 2**28  # of names of users


@ledger.command(cls=PlainCommand)
def init(
    url: URL,
    limit: Annotated[list[str], option("CLAIM", f"of every user: {CLAIMS}; may be repeated")],
    days: Annotated[
        str | None, option("N", "what was charged in the last N days counts, nothing older")
    ] = None,
    plan: Annotated[
        list[str] | None,
        option("SPEC[*K]", "of the approx limit: all that will ever be used; may be repeated"),
    ] = None,
    wait: Wait = WAIT,
) -> None:
    """Make a ledger with a limit for every user, or several: all of them must hold.

    With --plan the uses are fixed now, and composed exactly: nothing else can be charged.
    """
    names = ["limit"] if len(limit) == 1 else limit
    planned = None if plan is None else options.read_uses(plan)
    if planned and sum(text.startswith("approx:") for text in limit) != 1:
        raise ParameterError("--plan is of an approx limit: there must be one, and no other")
    given = [
        Limit.of(text, name, days, plan=planned if text.startswith("approx:") else None)
        for text, name in zip(limit, names, strict=True)
    ]
    from ..ledger import Ledger
    from ..ledger.address import shown as shown_address

    with _bad_input(), Ledger.create(url, given, _seconds(wait)) as made:
        typer.echo(f"{shown_address(url)}: every user may spend {_limits(made)}")


@ledger.command(cls=PlainCommand)
@printed
def charge(
    url: URL,
    specs: options.Specs,
    user: Annotated[list[str], option("U", "who is charged; may be repeated")],
    key: Key,
    users_from: Annotated[
        str | None, option("FILE", "also these users, one a line; - is standard input")
    ] = None,
    project: Annotated[str, option("NAME", "for limits of one project")] = "",
    certificate: Annotated[
        str | None, option("FILE", "a certificate of just this, VERIFIED: its SHA-256 is recorded")
    ] = None,
    reserve: Annotated[
        bool, typer.Option("--reserve", help="before a release; settle or cancel it later")
    ] = False,
    seconds: Time = DEFAULT_TIME,
    wait: Wait = WAIT,
) -> Result:
    """Charge all these users, or none: exit 0 recorded, 1 refused, since it does not fit.

    A key that is there already records nothing more: exit 0 if it is the same charge, 2 if not.
    """
    users = [*user, *(_lines(users_from) if users_from is not None else ())]
    allowed = options.read_time(seconds)
    uses = options.read_uses(specs)  # once: what is certified is what is charged
    digest = ""
    if certificate is not None:
        digest = digest_of(Path(certificate), options.composed(uses).uses, allowed)
    with _bad_input(), _opened(url, wait) as opened:
        try:
            with output.working("charging"), time_limit(allowed):
                make = opened.reserve if reserve else opened.charge
                made = make(uses, users, key, project, digest)
        except RefusedError as error:
            typer.echo(f"exactdp: {error}", err=True)
            return Result({"recorded": False, "refused": error}, (), 1)
        new = getattr(made, "new", True)
        state = "reserved" if reserve else "recorded" if new else "recorded already"
        data = {"recorded": True, "new": new, "key": key, "users": len(users)}
        said = f"{state}: key {key}, {len(users)} users"
        return Result(data | {"head": opened.head()}, [said])


@ledger.command(cls=PlainCommand)
def settle(url: URL, key: Key, wait: Wait = WAIT) -> None:
    """What was reserved with this key is released: it stays spent."""
    with _bad_input(), _opened(url, wait) as opened:
        opened.settle(key)
        typer.echo(f"settled: key {key}")


@ledger.command(cls=PlainCommand)
def cancel(url: URL, key: Key, wait: Wait = WAIT) -> None:
    """What was reserved with this key was not released and never will be: it is free again."""
    with _bad_input(), _opened(url, wait) as opened:
        opened.cancel(key)
        typer.echo(f"cancelled: key {key}")


@ledger.command(cls=PlainCommand)
@printed
def show(
    url: URL,
    user: Annotated[str | None, option("U", "only this user")] = None,
    wait: Wait = WAIT,
) -> Result:
    """What was charged to whom, what is spent and what is left: of one user, or of all.

    Without --user, spent and left are those of who has spent most.
    """
    with _bad_input(), _opened(url, wait, read_only=True) as opened, output.working("reading"):
        summary = opened.summary(user)
    from ..ledger.address import shown as shown_address

    return Result(summary, _told(shown_address(url), summary))


@ledger.command(cls=PlainCommand)
@printed
def check(
    url: URL,
    head: Annotated[
        str | None, option("HASH", "that was kept: it must be in the chain, or all is rewritten")
    ] = None,
    prove: Annotated[
        str | None,
        option("S", "each cost also by the checker of certificates, in S seconds; exit 3 if not"),
    ] = None,
    workers: Annotated[str, option("N", "processes")] = "1",
    cluster: Annotated[
        str | None, option("ADDRESS", "a dask scheduler whose workers reach URL, or local")
    ] = None,
    wait: Wait = WAIT,
) -> Result:
    """Recompute every cost, every sum and the chain of hashes: exit 0, or 1 and where it breaks."""
    from ..ledger.checking import check_at

    seconds = None if prove is None else options.read_time(prove)
    crew = whole(workers, "--workers", at_least=1, at_most=1024)
    with _bad_input():
        found = check_at(
            url,
            head,
            _seconds(wait),
            lambda parts: output.progress("checking", parts),
            seconds,
            crew,
            cluster,
        )
    said = [f"{'valid' if found.valid else 'not valid'}: {found.reason}"]
    said += [f"not proved: {each}" for each in found.unproved]
    code = 1 if not found.valid else 3 if found.unproved else 0
    return Result(found, [*said, f"head: {found.head}"], code)


@ledger.command(cls=PlainCommand)
def export(
    url: URL,
    form: Annotated[str, typer.Option("--format", metavar="F", help="csv or json")] = "csv",
    user: Annotated[str | None, option("U", "only this user")] = None,
    wait: Wait = WAIT,
) -> None:
    """Write all entries to standard output: as CSV, or as a JSON list.

    In CSV what begins like a formula has an apostrophe before it; in JSON everything is as it is.
    """
    if form not in ("csv", "json"):
        raise ParameterError(f"--format must be csv or json, got {form[:40]!r}")
    with _bad_input(), _opened(url, wait, read_only=True) as opened:
        entries = (each.to_json() for each in opened.entries(user))
        (_write_csv if form == "csv" else _write_json)(entries)


@ledger.command(cls=PlainCommand)
def migrate(
    url: URL,
    to: Annotated[
        str | None, option("REVISION", "of the schema, back or forward (the newest)")
    ] = None,
    wait: Wait = WAIT,
) -> None:
    """Bring the tables to what this version knows, or back to an earlier revision."""
    from ..ledger.database import Database
    from ..ledger.schema import REVISION, REVISIONS

    to = REVISION if to is None else to
    if to not in REVISIONS:
        raise ParameterError(f"--to must be one of {', '.join(REVISIONS)}, got {to[:40]!r}")
    database = Database(url, _seconds(wait))
    with _bad_input(), database.write() as connection:
        before = database.revision(connection)
        if before not in REVISIONS:
            raise ParameterError(
                f"URL: there is no ledger of a known revision at {database.shown!r}"
            )
        if before == REVISION:
            database.check_revision(connection)
        database.migrate(connection, to)
        if to == REVISION:
            database.check_revision(connection)
    database.close()
    typer.echo(f"{database.shown}: from revision {before} to {to}")


@contextmanager
def _bad_input() -> Iterator[None]:
    """What is wrong with what was typed, or with what it names, ends with exit code 2."""
    try:
        yield
    except UnavailableError as error:
        raise ParameterError(f"URL: {error}") from error
    except LedgerError as error:
        raise ParameterError(str(error)) from error


def _opened(url: str, wait: str, read_only: bool = False) -> Ledger:
    from ..ledger import Ledger

    return Ledger.open(url, _seconds(wait), read_only)


def _seconds(text: str) -> float:
    return float(exact(text, "--wait", at_least=0, at_most=10**5))


def _limits(opened: Ledger) -> str:
    named = (
        f"{limit.claim}"
        + (" by its plan" if limit.is_planned else "")
        + (f" in {limit.days} days" if limit.days else "")
        for limit in opened.limits
    )
    return " and ".join(named)


def _lines(path: str) -> list[str]:
    """Names of users, one a line; empty lines are none."""
    if path == "-":
        text = sys.stdin.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise ParameterError(f"--users-from: -: larger than {_MOST_BYTES} characters")
    else:
        try:
            text = read_at_most(path, _MOST_BYTES).decode()
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or error
            raise ParameterError(f"--users-from: {path}: {said}") from error
    return [line for line in text.splitlines() if line]


def _told(url: str, data: Mapping[str, Any]) -> Iterator[Part]:
    """Limits, what each user has spent and has left, and the latest entries."""
    limits = " and ".join(limit["claim"] for limit in data["limits"])
    people, entries = data["users"], data["entries"]
    several = len(data["limits"]) > 1
    spent = [row for each in people[:_MOST] for row in _balances(each, data["limits"])]
    latest = [
        (each["key"], each["user"], each["mechanism"], str(each["times"]), each["state"])
        for each in entries[-_MOST:]
    ]
    yield {"ledger": url, "limit": limits, "head": data["head"]}
    columns = ("user", *(("limit",) if several else ()), "spent", "left")
    yield Table((*columns, "") if several else columns, spent, right=("spent", "left"))
    yield Table(("key", "user", "mechanism", "times", "state"), latest, right=("times",))
    for what, every in (("users", people), ("entries", entries)):
        if len(every) > _MOST:
            yield {what: f"{len(every)} in all; --json or `ledger export` has every one"}


def _balances(
    person: Mapping[str, Any], limits: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, ...]]:
    """What a user has spent and has left: of every limit, and which is the nearest to its end."""
    balances = person.get("limits", [person])
    shares = [_share(balance) for balance in balances]
    for limit, balance, share in zip(limits, balances, shares, strict=True):
        ends = _ends(balance["spent"]), _ends(balance["left"])
        if len(balances) == 1:
            yield person["user"], *ends
        else:
            yield person["user"], limit["name"], *ends, "binds" if share == max(shares) else ""


def _share(balance: Mapping[str, Any]) -> Fraction:
    """Of a limit that is spent, about: it orders limits, and decides nothing."""
    spent, left = (Enclosure.from_json(dict(balance[key])) for key in ("spent", "left"))
    if not (spent.is_finite() and left.is_finite()):
        return Fraction(1)
    total = Fraction(spent.upper) + Fraction(left.upper)
    return Fraction(spent.upper) / total if total else Fraction(1)


def _ends(ends: Mapping[str, str]) -> str:
    return shown(Enclosure.from_json(dict(ends)))


def _write_csv(entries: Iterator[dict[str, Any]]) -> None:
    names = ("key", "user", "mechanism", "times", "cost", "at", "hash", "state", "neighbours")
    table = csv.DictWriter(
        sys.stdout, (*names, "project", "certificate"), extrasaction="ignore", restval=""
    )
    table.writeheader()
    for entry in entries:
        row = entry | {"cost": json.dumps(entry["cost"])}
        shown = {k: visible(v) if isinstance(v, str) else v for k, v in row.items()}
        table.writerow({name: no_formula(value) for name, value in shown.items()})


def _write_json(entries: Iterator[dict[str, Any]]) -> None:
    start = "["
    for entry in entries:
        sys.stdout.write(f"{start}\n{json.dumps(entry)}")
        start = ","
    sys.stdout.write("[]\n" if start == "[" else "\n]\n")
