"""The command `exactdp`: one verb each, and the exit codes that they share.

0 done, verified or valid; 1 refuted or invalid; 2 bad input, with one line on stderr;
3 undecided at the precision allowed; 74 the output, or a file on the way, cannot be written;
130 interrupted; 141 nobody reads the output any more; 70 a defect, with its traceback.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from .plain import NOTES, CommandError, PlainCommand, PlainGroup

_EXTRAS = {  # what is imported only where it is needed, and the extra that brings it
    "cryptography": "masks",
    "sklearn": "data",
    "statsmodels": "data",
    "pandas": "data",
    "matplotlib": "figures",
    "jinja2": "report",
    "joblib": "parallel",
    "dask": "cluster",
    "distributed": "cluster",
    "sqlalchemy": "ledger",
    "alembic": "ledger",
    "psycopg": "postgresql",
}

MECHANISMS = (  # the best known of the catalogue, which --help does not load
    *("discrete-laplace", "discrete-gaussian", "skellam", "laplace", "gaussian"),
    *("randomized-response", "exponential", "sparse-vector", "tree", "federated"),
)
_PLAINLY = warnings.showwarning
_PAGES = {"bugs", "claims", "compose", "deployments", "protocol"}  # once wrote pages themselves

_VERBS = {  # what each does, in its module's words; only what is called is loaded
    "audit": "Audit mechanisms, each released K times: verified, refuted with a witness, or "
    "undecided.",
    "blackbox": "Test a sampler by its outputs: a lower confidence bound on its epsilon and delta.",
    "check": "Check certificates, theorems, transcripts, ledgers: exit 0 valid, 1 not (why), "
    "2 neither.",
    "checker": "Write the checker of certificates as one file that a bare python3 runs.",
    "check-claims": "Audit all claims of a file: exit 0 if all are VERIFIED, else 1 and which not.",
    "compose": "Compose mechanisms, each released K times: pure ε, Rényi, δ(ε) and ε(δ) of all "
    "together.",
    "profile": "The privacy profile δ(ε) and the trade-off curves, from both sides; picture, CSV.",
    "report": "Write one page to hand on: verdicts, pictures, what was not checked, certificates.",
    "explore": "Choose noise on a local page and see what it costs, certified; until Ctrl-C.",
    "calibrate": "Find the least noise that meets a target: verified, and refuted 1e-9 below.",
    "list": "What a spec can name: mechanisms, their keys, claims, commands that take them.",
    "claims": "Check what the papers say: holds, holds with a correction, or fails.",
    "bugs": "Show known defects of published software, each beside its repaired twin.",
    "deployments": "Derive again what published deployments state, from what is published of "
    "their noise.",
    "protocol": "Certify a protocol's failures and errors; find what it really needs to send; "
    "play a round.",
    "sample": "Draw what a mechanism releases of a query, exactly, one draw a line.",
    "search": "Look for a mechanism that violates a claim, on a grid.",
    "ledger": "What every user has spent, kept in a database: no limit is exceeded.",
    "bandit": "Private bandits, on mechanisms that are verified before they run.",
}
_TOGETHER = dict.fromkeys(("claims", "bugs", "deployments"), "evidence")  # in one module
_ALSO = {"papers": "claims"}  # a name and another one
_OLD_COMMANDS = {"round": ("protocol", "--play")}
_OLD_OPTIONS = {"protocol": {"--vanish": "--dropout", "--neighbours": "--mask-degree"}}


def application(verbs: Iterable[str] = _VERBS, listed: bool = False) -> typer.Typer:
    """The command with these verbs, each in its module of the same name; listed: none is loaded."""
    app = typer.Typer(
        name="exactdp",
        cls=PlainGroup,
        help="How private is this mechanism, exactly? Every figure is a certified enclosure.",
        epilog=f"Mechanisms: {', '.join(MECHANISMS)}, ...: exactdp list names all, "
        "exactdp list NAME the keys of one. Claims: pure:0.1, approx:1,1e-6, ... "
        "Exit codes: 0 done or verified, 1 refuted, 2 bad input, 3 undecided.",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_start)
    for verb in verbs:
        command = None if listed else _loaded(verb)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command(verb, cls=PlainCommand, help=_VERBS[verb] if listed else None)(
                command or _listed
            )
    return app


def _loaded(verb: str) -> Any:
    """The command, from the module of its name."""
    name = verb.replace("-", "_")
    return getattr(import_module(f".{_TOGETHER.get(name, name)}", __package__), name)


def _listed() -> None:
    """What stands for a command that is not loaded."""


def __getattr__(name: str) -> typer.Typer:
    """`app`: all of it, for who looks at it from outside."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return application()


def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"exactdp {installed('exactdp')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on these arguments (the process's own if None); the exit code."""
    notes: list[str] = []
    token = NOTES.set(notes)
    try:
        code = _called(_renamed(sys.argv[1:] if arguments is None else list(arguments), notes))
    finally:
        NOTES.reset(token)
    if notes and code != 2:  # of bad input one line is told, which says what is wrong
        _say("; ".join(notes), 0)
    return code


def _called(given: list[str]) -> int:
    """Run the command that these words call; the exit code, with all errors told."""
    called = next((word for word in given if not word.startswith("-")), "")
    for word in given if called in _PAGES else ():
        if (option := word.partition("=")[0]) in ("--markdown", "--figure"):
            return _say(f"{option}: pages of evidence are written by `make pages`, not here", 2)
    try:
        if called in _VERBS:
            app = application([called])
        else:
            app = application(listed="_EXACTDP_COMPLETE" not in os.environ)
        code = app(given, prog_name="exactdp", standalone_mode=False)
    except CommandError as error:
        from ..common.suggest import instead

        return _say(error.format_message() + instead(getattr(error, "option_name", "")), 2)
    except typer.Abort:
        return 130
    except SystemExit:  # rich and typer end with 1 on a broken pipe, which here means refuted
        raise BrokenPipeError from None
    except BrokenPipeError:
        raise
    except OSError as error:  # of what is read: a ParameterError
        return _say(f"cannot write: {error.strerror or error}", 74)
    except (ArithmeticError, NotImplementedError) as error:
        return _say(f"undecided: {error}", 3)
    except MemoryError:
        return _say("undecided: out of memory", 3)
    except ImportError as error:
        if (extra := _missing(error)) is None:
            raise
        return _say(extra, 2)
    except UnicodeEncodeError as error:
        return _say(f"a name cannot be encoded: {ascii(error.object)[:60]}", 2)
    except ValueError as error:
        from ..exact import ParameterError  # loads FLINT: not needed for --help

        if not isinstance(error, ParameterError):
            raise
        return _say(str(error), 2)
    return code if isinstance(code, int) else 0


def _renamed(words: list[str], notes: list[str]) -> list[str]:
    """With old spellings replaced; notes: what is to be told of them."""
    at = next((place for place, word in enumerate(words) if not word.startswith("-")), None)
    if at is None:
        return words
    called = _ALSO.get(words[at], words[at])
    now, *more = _OLD_COMMANDS.get(called, (called,))
    old = {} if now == called else {f"{called} SPEC": " ".join([now, "SPEC", *more])}
    found = [*words[:at], now, *more]
    for word in words[at + 1 :]:
        option, sign, value = word.partition("=")
        new = _OLD_OPTIONS.get(now, {}).get(option, option)
        old |= {} if new == option else {option: new}
        found.append(f"{new}{sign}{value}")
    notes += (f"`{a}` is now `{b}`" for a, b in old.items())
    return found


def run() -> None:
    """Entry point: run the command line and end the process with its exit code."""
    signal.signal(signal.SIGINT, _interrupted)
    warnings.showwarning = _warn
    gc.set_threshold(100_000)  # imports allocate a lot, and drop nothing that is worth a search
    # sums here are short: threads that wait for each other cost more than they save
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters still reads on
    if sys.stdout is None:  # closed: a verdict would not arrive
        sys.exit(_say("cannot write: standard output is closed", 74))
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        code = 141
    except OSError as error:
        code = _say(f"cannot write: {error.strerror or error}", 74)
    except Exception:
        with contextlib.suppress(OSError):
            traceback.print_exc()
        code = 70  # never 1: a crash must not read as "refuted"
    if code in (74, 141):
        # What is still buffered goes nowhere, also at exit: a verdict is not known to have arrived.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if code != 70 and "multiprocessing" not in sys.modules:  # no crash, no workers to tidy up after
        os._exit(code)  # taking all modules apart takes half as long as loading them
    sys.exit(code)


def _interrupted(*_: object) -> None:
    # At once: an exception would be swallowed where FLINT calls back. Nothing is half written.
    if sys.stderr.isatty():
        os.write(sys.stderr.fileno(), b"\x1b[?25h\n")  # show the cursor that a spinner hides
    os._exit(130)


def _warn(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """One line of ours; of other packages as Python does."""
    if category.__module__.startswith("exactdp."):
        _say(f"warning: {message}", 0)
    else:
        _PLAINLY(message, category, *where, **more)


def _say(message: str, code: int) -> int:
    line = "".join(each if each.isprintable() else "?" for each in " ".join(message.split()))
    with contextlib.suppress(OSError):  # nobody can be told
        typer.echo(f"exactdp: {line}", err=True)
    return code


def _missing(error: ImportError) -> str | None:
    """Which extra brings what was not found; None where none does."""
    cause: BaseException | None = error
    while cause is not None:
        module = (getattr(cause, "name", None) or "").partition(".")[0]
        if module in _EXTRAS:
            return f'{module} is not installed: pip install "exactdp[{_EXTRAS[module]}]"'
        cause = cause.__cause__
    return None
