"""`exactdp protocol`: how often a protocol fails, how far off it is, what it costs; or a round."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..exact import ParameterError, time_limit
from ..mechanisms.matrices.release import DiscreteMatrixNoise, MatrixNoise
from .options import DEFAULT_TIME, Note, Time, option, read_time
from .playing import Choices, refuse
from .protocol_federated import federated, read
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
        str | None,
        option(
            "P",
            "failure probability (1/T of the preset, else 1e-6); with --play that a server which "
            "lies learns more than the sum (1e-9)",
        ),
    ] = None,
    dropout: Annotated[
        list[str] | None,
        option(
            "D",
            "users who may drop out: what keeps the guarantee; repeatable; with --play who do: a "
            "fraction below 1, or how many (0)",
        ),
    ] = None,
    delta: Annotated[
        str | None, option("D", "federated, streams, --play: ε at this δ (1e-6)")
    ] = None,
    rounds: Annotated[str | None, option("K", "federated: rounds together (1)")] = None,
    target: Annotated[
        str | None,
        option(
            "CLAIM",
            "federated: the least local-stddev, which SPEC may lack, and the fewest bits for it",
        ),
    ] = None,
    play: Annotated[
        bool, typer.Option("--play", help="play one batch: randomizers, masks, sum, analyzer")
    ] = False,
    rewards: Annotated[
        Path | None, option("FILE", "--play: a reward in [0, 1] for each user, one a line")
    ] = None,
    mean: Annotated[
        str | None, option("P", "--play without FILE: rewards are coins of this mean (1/2)")
    ] = None,
    floor: Annotated[
        str | None, option("F", "--play: fewest users in a sum that users unmask (all but D)")
    ] = None,
    mask_degree: Annotated[
        str | None, option("K", "--play: with whom each user shares masks (from --failure)")
    ] = None,
    colluding: Annotated[
        str | None, option("C", "--play: users who tell the server all that they know (0)")
    ] = None,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="--play: add up without masks; who drops out sends nothing"),
    ] = False,
    certificate: Annotated[
        Path | None, option("FILE", "--play: write a certificate of the privacy that remains")
    ] = None,
    claim: Annotated[
        str | None, option("CLAIM", "--play: what is certified (the least ε that is known)")
    ] = None,
    note: Note = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="S", min=0, help="--play: the same again; a simulation, never a release"
        ),
    ] = None,
    clients: Annotated[
        str | None, option("N", "--play: of federated:..., where it has none")
    ] = None,
    dimension: Annotated[
        str | None, option("D", "--play: of federated:..., where it has none")
    ] = None,
    seconds: Time = DEFAULT_TIME,
) -> Result:
    """Certify a protocol's failures and errors; find what it really needs to send; play a round.

    A round that is played prints the sum that is found beside the true one, who was there at each
    stage, and the privacy of the worst round that users accept: with as many dropped out as the
    floor allows. Its --time is for what is measured, and as much again for its certificate.
    """
    users = dropout or []
    measured = {"--rounds": rounds, "--target": target}
    played = {
        "--rewards": rewards,
        "--mean": mean,
        "--floor": floor,
        "--mask-degree": mask_degree,
        "--colluding": colluding,
        "--plain": plain,
        "--certificate": certificate,
        "--claim": claim,
        "--note": note,
        "--seed": seed,
        "--clients": clients,
        "--dimension": dimension,
    }
    if play:
        from .play import played_round

        refuse(measured, "is not for a round that is played")
        if len(users) > 1:
            raise ParameterError(f"--dropout must be given once with --play, got {len(users)}")
        own = {"--dropout": users[0] if users else None, "--delta": delta, "--failure": failure}
        return played_round(spec, Choices({**own, **played}, read_time(seconds)))
    refuse(played, "needs --play")
    parsed, lacking = read(spec, target)
    with time_limit(read_time(seconds)):
        if parsed.federated is not None:
            known = delta or "1e-6", rounds or "1", target
            return federated(parsed, lacking, failure, users, *known)
        refuse(measured, "is for federated:... only")
        if isinstance(parsed.mechanism, MatrixNoise | DiscreteMatrixNoise):
            from .protocol_stream import stream

            return stream(parsed, failure, users, delta or "1e-6")
        refuse({"--delta": delta}, "is for federated:... and streams, or --play")
        return (summed if parsed.shuffled is None else shuffled)(parsed, failure, users)
