"""`exactdp ledger`: what every user has spent, kept in a database and checked."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ..exact import ParameterError, exact, time_limit, whole
from ..exact.regular_file import open_regular
from ..ledger.errors import LedgerError, RefusedError, UnavailableError
from ..ledger.limits import Limit
from . import options, output
from .ledger_certificate import digest_of
from .options import CLAIMS, DEFAULT_TIME, Json, Time, option
from .plain import PlainCommand, PlainGroup

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
_FORMULAS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four: of full width


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
    planned = None if plan is None else _texts(plan)
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
    as_json: Json = False,
    seconds: Time = DEFAULT_TIME,
    wait: Wait = WAIT,
) -> None:
    """Charge all these users, or none: exit 0 recorded, 1 refused, since it does not fit.

    A key that is there already records nothing more: exit 0 if it is the same charge, 2 if not.
    """
    users = [*user, *(_lines(users_from) if users_from is not None else ())]
    allowed = options.read_time(seconds)
    digest = ""
    if certificate is not None:
        listed = options.composed(options.read_uses(specs)).uses
        digest = digest_of(Path(certificate), listed, allowed)
    with _bad_input(), _opened(url, wait) as opened:
        try:
            with output.working("charging"), time_limit(allowed):
                make = opened.reserve if reserve else opened.charge
                made = make(_texts(specs), users, key, project, digest)
        except RefusedError as error:
            _say_refused(error, as_json)
            raise typer.Exit(1) from None
        new = getattr(made, "new", True)
        state = "reserved" if reserve else "recorded" if new else "recorded already"
        if as_json:
            shown = {"recorded": True, "new": new, "key": key, "users": len(users)}
            output.as_json(shown | {"head": opened.head()})
        else:
            typer.echo(f"{state}: key {key}, {len(users)} users")


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
def show(
    url: URL,
    user: Annotated[str | None, option("U", "only this user")] = None,
    as_json: Json = False,
    wait: Wait = WAIT,
) -> None:
    """What was charged to whom, what is spent and what is left: of one user, or of all.

    Without --user, spent and left are those of who has spent most.
    """
    with _bad_input(), _opened(url, wait, read_only=True) as opened, output.working("reading"):
        shown = opened.summary(user)
    if as_json:
        output.as_json(shown)
    else:
        from ..ledger.address import shown as shown_address
        from . import ledger_shown

        ledger_shown.ledger(shown_address(url), shown)


@ledger.command(cls=PlainCommand)
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
    as_json: Json = False,
    wait: Wait = WAIT,
) -> None:
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
    if as_json:
        output.as_json(found)
    else:
        typer.echo(f"{'valid' if found.valid else 'not valid'}: {found.reason}")
        for each in found.unproved:
            typer.echo(f"not proved: {each}")
        typer.echo(f"head: {found.head}")
    raise typer.Exit(1 if not found.valid else 3 if found.unproved else 0)


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


def _texts(specs: Sequence[str]) -> list[str]:
    """Each use with its count; those that files list as well."""
    return [f"{spec.text}*{times}" for spec, times in options.read_uses(specs)]


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
        text = sys.stdin.read()
    else:
        try:
            with open_regular(Path(path)) as opened:
                text = opened.read().decode()
        except (OSError, ValueError) as error:
            raise ParameterError(f"--users-from: {path}: {error}") from error
    return [line for line in text.splitlines() if line]


def _say_refused(error: RefusedError, as_json: bool) -> None:
    if as_json:
        output.as_json({"recorded": False, "refused": error})
    typer.echo(f"exactdp: {error}", err=True)


def _write_csv(entries: Iterator[dict[str, Any]]) -> None:
    names = ("key", "user", "mechanism", "times", "cost", "at", "hash", "state", "neighbours")
    table = csv.DictWriter(
        sys.stdout, (*names, "project", "certificate"), extrasaction="ignore", restval=""
    )
    table.writeheader()
    for entry in entries:
        row = entry | {"cost": json.dumps(entry["cost"])}
        table.writerow({name: _cell(value) for name, value in row.items()})


def _cell(value: Any) -> Any:
    """What a spreadsheet would take for a formula is text to it with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def _write_json(entries: Iterator[dict[str, Any]]) -> None:
    start = "["
    for entry in entries:
        sys.stdout.write(f"{start}\n{json.dumps(entry)}")
        start = ","
    sys.stdout.write("[]\n" if start == "[" else "\n]\n")
