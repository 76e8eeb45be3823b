"""`exactdp bandit linear`: contexts, and rewards that are linear in them, both hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from attrs import asdict

from ..bandit.linear.contexts import LinearEnvironment, linear_environment
from ..bandit.linear.regret import PriorBound, cap_of, prior_regret
from ..bandit.linear.release import Returning
from ..bandit.linear.release import returning as several
from ..bandit.linear.setting import LinearSetting
from ..bandit.linear.simulation import LinearPlan, LinearResults, prepare_linear, run_linear
from ..bandit.results import Mean
from ..common.suggest import one_of
from ..common.table import Table
from ..exact import ParameterError, decimal_text, whole
from . import output
from .bandit_options import Cluster, ProofTime, Runs, Seed, Workers, number, verifying
from .options import option, read_time
from .result import Part, Result, printed

_NAMES = {
    "dist-dp-linucb": "LinUCB in batches, with {} noise from the users' shares",
    "linucb": "LinUCB in batches, without privacy",
}
_LAWS = {"skellam": "Skellam", "discrete-laplace": "discrete Laplace"}
_ROWS = 12  # batches shown
_MODEL = "E[2y - 1 | x] = <x, theta*>"


@printed
def linear_command(
    horizon: Annotated[str, option("T", "rounds, one user each")],
    epsilon: Annotated[str | None, option("E", "of every batch; all but linucb need it")] = None,
    instance: Annotated[
        str,
        option(
            "I",
            "unit:dimension=5,arms=20,norm=1 (drawn contexts), published:dimension=5, or data: "
            "digits, wine, cancer, iris (:components=3,classes=3), or a CSV file with the columns "
            "user, reward and contexts",
        ),
    ] = "unit",
    algorithm: Annotated[
        str, option("A", "dist-dp-linucb, or linucb (not private)")
    ] = "dist-dp-linucb",
    delta: Annotated[str, option("D", "of every batch")] = "1e-6",
    norm: Annotated[
        str | None, option("S", "what |theta*| is at most; that of the instance if not given")
    ] = None,
    confidence: Annotated[str, option("P", "p: the radius ever fails with at most this")] = "0.05",
    first: Annotated[str | None, option("N", "users of the first batch")] = None,
    growth: Annotated[str, option("ETA", "after b batches there were N η^(b-1) users")] = "2",
    release: Annotated[
        str | None,
        option("R", "skellam (unless given), or discrete-laplace: pure ε of every batch"),
    ] = None,
    returning: Annotated[
        str | None, option("B", "a user of B batches: also her ε at δ, composed")
    ] = None,
    runs: Runs = "10",
    seed: Seed = "0",
    workers: Workers = "1",
    cluster: Cluster = None,
    seconds: ProofTime = "600",
) -> Result:
    """Run a linear contextual bandit: regret, a radius that is proved, and what it cost in privacy.

    The same seed gives the same numbers, whatever the number of workers.
    """
    private = one_of(algorithm, _NAMES, "algorithm") != "linucb"
    if private and epsilon is None:
        raise ParameterError(f"--epsilon must be given for {algorithm}")
    if not private and epsilon is not None:
        raise ParameterError("--epsilon is of dist-dp-linucb: linucb hides nothing")
    if not private and (release or returning):
        raise ParameterError("--release and --returning are of dist-dp-linucb")
    count = whole(runs, "runs", at_least=1, at_most=10**6)
    start = whole(seed, "seed", at_least=0, at_most=2**32 - 1)
    environment = linear_environment(instance, start)
    setting = LinearSetting(
        environment.dimension,
        horizon,
        epsilon,
        norm=environment.norm if norm is None else norm,
        delta=delta,
        confidence=confidence,
        first=first,
        growth=growth,
        release=release or "skellam",
    )
    with verifying(read_time(seconds), "verifying the release, computing radii"):
        plan = prepare_linear(setting)
        spent = None
        if plan.release is not None and returning is not None:
            spent = several(plan.release, returning, setting.delta, len(setting.batches))
    with output.progress("runs", count) as tick:
        found = run_linear(environment, plan, count, start, workers, cluster=cluster, progress=tick)
    data = _json(algorithm, environment, found, start) | _privacy_json(plan, spent)
    return Result(data, _parts(algorithm, environment, found, spent))


def _json(
    name: str, environment: LinearEnvironment, found: LinearResults, seed: int
) -> dict[str, Any]:
    plan, setting = found.plan, found.plan.setting
    prior = _prior(environment, plan)
    return {
        "algorithm": name,
        "source": _source(name, setting),
        "horizon": setting.horizon,
        "runs": found.runs,
        "seed": seed,
        "setting": setting,
        "instance": environment.name,
        "arms": environment.arms,
        "radius": {
            "model": f"{_MODEL}, |theta*| <= {decimal_text(setting.norm)}",
            "model_holds": _follows(environment, setting),
            "failure": setting.confidence,
            "runs_outside": None if found.outside is None else int(found.outside.sum()),
            "matrix": list(plan.radius.matrix),
            "error": list(plan.radius.error),
        },
        "regret": found.total_regret(),
        "regret_without_privacy": Mean.of(found.plain[:, -1]),
        "regret_certified": found.certified_regret(),
        "regret_bound_released": Mean.of(found.released[:, -1]),
        "regret_bound_prior": None if prior is None else asdict(prior),
        "regret_of_linear_fit": _linear(environment, setting),
        "checkpoints": [
            {
                "round": users,
                "regret": Mean.of(found.regret[:, batch]),
                "without_privacy": Mean.of(found.plain[:, batch]),
                "certified": Mean.of(found.certified[:, batch]),
                "released": Mean.of(found.released[:, batch]),
            }
            for batch, users in enumerate(found.rounds)
        ],
    }


def _source(name: str, setting: LinearSetting) -> str:
    return _NAMES[name].format(_LAWS[setting.release])


def _privacy_json(plan: LinearPlan, spent: Returning | None) -> dict[str, Any]:
    release = plan.release
    if release is None:
        return {"privacy": None, "certificates": [], "bits_per_user": None}
    one = release.contribution
    return {
        "privacy": {
            "claim": str(release.claim),
            "trust": "distributed",
            "neighbours": "add-remove",
            "mechanism": release.spec,
            "batches": len(plan.radius.users),
            "measured": release.certificate.measured,
            "noise": {"standard_deviation": release.deviation, "norm_of_a_user": 1},
            "wraps": {"lower": "0", "upper": decimal_text(release.overflows)},
            "returning": spent
            and {
                "batches": spent.batches,
                "together": spent.pure,
                "delta": decimal_text(spent.delta),
                "epsilon": spent.epsilon,
            },
        },
        "certificates": [
            {"certificate": each.certificate.content} for each in (release, spent) if each
        ],
        "bits_per_user": one.bits * one.size,
    }


def _follows(environment: LinearEnvironment, setting: LinearSetting) -> bool:
    """Is what the radius assumes known to be true?"""
    return environment.theta is not None and environment.norm <= float(setting.norm)


def _prior(environment: LinearEnvironment, plan: LinearPlan) -> PriorBound | None:
    if environment.diversity is None or not _follows(environment, plan.setting):
        return None
    return prior_regret(plan.radius, environment.diversity, environment.chosen_diversity)


def _linear(environment: LinearEnvironment, setting: LinearSetting) -> float | None:
    mean = environment.linear_regret()
    return None if mean is None else mean * setting.horizon


def _parts(
    name: str, environment: LinearEnvironment, found: LinearResults, spent: Returning | None
) -> Iterator[Part]:
    plan, setting = found.plan, found.plan.setting
    runs = "1 run" if found.runs == 1 else f"{found.runs:,} runs"
    p = decimal_text(setting.confidence)
    given = {
        "algorithm": f"{name}: {_source(name, setting)}",
        "instance": f"{environment.name}: {environment.arms} arms, d = {environment.dimension}",
        "horizon": f"{setting.horizon:,} users in {len(found.rounds)} batches, {runs}",
        "radius": f"fails with probability at most {p}, ever, if {_MODEL}, |theta*| <= "
        f"{decimal_text(setting.norm)}",
    }
    shown: dict[str, Any] = {
        "regret": number(found.total_regret()),
        "without privacy": number(Mean.of(found.plain[:, -1])),
        "where the radius holds": f"at most {number(found.certified_regret())}",
        "from what was released": f"at most {number(Mean.of(found.released[:, -1]))}, where the "
        "radius holds",
    }
    prior = _prior(environment, plan)
    if prior is not None:
        shown["before anything runs"] = (
            f"at most {prior.bound:,.1f}, but with probability {decimal_text(prior.failure)}; its "
            f"mean at most {prior.mean:,.1f}"
            if prior.mean < setting.horizon * cap_of(setting.norm)
            else "nothing is proved of these batches; with a first one (--first) of about "
            f"{prior.first:,} users more may be"
        )
    if plan.release is None:
        del shown["without privacy"]
    if found.outside is not None:
        shown["outside the radius"] = f"{int(found.outside.sum())} of {runs}"
    best = _linear(environment, setting)
    if best is not None:
        shown["the model"] = (
            "is an assumption, and hardly true of data: nor need the radius hold. The "
            f"least-squares fit to all users has regret {best:,.1f}"
        )
    elif not _follows(environment, setting):
        shown["the model"] = (
            f"does not hold: |theta*| is {environment.norm:g}, so that nothing is proved of regret "
            "or radius"
        )
    yield given
    yield _table(found)
    yield {**shown, **_private(plan, spent)}


def _table(found: LinearResults) -> Table:
    step = max(1, len(found.rounds) // _ROWS)
    batches = list(range(len(found.rounds)))[::-step][:_ROWS][::-1]
    rows = [
        (
            f"{found.rounds[batch]:,}",
            *(
                f"{values[:, batch].mean():,.1f}"
                for values in (found.regret, found.plain, found.certified)
            ),
        )
        for batch in batches
    ]
    columns = ("users", "regret", "without privacy", "at most, in the radius")
    return Table(columns, rows, right=columns)


def _private(plan: LinearPlan, spent: Returning | None) -> Mapping[str, str]:
    release = plan.release
    if release is None:
        return {"privacy": "nothing is added to the sums: not private"}
    one = release.contribution
    several = {} if spent is None else {f"a user of {spent.batches} batches": _said(spent)}
    return {
        "privacy": f"{release.claim} of every batch and of the whole run, for users who take part "
        "once, towards the server, which sees sums only",
        "neighbours": "a user's context and reward, or zeros instead; her noise in both. Replaced "
        "by another's: twice epsilon, (1 + e^epsilon) delta",
        **several,
        "mechanism": f"{release.spec} VERIFIED, with a certificate",
        "noise": f"{release.deviation:.4g} in each of {one.size} numbers of a batch's sum, to "
        "which a user adds a vector of norm at most 1",
        "bits per user": f"{one.bits * one.size}, of sums mod 2^{one.bits}",
    }


def _said(spent: Returning) -> str:
    pure = "" if spent.pure is None else f"epsilon {spent.pure}, and "
    return f"{pure}epsilon {spent.epsilon} at delta {decimal_text(spent.delta)}, with a certificate"
