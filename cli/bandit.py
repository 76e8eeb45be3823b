"""`exactdp bandit`: the audited bandit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from ..bandit.accounts import Accounts
from ..bandit.algorithms import ALGORITHMS
from ..bandit.evidence import cached_evidence
from ..bandit.plan import Radius
from ..bandit.run import Config
from ..bandit.run import run as run_bandit
from ..bandit.setting import Setting
from ..bandit.source import Aggregator
from ..bandit.transcript import write_transcript
from ..bandit.yardsticks import yardsticks
from ..common.atomic_write import check_target
from ..common.content_cache import default_cache
from ..exact import ParameterError, time_limit, whole
from . import bandit_shown, output
from .bandit_identify import identify_command
from .bandit_linear import linear_command
from .bandit_options import (
    Cluster,
    ProofTime,
    Runs,
    Workers,
    read_algorithm,
    read_growth,
    read_instances,
    verifying,
)
from .bandit_study import figures_command, study_command
from .options import option, read_time
from .plain import PlainCommand, PlainGroup
from .result import Result, printed

bandit = typer.Typer(
    name="bandit",
    cls=PlainGroup,
    help="Private bandits, on mechanisms that are verified before they run.",
    no_args_is_help=True,
)
_MOST_FAITHFUL = 10**6


@bandit.command(cls=PlainCommand)
@printed
def run(
    algorithm: Annotated[
        str,
        option(
            "A",
            "dist-dp-se, dist-rdp-se, dist-cdp-se, cdp-se, ldp-se, shuffle-dp-se, dp-se, "
            "sdp-ae, vb-sdp-ae, or se (not private); by indices dist-dp-klucb, dp-klucb, "
            "dist-rdp-klucb, dist-cdp-klucb, dist-gauss-klucb, or kl-ucb "
            "(not private); "
            "by policies of their own dist-dp-imed, dist-dp-ts, dist-dp-klucb-log, "
            "dist-adap-klucb, or kl-ucb-log, kl-ucb-log-batched (not private)",
        ),
    ],
    horizon: Annotated[str, option("T", "rounds, one user each")],
    epsilon: Annotated[str | None, option("E", "all but se and kl-ucb need it")] = None,
    arms: Annotated[str | None, option("K", "10 if drawn, else those of the data")] = None,
    instance: Annotated[
        str,
        option(
            "I",
            "easy or hard (one drawn for each run), published or published-hard (the 20 of the "
            "published experiments, in turn), fair, coins:MEAN,MEAN,…, or a file",
        ),
    ] = "easy",
    runs: Runs = "20",
    seed: Annotated[str | None, typer.Option(metavar="S", show_default="0")] = None,
    delta: Annotated[
        str, option("D", "δ of the shuffle paper's algorithms and of dist-gauss-klucb")
    ] = "1e-6",
    scaling: Annotated[
        str, option("S", "s of Theorems 2 and 4 and of their grid in dist-…-klucb")
    ] = "10",
    confidence: Annotated[
        str | None, option("P", "p of the radius, 0.1; of indices 1/T, of dist-dp-klucb 3 log(T)/T")
    ] = None,
    growth: Annotated[
        str | None, option("ETA", "batch b has η^b users an arm; 2, of published instances 4")
    ] = None,
    radius: Annotated[
        str, option("R", "paper, or certified: proved to keep the best arm")
    ] = "paper",
    sigma: Annotated[
        str | None, option("σ", "of the Gaussian rewards of easy and hard; 0 for coins")
    ] = None,
    returning: Annotated[
        str | None, option("B", "a user of B batches: also her ε at δ, composed exactly")
    ] = None,
    workers: Workers = "1",
    cluster: Cluster = None,
    faithful: Annotated[
        bool, typer.Option("--faithful", help="run every user through R, S and A (small T)")
    ] = False,
    masked: Annotated[
        bool, typer.Option("--masked", help="with --faithful: sum by secure aggregation")
    ] = False,
    ledger: Annotated[
        str | None,
        option("URL", "with --faithful, no --seed: users return, charged before noise is drawn"),
    ] = None,
    users: Annotated[
        str | None, option("N", "with --ledger: round t is of user t mod N; T if not given")
    ] = None,
    user_prefix: Annotated[
        str | None, option("TEXT", "with --ledger: users are TEXT0, TEXT1, ...; 'user '")
    ] = None,
    transcript: Annotated[
        Path | None, option("FILE", "every release and decision, to be checked")
    ] = None,
    resume: Annotated[Path | None, option("DIR", "keep finished runs there, and use them")] = None,
    seconds: ProofTime = "600",
) -> Result:
    """Run a private bandit: regret over time, arms eliminated, and what it cost in privacy.

    The same seed gives the same numbers, whatever the number of workers. With --ledger noise is of
    the operating system's generator, and a run that is repeated is charged again.
    """
    count = whole(runs, "runs", at_least=1, at_most=10**7)
    start = whole("0" if seed is None else seed, "seed", at_least=0)
    if ledger is not None and seed is not None:
        raise ParameterError(
            "--ledger charges for releases, whose noise no seed determines: leave --seed away, or "
            "--ledger, to charge nobody"
        )
    if transcript is not None:
        check_target(transcript, "transcript")
    chosen = read_algorithm(algorithm, ALGORITHMS)
    if epsilon is None and chosen.private:
        raise ParameterError(f"--epsilon must be given for {chosen.name}")
    radii = {each.value: each for each in Radius}
    if radius not in radii:
        raise ParameterError(f"radius must be paper or certified, got {radius[:40]!r}")
    rounds = whole(horizon, "horizon", at_least=1)
    aggregator = _aggregator(faithful, masked, rounds)
    accounts = _accounts(ledger, users, user_prefix, faithful, rounds)
    instances = read_instances(instance, arms, sigma)
    setting = Setting(
        instances.arms,
        horizon,
        1 if epsilon is None else epsilon,
        delta=delta,
        scaling=scaling,
        confidence=confidence,
        growth=read_growth(growth, instances),
    )
    config = Config(chosen, setting, instances, radii[radius], aggregator)
    allowed = read_time(seconds)
    with verifying(allowed, "verifying mechanisms, computing radii"):
        plan = config.plan(cached_evidence(default_cache() / "evidence"))
    with time_limit(allowed), output.working("accounting"):
        spent = bandit_shown.spent(plan, returning, delta)
    with _refusals(), output.progress("runs", count) as tick:
        results = run_bandit(
            config,
            count,
            start,
            workers,
            plan=plan,
            resume=resume,
            transcript=transcript is not None,
            cluster=cluster,
            accounts=accounts,
            progress=tick,
        )
    head = None
    if transcript is not None:
        about = {"instance": config.instances.name, "runs": count, "seed": start}
        head = write_transcript(transcript, results, about)
    with time_limit(allowed), output.working("bounding regret"):
        beside = yardsticks(config, results, start)
    more = {} if head is None else {"transcript_head": head}
    kept = [f"head of the transcript, to keep elsewhere: {head}" for head in more.values()]
    return Result(
        lambda: bandit_shown.to_json(config, results, spent, beside) | more,
        chain(bandit_shown.parts(config, results, spent, beside), kept),
    )


bandit.command("identify", cls=PlainCommand)(identify_command)
bandit.command("linear", cls=PlainCommand)(linear_command)
bandit.command("figures", cls=PlainCommand, hidden=True)(figures_command)
bandit.command("study", cls=PlainCommand)(study_command)


def _aggregator(faithful: bool, masked: bool, rounds: int) -> Aggregator | None:
    if masked and not faithful:
        raise ParameterError("--masked must be given together with --faithful")
    if faithful and rounds > _MOST_FAITHFUL:
        raise ParameterError(
            f"horizon must be at most {_MOST_FAITHFUL} with --faithful, got {rounds}: without it "
            "the sums of users are simulated, exactly in distribution"
        )
    return (Aggregator.MASKED if masked else Aggregator.PLAIN) if faithful else None


def _accounts(
    url: str | None, users: str | None, prefix: str | None, faithful: bool, rounds: int
) -> Accounts | None:
    if url is None:
        if users is not None or prefix is not None:
            raise ParameterError("--users and --user-prefix are of a ledger: --ledger is missing")
        return None
    if not faithful:
        raise ParameterError("--ledger must be given together with --faithful")
    count = rounds if users is None else whole(users, "users", at_least=1, at_most=10**7)
    return Accounts(url, count, "user " if prefix is None else prefix)


@contextmanager
def _refusals() -> Iterator[None]:
    """A charge that does not fit ends with exit code 1, what else is wrong with a ledger with 2."""
    from ..ledger.errors import LedgerError, RefusedError

    try:
        yield
    except RefusedError as error:
        typer.echo(f"exactdp: {error}", err=True)
        raise typer.Exit(1) from error
    except LedgerError as error:
        raise ParameterError(f"--ledger: {error}") from error
