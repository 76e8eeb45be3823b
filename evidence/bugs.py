"""Known defects: what is claimed, which uses the defect leaves, and the twin that is right."""

from __future__ import annotations

from attrs import frozen

from .stated import Stated, read_rows


@frozen
class Bug:
    """A known defect: what is claimed, of which uses, and the twin that is right.

    id, source      its name, and where it is told
    defect          what is wrong, in words
    spec, claim     the uses that the defect leaves, and what is claimed of them, falsely
    repaired        the uses without the defect
    repaired_claim  what is true of these; None for the same claim
    note            more that a reader should know

    >>> bug = next(one for one in read_bugs() if one.id == "bandit-scale")
    >>> bug.stated.command
    'exactdp audit published:epsilon=0.1,batch=1024 --claim pure:0.1'
    """

    id: str
    source: str
    defect: str
    spec: tuple[str, ...]
    claim: str
    repaired: tuple[str, ...]
    repaired_claim: str | None = None
    note: str | None = None

    @property
    def stated(self) -> Stated:
        """What is claimed, and false."""
        return Stated(self.spec, self.claim)

    @property
    def twin(self) -> Stated:
        """What is true of the repaired uses."""
        return Stated(self.repaired, self.repaired_claim or self.claim)


def read_bugs() -> list[Bug]:
    """All of them, in their order.

    >>> read_bugs()[0].stated.command
    'exactdp audit published:epsilon=0.1,batch=1024 --claim pure:0.1'
    """
    return read_rows("bugs", Bug)
