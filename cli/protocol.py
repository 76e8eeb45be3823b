"""`exactdp protocol`: how often a protocol fails, how far off it is, and what it costs to send."""

from __future__ import annotations

from typing import Annotated

import typer

from ..exact import ParameterError, time_limit
from ..mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise
from ..mechanisms.specs.spec import parse
from .options import DEFAULT_TIME, Time, option, read_time
from .protocol_shuffle import shuffled
from .protocol_sum import summed
from .result import Result, printed


@printed
def protocol(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="theorem1:..., ..., theorem6:..., shuffle-sum:..., federated:..., tree:..., or a "
            "file",
        ),
    ],
    failure: Annotated[
        str | None, option("P", "failure probability (1/T of the preset, else 1e-6)")
    ] = None,
    dropout: Annotated[
        list[str] | None,
        option("D", "users who may drop out: what keeps the guarantee; repeatable"),
    ] = None,
    delta: Annotated[str | None, option("D", "federated, streams: ε at this δ (1e-6)")] = None,
    rounds: Annotated[str | None, option("K", "federated: rounds together (1)")] = None,
    target: Annotated[
        str | None, option("CLAIM", "federated: the least local-stddev and the fewest bits for it")
    ] = None,
    seconds: Time = DEFAULT_TIME,
) -> Result:
    """Certify a protocol's failures and errors; find what it really needs to send."""
    parsed = parse(spec)
    with time_limit(read_time(seconds)):
        if parsed.federated is not None:
            from .protocol_federated import federated

            level, times = delta or "1e-6", rounds or "1"
            return federated(parsed, failure, dropout or [], level, times, target)
        if rounds is not None or target is not None:
            raise ParameterError("--rounds and --target are for federated:... only")
        if isinstance(parsed.mechanism, MatrixNoise | DiscreteMatrixNoise):
            from .protocol_stream import stream

            return stream(parsed, failure, dropout or [], delta or "1e-6")
        if delta is not None:
            raise ParameterError("--delta is for federated:... and streams only")
        measured = summed if parsed.shuffled is None else shuffled
        return measured(parsed, failure, dropout or [])
