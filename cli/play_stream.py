"""`exactdp protocol tree:... --play`: a stream of made-up rows, really masked and summed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from ..common.table import Table
from ..exact import ParameterError, time_limit
from ..mechanisms.matrices.shared import SharedStream
from ..mechanisms.specs.spec import Spec
from ..protocols.aggregation.batch import some_of, some_stages
from ..protocols.aggregation.stream import Rows, StreamStep, play_stream
from . import output
from .in_time import Figures
from .measure import epsilon_of
from .parts import described, shown
from .playing import Choices
from .result import Part, Result

_MOST = 200_000  # messages of all clients in all steps
_MOST_NUMBERS = 20_000_000  # that they are made of
_SHOWN = 16  # steps in the table: these, evenly


def play(parsed: Spec, choices: Choices) -> Result:
    """Play it, and measure what remains.

    Raises ParameterError for what is out of range, and where too few remain.
    """
    shared = parsed.stream
    if shared is None or shared.bits is None:
        raise ParameterError(
            "SPEC must have clients, and bits: exactdp protocol SPEC says how many are enough"
        )
    if shared.dropout:
        raise ParameterError(
            "SPEC must leave dropout to this command: clients drop out by --dropout"
        )
    level, bits = choices.level, choices.bits
    clients, steps = shared.clients, shared.matrix.steps
    if clients * steps > _MOST or clients * steps * shared.dimension > _MOST_NUMBERS:
        raise ParameterError(
            f"clients times steps must be at most {_MOST} to be played, and times dimension at "
            f"most {_MOST_NUMBERS}, got {clients} clients and {steps} steps"
        )
    gone, most = choices.missing(clients)
    shared.missing(most)  # refuses where nobody is left
    with output.working("playing the stream"), choices.summing(" in a step"):
        rows = [_made_up(client, shared) for client in range(clients)]

        def leaving(_: int) -> Mapping[int, Any]:
            return some_stages(some_of(clients, gone, bits), bits)

        played = list(play_stream(shared, rows, bits, leaving, most, not choices.plain))
    fewest = min(step.summed for step in played)
    choices.check_floor(fewest, clients, most, "clients in a sum")
    figures = Figures()
    with output.working("measuring what remains"), time_limit(choices.seconds):
        missing = sorted({clients - fewest, most})
        costs = {gone: epsilon_of(shared.missing(gone), 1, level) for gone in missing}
    figures.late = not all(cost.is_finite() for cost in costs.values())
    errors = [abs(a - b) for step in played for a, b in zip(step.found, step.truth, strict=True)]
    told: dict[str, Any] = {
        "bits_from": choices.source,
        "simulation": played[0].simulated,
        "clients": clients,
        "steps": steps,
        "dimension": shared.dimension,
        "summed": [step.summed for step in played],
        "found": [list(step.found) for step in played],
        "truth": [list(step.truth) for step in played],
        "complete": [list(step.complete) for step in played],
        "error": {"largest": max(errors), "root_mean_square": _root_mean_square(errors)},
        "privacy": [
            {"missing": gone, "quantity": "epsilon", "delta": choices.delta, **cost.to_json()}
            for gone, cost in costs.items()
        ],
        "neighbours": shared.noise.neighbours,
        "bits_per_step": shared.bits * shared.dimension,
        "bits_sent": sum(step.bits for step in played),
        "seconds": round(sum(step.seconds for step in played), 3),
    }
    remains = {
        f"ε at δ = {choices.delta}, {gone} missing": shown(cost) for gone, cost in costs.items()
    }
    parts = chain(_parts(parsed, told, played), [remains | figures.note])
    return Result({"mechanism": parsed} | told | figures.note, parts, figures.code)


def _made_up(client: int, shared: SharedStream) -> Rows:
    """A client's rows: data, not noise. As often as it may, in steps at random."""
    drawn, who = np.random.default_rng(client), shared.noise.stream.who
    slack = who.steps - who.span
    late = np.sort(drawn.integers(0, slack + 1, 1 if who.fixed else who.times))
    most, rows = shared.noise.reach.farthest, {}
    for place in range(who.times):
        step = place * who.separation + int(late[0 if who.fixed else place])
        row = [0] * shared.dimension
        row[int(drawn.integers(shared.dimension))] = int(drawn.integers(1, most + 1))
        rows[step] = row
    return rows


def _root_mean_square(errors: Sequence[int]) -> float:
    return math.sqrt(Fraction(sum(error * error for error in errors), len(errors)))


def _parts(parsed: Spec, told: dict[str, Any], played: Sequence[StreamStep]) -> Iterator[Part]:
    state = "a simulation, not a release" if told["simulation"] else "CSPRNG"
    fewest, clients, error = min(told["summed"]), told["clients"], told["error"]
    facts = described(parsed)
    facts |= {
        "random bits": f"{told['bits_from']}: {state}",
        "summed": f"{fewest} of {clients} clients or more in each of {told['steps']} steps",
        "error": f"at most {error['largest']}, {error['root_mean_square']:.4g} in the root mean "
        "square, of all prefix sums of what was summed",
        "adjacency": f"{told['neighbours']}; who is there is the same in both",
        "a client sends": f"{told['bits_per_step']} bits of message a step, {told['bits_sent']} "
        "bits in all",
        "seconds": f"{told['seconds']:.3f}",
    }
    every = -(-len(played) // _SHOWN)
    rows = [
        (
            str(at + 1),
            str(step.summed),
            *(str(x[0]) for x in (step.found, step.truth, step.complete)),
        )
        for at, step in enumerate(played)
        if (at + 1) % every == 0 or at + 1 == len(played)
    ]
    columns = ("step", "summed", "prefix sum found", "of those summed", "of all clients")
    yield facts
    yield Table(columns, rows, right=columns)
