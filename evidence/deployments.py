"""Published deployments: what is stated of each, and the mechanism as far as it is published."""

from __future__ import annotations

from attrs import frozen

from .stated import Stated, read_rows


@frozen
class Deployment:
    """What is published of a deployment.

    id, source, deployment  its name, where it is told, and what it is, in words
    spec, claim             the uses, empty where they are not published, and what is stated of them
    assumed                 what had to be assumed, in words

    >>> first = read_deployments()[0]
    >>> first.stated.claim == first.claim
    True
    """

    id: str
    source: str
    deployment: str
    spec: tuple[str, ...]
    claim: str
    assumed: tuple[str, ...]

    @property
    def stated(self) -> Stated | None:
        """What is stated of the mechanism; None where that is not published."""
        return Stated(self.spec, self.claim) if self.spec else None


def read_deployments() -> list[Deployment]:
    """All of them, in their order.

    Raises nothing of its own.

    >>> len(read_deployments()) > 30
    True
    """
    return read_rows("deployments", Deployment)
