"""Flower: updates with exact noise under its SecAgg+, and what the rounds cost, certified.

    from exactdp.interop import flower

    client = ClientApp(client_fn, mods=[flower.NoisyUpdates(encoding, share)])
    account = flower.FederatedAccount(encoding, share)
    strategy = flower.CertifiedStrategy(FedAvg(...), account, delta="1e-6")
    DefaultWorkflow(fit_workflow=flower.secagg_workflow(encoding, 5, 3))(grid, context)

What clients send and what is assumed of them: `exactdp.protocols.flower`. Flower is
imported only where it is used: `pip install "exactdp[flower]"`.
"""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen, mutable

from ...exact import Enclosure, ExactInput, ParameterError, whole
from ...mechanisms.additive.reach import Reach
from ...mechanisms.additive.vector import VectorNoise
from ...mechanisms.laws.law import Law
from ...protocols.federated import Encoding
from ...protocols.flower import Carrier, CertifiedStrategy, NoisyUpdates, secagg_workflow
from ..composition.composed import Composition, compose

__all__ = ["Carrier", "CertifiedStrategy", "FederatedAccount", "NoisyUpdates", "Round"]
__all__ += ["secagg_workflow"]

_WIDTH = Fraction(1, 1000)


@frozen
class Round:
    """How many clients were asked, and how many are in the sum: asked, summed.

    >>> Round(asked=5, summed=4).missing
    1
    """

    asked: int
    summed: int

    @property
    def missing(self) -> int:
        """Shares of the noise that were planned and are not in the sum."""
        return self.asked - self.summed


def _whole(value: ExactInput) -> int:
    return whole(value, "colluding", at_least=0)


@mutable
class FederatedAccount:
    """The rounds that were released, and what one client's data cost in them together.

    encoding    of the updates, whose `squared_sensitivity` no client's integers exceed
    share       the law of what one client adds to each coordinate
    neighbours  "replace": a client's update becomes any other, which moves the sum by at most twice
                the norm bound; "add-remove": it becomes 0 (or was), and the share is still sent
    colluding   clients in every sum who tell the observer their shares

    The lower end of what it answers is the cost of some integer vector within the norm bound, which
    rounded updates may not quite reach; the upper end holds for all. Raises ParameterError for a
    law whose vectors are not bounded, or whose shares have no known sum.

    >>> from exactdp.mechanisms import Skellam
    >>> encoding = Encoding(clip=1, scale=2, dimension=1, bits=16, rounding="stochastic")
    >>> account = FederatedAccount(encoding, Skellam(variance=20))
    >>> for asked, summed in ((5, 5), (5, 5), (5, 4)):
    ...     account.record(asked, summed).missing
    0
    0
    1
    >>> account.epsilon("1e-5") <= 5
    True
    """

    encoding: Encoding
    share: Law
    neighbours: str = field(default="replace", kw_only=True)
    colluding: int = field(default=0, kw_only=True, converter=_whole)
    rounds: list[Round] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.mechanism(1)

    def record(self, asked: ExactInput, summed: ExactInput) -> Round:
        """Count a round whose sum was released."""
        clients = whole(asked, "asked", at_least=1)
        found = Round(clients, whole(summed, "summed", at_least=1, at_most=clients))
        self.rounds.append(found)
        return found

    def mechanism(self, shares: ExactInput) -> VectorNoise:
        """What is released of a sum with so many unknown shares of the noise, at least one."""
        count = whole(shares, "shares", at_least=1)
        try:
            law = self.share.sum_of(count)
        except NotImplementedError as error:
            raise ParameterError(f"share has no known sum: {error}") from error
        square = self.encoding.squared_sensitivity * (4 if self.neighbours == "replace" else 1)
        reach = Reach.of_square(square, None, self.encoding.size)
        return VectorNoise(law, reach, self.encoding.modulus, self.neighbours)

    def composition(self, *, masked: bool = True) -> Composition:
        """The rounds so far; masked=False: each client's message seen on its own.

        Raises ParameterError where there is none, and where colluders leave no noise.
        """
        shares = [each.summed - self.colluding if masked else 1 for each in self.rounds]
        return compose(*((self.mechanism(n), shares.count(n)) for n in dict.fromkeys(shares)))

    def epsilon(
        self, delta: ExactInput, *, masked: bool = True, width: Fraction = _WIDTH
    ) -> Enclosure:
        """Where epsilon lies at this delta, over all rounds so far."""
        if not self.rounds:
            return Enclosure.exactly(0)
        if masked and any(each.summed <= self.colluding for each in self.rounds):
            return Enclosure.infinite()
        return self.composition(masked=masked).epsilon(delta, width)
