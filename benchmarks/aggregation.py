"""Rounds of masked aggregation: every user and the server in one process, both sides of each key.

A round's answer is its sum, compared with the plain sum of those who were there; no peer of the
harness does the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from case import Case

from exactdp.exact import Enclosure


def round_of(
    users: int, vanish: int = 0, modulus: int = 33_554_467
) -> Callable[[], Sequence[Enclosure]]:
    """`vanish` of the users leave, a fifth of them at each stage; the operating system's bits."""

    def compute() -> Sequence[Enclosure]:
        from exactdp.protocols.aggregation import PlainSum
        from exactdp.protocols.aggregation.masked import MaskedSum, Stage

        stages = [stage for stage in Stage if stage is not Stage.DONE]
        gone = {step * users // vanish: stages[step % 5] for step in range(vanish)}
        messages = {user: (user + 1) * modulus // 1031 % modulus for user in range(users)}
        # The graph is given, so that its cost can be compared: nobody is taken to be corrupt.
        masked = MaskedSum(modulus, 32, 22, dropout=vanish, corrupt=0)
        found = masked.aggregate(messages, gone)
        counted = {
            user: each
            for user, each in messages.items()
            if user not in gone or gone[user].value > Stage.INPUT.value
        }
        if found != PlainSum(modulus).aggregate(counted):
            raise ArithmeticError("the masks do not cancel")
        return [Enclosure.exactly(found)]

    return compute


CASES = (
    Case("masked-1024", "masked sum, 1024 users, 32 neighbours", round_of(1024), seconds=5),
    Case("masked-dropout", "the same, 51 vanish on the way", round_of(1024, 51), seconds=5),
    Case("masked-big", "the same, m of 256 bits", round_of(1024, 51, 2**256 - 189), seconds=5),
)
