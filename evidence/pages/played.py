"""A whole round, played: randomizers, masks, users who drop out, analyzer, and what remains."""

from __future__ import annotations

from fractions import Fraction

from exactdp.cli.parts import shown
from exactdp.exact import Enclosure
from exactdp.mechanisms.additive import papers
from exactdp.mechanisms.samplers import SeededBits
from exactdp.mechanisms.samplers.coins import bernoulli
from exactdp.protocols import SumProtocol, provisioned
from exactdp.protocols.aggregation.batch import Batch, play_batch, some_of, some_stages

from .missing import remaining_pure
from .page import table


def played(
    epsilon: str = "0.5",
    users: int = 1000,
    horizon: int = 10**6,
    share: str = "0.05",
    neighbours: int | None = None,
    seed: int = 1,
) -> str:
    """Theorem 1's protocol over masks, with published and with larger shares."""
    given = papers.theorem1(epsilon, users, horizon).protocol
    leaving = int(Fraction(share) * users)
    ways = {"as published": given, "larger shares": provisioned(given, leaving).protocol}
    rounds = {name: _round(protocol, leaving, neighbours, seed) for name, protocol in ways.items()}
    rows = []
    for name, batch in rounds.items():
        error = batch.estimate - batch.truth
        rows.append(
            [
                name,
                f"{batch.summed} of {users}",
                _number(batch.truth),
                _number(batch.estimate),
                _number(error),
                "yes" if abs(error) <= Fraction(given.accuracy, given.precision) else "no",
                shown(remaining_pure(ways[name], leaving)),
            ]
        )
    columns = ("shares", "summed", "true sum", "sum found", "error", "within τ/g", "pure ε")
    stages = list(next(iter(rounds.values())).present)
    present = (
        [name, *(str(batch.present[each]) for each in stages)] for name, batch in rounds.items()
    )
    first = next(iter(rounds.values()))
    terms = first.terms
    graph = "" if terms is None else f"{terms.neighbours} neighbours, {terms.threshold} needed"
    return f"""\
Theorem 1's protocol, ε = {epsilon}, n = {users}, T = {horizon}, over real masks ({graph}): coins
as rewards, {leaving} users drop out, each at some stage. This is a **simulation** (seed {seed}): a
release draws its bits from the operating system. A user sends {first.bits} bits in all, of which
{given.bits_per_user} are the message; the rest is for the masks. τ/g is
{_number(Fraction(given.accuracy, given.precision))}. ε is that of the fewest users whose sum is
unmasked, {users - leaving}, before the reduction mod m.

{table(columns, rows)}

Users who were there at each stage:

{table(("shares", *stages), present)}

**What to do.** Nothing breaks when users drop out: the sum of those who are left is right up to its
noise. What does break is the promise, unless the shares were made larger for as many as drop out
(second row). Users who drop out only after their masked input is in are in the sum, and so is their
noise. `exactdp protocol SPEC --play --dropout {share} --certificate FILE` plays one and certifies
what remains."""


def _round(protocol: SumProtocol, leaving: int, neighbours: int | None, seed: int) -> Batch:
    bits = SeededBits(seed)
    rewards = [Fraction(bernoulli(Fraction(1, 2), bits)) for _ in range(protocol.users)]
    when = some_stages(some_of(protocol.users, leaving, bits), bits)
    return play_batch(protocol, rewards, bits, when, neighbours)


def _number(value: Fraction) -> str:
    return shown(Enclosure.exactly(value), 8)
