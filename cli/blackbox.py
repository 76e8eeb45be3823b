"""`exactdp blackbox`: do the outputs of somebody else's sampler break a privacy claim?"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Annotated, Any

import typer

from ..exact import ParameterError
from ..mechanisms.specs.spec import parse
from ..verify import parse_claim
from ..verify.blackbox import (
    Command,
    OneByOne,
    SampleAudit,
    Sampler,
    SampleVerdict,
    audit_sampler,
)
from . import output
from .options import option
from .result import Result, printed

_MEANING = (
    "no violation found does not mean that the claim is true: these samples would have found what "
    "`power` says, on the event that was tested, and nothing smaller"
)


@printed
def blackbox(
    sampler: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODULE:FUNCTION]",
            help="f(input, size, rng) returns many numbers, or vectors; f(input, rng) or "
            "f(input) one",
            show_default=False,
        ),
    ] = None,
    command: Annotated[
        str | None,
        option(
            "TEXT",
            'instead: a program that prints integers or floats, "prog {input} {size}" (also '
            "{seed}); run without a shell",
        ),
    ] = None,
    claim: Annotated[str, option("CLAIM", "pure:EPSILON or approx:EPSILON,DELTA")] = "",
    inputs: Annotated[
        list[str] | None,
        option("A,B", "neighbouring inputs; may be repeated (0,1 if not given)"),
    ] = None,
    samples: Annotated[str, option("N", "how many outputs of each input are drawn")] = "1e5",
    law: Annotated[
        str | None,
        option(
            "SPEC", "what the sampler claims to be: test its likelihood ratio, and its distribution"
        ),
    ] = None,
    error: Annotated[str, option("P", "the probability of a false alarm, over all tests")] = "1e-6",
    seed: Annotated[int | None, typer.Option(metavar="S", min=0, help="the same again")] = None,
    timeout: Annotated[str, option("SECONDS", "for each run of --command")] = "600",
) -> Result:
    """Test a sampler by its outputs: a lower confidence bound on its epsilon and delta.

    Exit 1: a violation was found, of the claim or of the noise distribution. Exit 0: none
    was found, which does not mean that there is none.
    """
    if (sampler is None) == (command is None):
        raise ParameterError("give either MODULE:FUNCTION or --command")
    asked = parse_claim(claim)
    pairs = [_pair(text) for text in inputs or ["0,1"]]
    spec = None if law is None else parse(law)
    drawn = _load(sampler) if sampler is not None else Command(command or "", timeout)
    with output.working("sampling and testing"):
        result = audit_sampler(
            drawn,
            asked,
            pairs,
            samples,
            rng=seed,
            mechanism=None if spec is None else spec.mechanism,
            check_law=spec is not None,
            error=error,
        )
    named = {"sampler": sampler or command, "law": law, "seed": seed}
    given = {key: value for key, value in named.items() if value is not None}
    data = given | result.to_json() | {"verdict": result.overall.value}
    code = 1 if result.overall is SampleVerdict.VIOLATION else 0
    return Result(data, [_facts(str(sampler or command), result)], code)


def _pair(text: str) -> tuple[Any, Any]:
    values = [part.strip() for part in text.split(",")]
    if len(values) != 2 or "" in values:
        raise ParameterError(f"inputs must be two values A,B, got {text[:40]!r}")
    return _value(values[0]), _value(values[1])


def _value(text: str) -> int | float | str:
    """An input as the sampler gets it: an integer where it reads as one, a float, or text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _load(name: str) -> Sampler:
    """Import what the user named, also from the current folder, and nothing else."""
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        hint = f" (did you mean {name[:-3]}:FUNCTION?)" if name[:60].endswith(".py") else ""
        raise ParameterError(f"the sampler must be MODULE:FUNCTION, got {name[:60]!r}{hint}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = pkgutil.resolve_name(name)
    except (Exception, SystemExit) as error:  # an exit must not read as an answer
        kind = type(error).__name__
        raise ParameterError(
            f"the sampler {name[:60]} cannot be loaded: {kind}: {error}"
        ) from error
    if not callable(found):
        raise ParameterError(f"the sampler {name[:60]} is not a function")
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return found  # type: ignore[no-any-return]
    places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) or places >= 3:
        return found  # type: ignore[no-any-return]
    if not places:
        raise ParameterError(f"the sampler {name[:60]} takes no input")
    return OneByOne(found if places == 2 else lambda value, _: found(value))


def _facts(name: str, result: SampleAudit) -> dict[str, str]:
    facts = {
        "sampler": name,
        "claim": str(result.claim),
        "verdict": result.overall.value,
        "epsilon": f"at least {_down(result.epsilon)}{_at(result)}",
        "delta": f"at least {_down(result.delta)}, at epsilon {float(result.claim.bound):g}",
        "event": str(result.best.plan),
        "counts": ", ".join(f"{key} {count}" for key, count in result.best.counts.items()),
        "inputs": " and ".join(str(value) for value in result.best.inputs),
        "samples": f"{result.samples} of each input",
        "error": f"{result.error:g} over all tests",
    }
    if result.delta == 0:
        del facts["delta"]
    facts |= _fits(result)
    if result.overall is not SampleVerdict.VIOLATION:
        facts["power"] = (
            f"0.95 for a true epsilon of {result.detectable_epsilon:.4g} or more on these events"
        )
        facts["note"] = _MEANING
    if result.note:
        facts["law"] = result.note
    return facts


def _fits(result: SampleAudit) -> dict[str, str]:
    if not result.fits:
        return {}
    worst = min(result.fits, key=lambda each: each.p_value)
    follows = "is not followed" if result.misfits else "no deviation found"
    return {"law": f"{follows}, smallest p-value {worst.p_value:.3g} at error {worst.error:.3g}"}


def _at(result: SampleAudit) -> str:
    delta = float(getattr(result.claim, "delta", 0))
    return f", at delta {delta:g}" if delta else ""


def _down(value: float) -> str:
    return str(Context(prec=6, rounding=ROUND_FLOOR).create_decimal(Decimal(value)).normalize())
