"""`exactdp bandit`: the audited bandit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..bandit.accounts import Accounts
from ..bandit.algorithms import ALGORITHMS
from ..bandit.algorithms.algorithm import Elimination, LargestIndex, OwnPolicy
from ..bandit.evidence import cached_evidence
from ..bandit.evidence import to_json as evidence_to_json
from ..bandit.instances import Fixed
from ..bandit.pictures import picture_kind, plot_runs
from ..bandit.plan import Plan, Radius, wider_than_certified
from ..bandit.privacy import Privacy
from ..bandit.results import Mean, Results
from ..bandit.run import Config
from ..bandit.run import run as run_bandit
from ..bandit.setting import Setting
from ..bandit.source import Aggregator
from ..bandit.transcript import write_transcript
from ..bandit.yardsticks import Yardsticks, yardsticks
from ..common.atomic_write import check_target
from ..common.canvas import load
from ..common.content_cache import default_cache
from ..common.table import Bar, Table
from ..exact import OutOfTimeError, ParameterError, decimal_text, time_limit, whole
from . import output
from .bandit_identify import identify_command
from .bandit_linear import linear_command
from .bandit_options import (
    Cluster,
    Fact,
    ProofTime,
    Runs,
    Workers,
    count_range,
    data_of,
    named_arms,
    number,
    plain_name,
    private,
    proved,
    read_algorithm,
    read_growth,
    read_instances,
    shown_of,
    verifying,
)
from .bandit_options import spent as account
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
_SHOWN = 12  # checkpoints in the table
_ARMS = 20  # arms whose pulls are shown
_MUCH = 1.5  # times the certified radius, from where on the paper's costs much


@bandit.command(cls=PlainCommand)
@printed
def run(
    algorithm: Annotated[
        str,
        option(
            "A",
            "…-se and …-ae eliminate arms, the others play the largest index or score: "
            + ", ".join(
                each.name + ("" if each.private else " (not private)") for each in ALGORITHMS
            ),
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
    plot: Annotated[
        Path | None,
        option("FILE", "cumulative regret, band, lower bound: svg, png, pdf"),
    ] = None,
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
    if plot is not None:
        picture_kind(plot)
        check_target(plot, "plot")
        load()  # before the work, not after it
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
        spent = account(plan, returning, delta)
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
    if plot is not None:
        where = f"{config.instances.name}, K = {setting.arms}, T = {setting.horizon:,}"
        hidden = f", ε = {decimal_text(setting.epsilon)}" if chosen.private else ""
        plot_runs(plot, where + hidden, results, beside)
        _warn_of_radius(plan, allowed)
    facts = _facts(config, results, spent, beside)
    kept = []
    if head is not None:
        facts.append(Fact("transcript_head", "", head))
        kept = [f"head of the transcript, to keep elsewhere: {head}"]  # one line, however long
    split = next(at for at, fact in enumerate(facts) if fact.key == "regret")
    return Result(
        data_of(facts),
        [shown_of(facts[:split]), _table(results.time_average()), shown_of(facts[split:]), *kept],
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


def _warn_of_radius(plan: Plan, seconds: float) -> None:
    """Where the paper's radius is much wider than one that is proved, arms stay for longer."""
    with suppress(OutOfTimeError, ParameterError), time_limit(seconds):
        wider = wider_than_certified(plan)
        if wider > _MUCH:
            typer.echo(
                f"exactdp: warning: the paper's radius is {wider:.1f} times the certified one, "
                f"so that arms need about {wider**2:.0f} times the users to be eliminated: "
                "--radius certified has less regret, and keeps the best arm provably",
                err=True,
            )


def _facts(config: Config, results: Results, spent: Privacy, beside: Yardsticks) -> list[Fact]:
    """All that is said of runs, for scripts and for people."""
    plan, setting, algorithm = results.plan, config.setting, config.algorithm
    regret, lost = results.total_regret(), int(results.eliminated.sum())
    runs = "1 run" if results.runs == 1 else f"{results.runs:,} runs"
    average = results.time_average()
    radius = {"kind": plan.radius.value, "failure": plan.failure}
    bound, ratio = beside.lower_bound, beside.ratio(regret)
    sent = [release.bits_per_user for release, _ in plan.releases()]
    bits = max((each for each in sent if each is not None), default=None)
    of_arms = "of each active arm" if isinstance(algorithm.rule, Elimination) else "of all arms"
    held = [evidence_to_json(held) for _, held in plan.releases() if held is not None]
    instance = f"{config.instances.name}, {setting.arms} arms"
    return [
        Fact("algorithm", "algorithm", algorithm.name, f"{algorithm.name}: {algorithm.source}"),
        Fact("source", "", algorithm.source),
        Fact("horizon", "horizon", setting.horizon, f"{setting.horizon:,} rounds, {runs}"),
        Fact("runs", "", results.runs),
        Fact("setting", "", setting),
        Fact("instance", "instance", config.instances.name, instance),
        *(Fact(key, "", names) for key, names in named_arms(config).items()),
        Fact("radius", "radius", radius, _radius(plan)),
        Fact("regret", "regret", regret, number(regret)),
        Fact(
            "lower_bound",
            "" if bound is None or ratio is None else "lower bound",
            None if bound is None else {"for": beside.barrier.value, "regret": bound},
            ""
            if bound is None or ratio is None
            else f"{float(bound):,.1f}, the known one of "
            f"{beside.barrier.value} times log T: regret is {ratio.mean:.2f} of it",
        ),
        Fact("regret_over_bound", "", ratio),
        Fact(
            "expected_regret",
            "" if beside.expected is None else "expected regret",
            beside.expected,
            "" if beside.expected is None else f"at most {float(beside.expected):,.1f}, proved",
        ),
        Fact(
            "checkpoints",
            "",
            [{"round": rounds, "time_average_regret": mean} for rounds, mean in average],
        ),
        Fact("pulls", "pulls", results.pulls.tolist(), _pulls(config, results)),
        Fact("best_arm_eliminated", algorithm.rule.loss, lost, f"in {lost} of {runs}"),
        Fact(
            "batches",
            "batches released",
            results.batches.tolist(),
            f"{count_range(results.batches)}, {of_arms}",
        ),
        *(Fact("", label, text) for label, text in (proved(plan) | private(spent)).items()),
        Fact("privacy", "", spent),
        Fact("certificates", "", held),
        Fact("bits_per_user", "bits per user" if bits else "", bits, f"at most {bits}"),
    ]


def _table(average: Sequence[tuple[int, Mean]]) -> Table:
    """Regret by rounds, at some of the checkpoints."""
    top = max(mean.mean for _, mean in average) or 1.0
    step = max(1, len(average) // _SHOWN)
    rows = []
    for rounds, mean in list(average[::-step][:_SHOWN])[::-1]:
        error = "" if mean.standard_error != mean.standard_error else f"{mean.standard_error:.2g}"
        rows.append((f"{rounds:,}", f"{mean.mean:.5f}", error, Bar(mean.mean / top, 24)))
    columns = ("round", "regret by round", "± s.e.", "")
    return Table(columns, rows, right=("round", "± s.e."))


def _pulls(config: Config, results: Results) -> str:
    """By arm where all runs have the same arms; the most pulled first where they do not."""
    fixed = isinstance(config.instances, Fixed)
    pulls = results.pulls if fixed else -np.sort(-results.pulls)
    what = "by arm" if fixed else "the arm pulled most first"
    mean = ", mean over runs" if results.runs > 1 else ""
    counts = [f"{count:,.0f}" for count in pulls.mean(axis=0)[:_ARMS]]
    if labels := named_arms(config).get("arms"):
        counts = [f"{plain_name(name)} {n}" for name, n in zip(labels, counts, strict=False)]
    more = [] if pulls.shape[1] <= _ARMS else ["..."]
    return f"{' '.join(counts + more)}  ({what}{mean})"


def _radius(plan: Plan) -> str:
    rule, kind = plan.algorithm.rule, plan.radius.value
    if isinstance(rule, OwnPolicy):
        return "none: its decisions are its own, and nothing is proved of them"
    if isinstance(rule, LargestIndex):
        return f"none: indices, a best arm's below its mean with probability {plan.failure}"
    if plan.failure is None:
        return f"{kind}, p = {decimal_text(plan.setting.confidence)}"
    return f"{kind}: a best arm is eliminated with probability at most {plan.failure}"
