"""The mechanisms of Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits"
(ICLR 2023), with the parameters that its theorems state, computed exactly; and the binary sum of
the shuffle paper.

Each user encodes a reward in [0, 1] as an integer in 0..g; a batch of n users is summed, noise is
added, and the sum is released mod m. Replacing one user moves the sum by at most g.

    precision  g      the grid of the encoding, and the sensitivity of the sum
    accuracy   tau    a bound that the total noise exceeds with probability at most p = 1/T
    modulus    m      n g + 2 tau + 1 in every theorem
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from attrs import frozen
from flint import arb

from ...exact.number import ExactInput, Formula, Real, ball, decimal_text, exact, whole
from ..laws.discrete_gaussian import DiscreteGaussian
from ..laws.discrete_laplace import DiscreteLaplace, PolyaDifference
from ..laws.law import Law
from ..laws.search import certain_ceiling
from ..laws.skellam import Skellam
from ..mechanism import AdditiveNoise, RandomizedResponse
from .protocol import RelaxedAggregation, SumProtocol, Trust
from .shuffle import ShuffleSum, shuffled_sum, stated_tau

_LARGEST_BATCH = 10**20  # so that a share of 1/n has a shape that can be computed with


class _Stated(Enum):
    MODULUS = "as stated"


STATED: Final = _Stated.MODULUS  # the modulus that the theorem states
Modulus: TypeAlias = ExactInput | Literal[_Stated.MODULUS] | None  # None: the plain sum


@frozen
class Preset:
    """A mechanism as a theorem states it, beside the parameters that were derived.

    mechanism: what is released when every user's share is in it; `protocol.released` says what
    remains when some are missing or known. protocol: how it is made.
    """

    source: str
    epsilon: Fraction
    batch: int
    precision: int
    accuracy: int | None  # None without a horizon
    mechanism: AdditiveNoise
    protocol: SumProtocol


@frozen
class RelaxedPreset:
    """The same over a relaxed secure aggregation: the mechanism is what that one guarantees.

    `aggregation.released` says what it does where some shares are missing or known.
    """

    source: str
    epsilon: Fraction
    batch: int
    precision: int
    accuracy: int
    mechanism: RandomizedResponse
    protocol: SumProtocol
    aggregation: RelaxedAggregation


@frozen
class ShufflePreset:
    """A binary sum in the shuffle model, as its theorem states it. tau is irrational."""

    source: str
    epsilon: Fraction
    delta: Fraction
    batch: int
    tau: Formula
    mechanism: AdditiveNoise
    protocol: ShuffleSum


def preset(
    source: str,
    budget: Fraction,
    users: int,
    g: int,
    tau: int | None,
    noise: Law,
    modulus: Modulus,
    trust: Trust = Trust.DISTRIBUTED,
) -> Preset:
    """Put a preset together; noise: the law of one share (see `SumProtocol`)."""
    m = stated_modulus(users, g, tau, modulus)
    protocol = SumProtocol(users, g, tau or 0, m, noise, trust)
    return Preset(source, budget, users, g, tau, protocol.released(), protocol)


def stated_modulus(users: int, g: int, tau: int | None, modulus: Modulus) -> ExactInput | None:
    """m = n g + 2 tau + 1 unless another one is asked for; none without tau."""
    if modulus is STATED:
        return None if tau is None else users * g + 2 * tau + 1
    return modulus


def read_batch(batch: ExactInput, name: str = "batch") -> int:
    """n, the number of users."""
    return whole(batch, name, at_least=1, at_most=_LARGEST_BATCH)


def read_horizon(horizon: ExactInput) -> int:
    """T, the number of rounds."""
    return whole(horizon, "horizon", at_least=1)


def least_precision(factor: Fraction, users: int) -> int:
    """ceil(factor sqrt(users)), from integers: the least g with g² >= factor² users."""
    return math.isqrt(math.ceil(factor**2 * users) - 1) + 1


def log_2t(rounds: int) -> arb:
    """log(2T)."""
    return arb(2 * rounds).log()


@frozen
class InvertedScale:
    """-1/log(1 - e^(-1/scale)): of the discrete Laplace with parameter 1 - beta instead of beta.

    A formula (`exact.number.Formula`): the number is irrational.
    """

    scale: Fraction

    def fields(self) -> dict[str, str]:
        """How a certificate writes the scale of a discrete Laplace law."""
        return {"inverted-scale": decimal_text(self.scale)}

    def ball(self) -> arb:
        """Enclose it at the working precision."""
        return -1 / (-(-1 / ball(self.scale)).expm1()).log()


def theorem1(
    epsilon: ExactInput, batch: ExactInput, horizon: ExactInput, modulus: Modulus = STATED
) -> Preset:
    """Theorem 1, pure DP by secure aggregation: the shares add up to Lap_Z(g/epsilon).

    epsilon > 0; batch: n users; horizon: T rounds; modulus: another m, or None for the plain sum.
    g = ceil(epsilon sqrt(n)), tau = ceil((g/epsilon) log(2T)).
    Raises ParameterError for what is out of range, UndecidedError where tau stays open.
    """
    budget = exact(epsilon, "epsilon", above=0)
    return _laplace_batch("Theorem 1", budget, batch, horizon, modulus, Trust.DISTRIBUTED)


def theorem2(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput,
    scaling: ExactInput,
    modulus: Modulus = STATED,
) -> Preset:
    """Theorem 2, Rényi DP by secure aggregation: n shares Sk(0, g²/(n epsilon²)).

    epsilon > 0, scaling s >= 1; batch, horizon, modulus and errors as in `theorem1`.
    g = ceil(s epsilon sqrt(n)), tau = ceil((2g/epsilon) sqrt(log(2T)) + sqrt(2) log(2T)).
    """
    budget = exact(epsilon, "epsilon", above=0)
    users, rounds, g, scale = _derived(budget, batch, horizon, scaling)

    def bound() -> arb:
        log = log_2t(rounds)
        return 2 * ball(scale) * log.sqrt() + arb(2).sqrt() * log

    tau = certain_ceiling(bound, "tau")
    return preset("Theorem 2", budget, users, g, tau, Skellam(scale**2 / users), modulus)


def theorem2_curve(epsilon: ExactInput, scaling: ExactInput, order: ExactInput) -> Fraction:
    """The Rényi divergence that Theorem 2 allows at this order, 2, 3, ..., as it is stated.

    epsilon > 0, scaling s >= 1; the same for every batch.
    """
    budget = exact(epsilon, "epsilon", above=0)
    s = exact(scaling, "scaling", at_least=1)
    alpha = whole(order, "order", at_least=2)
    fine = (2 * alpha - 1) * budget**2 / (4 * s**2) + 3 * budget / (2 * s**3)
    coarse = 3 * budget**2 / (2 * s)
    return alpha * budget**2 / 2 + min(fine, coarse)


def theorem3(
    epsilon: ExactInput, batch: ExactInput, horizon: ExactInput, modulus: Modulus = STATED
) -> RelaxedPreset:
    """Theorem 3, pure DP over an (epsilon/4, 1/(2T))-relaxed secure aggregation.

    epsilon > 0; batch, horizon, modulus and errors as in `theorem1`. With epsilon' = epsilon/2 and
    p' = 1/(2T): g = ceil(epsilon' sqrt(n)), tau = ceil((g/epsilon') log(2/p')), and Pólya shares
    that add up to Lap_Z(g/epsilon'), so of parameter e^(-epsilon/(2g)). The statement's own
    e^(-epsilon/9) is not private (claim D-thm3); this is what its proof needs.
    The mechanism is the guarantee itself, (epsilon, 0)-DP: see `RelaxedAggregation.released`.
    """
    budget = exact(epsilon, "epsilon", above=0)
    users, rounds, g, scale = _derived(budget / 2, batch, horizon)
    tau = laplace_accuracy(scale, 2 * rounds)
    m = stated_modulus(users, g, tau, modulus)
    protocol = SumProtocol(users, g, tau, m, laplace_share(users, scale))
    aggregation = RelaxedAggregation(budget / 4, Fraction(1, 2 * rounds))
    guarantee = aggregation.released(protocol)
    return RelaxedPreset("Theorem 3", budget, users, g, tau, guarantee, protocol, aggregation)


def theorem4(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput,
    scaling: ExactInput,
    modulus: Modulus = STATED,
    stated: bool = True,
) -> Preset:
    """Theorem 4, concentrated DP by secure aggregation: n shares N_Z(0, g²/(n epsilon²)).

    0 < epsilon < 1, scaling s >= 1; batch, horizon, modulus and errors as in `theorem1`.
    g = ceil(s epsilon sqrt(n)), tau = ceil((g/epsilon) sqrt(2 log(2T))).
    Without `stated` epsilon may be 1 or more: the protocol is the same.
    """
    budget = _stated_epsilon(epsilon, stated)
    users, rounds, g, scale = _derived(budget, batch, horizon, scaling)
    tau = certain_ceiling(lambda: ball(scale) * (2 * log_2t(rounds)).sqrt(), "tau")
    share = DiscreteGaussian(scale**2 / users)
    return preset("Theorem 4", budget, users, g, tau, share, modulus)


def theorem5(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput,
    modulus: Modulus = STATED,
    stated: bool = True,
) -> Preset:
    """Theorem 5, the central model: the server adds Lap_Z(g/epsilon), 0 < epsilon < 1.

    Parameters, noise and errors are those of `theorem1`. No user has a share of the noise: it is
    whole whoever drops out.
    Without `stated` epsilon may be 1 or more: the protocol is the same.
    """
    budget = _stated_epsilon(epsilon, stated)
    return _laplace_batch("Theorem 5", budget, batch, horizon, modulus, Trust.CENTRAL)


def theorem6(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput,
    modulus: Modulus = STATED,
    stated: bool = True,
) -> Preset:
    """Theorem 6, the local model: what one user releases, with Lap_Z(g/epsilon) of its own.

    0 < epsilon < 1; batch, horizon, modulus and errors as in `theorem1`.
    g = ceil(epsilon sqrt(n)), tau = ceil((c g/epsilon) sqrt(2 n log(2T))), where
    c = 1/sqrt(1 - e^(-1/2)) is the best constant of the paper's Lemma 5. Each user has noise of its
    own: it is whole whoever drops out.
    Without `stated` epsilon may be 1 or more: the protocol is the same.
    """
    budget = _stated_epsilon(epsilon, stated)
    users, rounds, g, scale = _derived(budget, batch, horizon)

    def bound() -> arb:
        squared = 2 * users * log_2t(rounds) / (1 - (arb(-1) / 2).exp())
        return ball(scale) * squared.sqrt()

    tau = certain_ceiling(bound, "tau")
    noise = DiscreteLaplace(scale)
    return preset("Theorem 6", budget, users, g, tau, noise, modulus, Trust.LOCAL)


def published(
    epsilon: ExactInput,
    batch: ExactInput,
    horizon: ExactInput | None = None,
    modulus: Modulus = STATED,
) -> Preset:
    """The total noise of the implementation that was published with the paper.

    It draws each Pólya share as a Gamma-mixed Poisson with Gamma scale (1 - beta)/beta,
    beta = e^(-epsilon/g), where beta/(1 - beta) is needed (the paper's footnote 3). That is a share
    of parameter 1 - beta, and the shares add up to a discrete Laplace whose e^(-1/scale) is
    1 - beta. Released as a plain sum, unless a horizon (then m is that of Theorem 1) or a modulus
    is given. Raises as `theorem1` does.
    """
    budget = exact(epsilon, "epsilon", above=0)
    users = read_batch(batch)
    g = least_precision(budget, users)
    share = laplace_share(users, InvertedScale(g / budget))
    if horizon is None:
        plain = None if modulus is STATED else modulus
        return preset("published implementation", budget, users, g, None, share, plain)
    tau = laplace_accuracy(g / budget, read_horizon(horizon))
    return preset("published implementation", budget, users, g, tau, share, modulus)


def shuffle_sum(epsilon: ExactInput, delta: ExactInput, users: ExactInput) -> ShufflePreset:
    """Algorithm 3 of the shuffle paper (Tenenbaum, Kaplan, Mansour, Stemmer, NeurIPS 2021).

    0 < epsilon < 1, 0 < delta < 1; users: n. tau = 96 log(2/delta)/epsilon²; for n <= tau each user
    adds ceil(tau/n) fair bits, otherwise one bit of probability tau/(2n). What is released is the
    number of ones, of sensitivity 1, with binomial noise. Raises ParameterError for what is out of
    range, UndecidedError where a ceiling stays open.
    """
    budget = exact(epsilon, "epsilon", above=0, below=1)
    rare = exact(delta, "delta", above=0, below=1)
    protocol = shuffled_sum(budget, rare, read_batch(users, "users"))
    tau = stated_tau(budget, rare)
    source = "shuffle paper, Algorithm 3"
    released = protocol.released()
    return ShufflePreset(source, budget, rare, protocol.users, tau, released, protocol)


def _stated_epsilon(epsilon: ExactInput, stated: bool) -> Fraction:
    return exact(epsilon, "epsilon", above=0, below=1 if stated else None)


def _derived(
    budget: Fraction, batch: ExactInput, horizon: ExactInput, scaling: ExactInput = 1
) -> tuple[int, int, int, Fraction]:
    """n, T, g = ceil(s epsilon sqrt(n)), and the scale g/epsilon of the noise."""
    users, rounds = read_batch(batch), read_horizon(horizon)
    g = least_precision(exact(scaling, "scaling", at_least=1) * budget, users)
    return users, rounds, g, g / budget


def _laplace_batch(
    source: str,
    budget: Fraction,
    batch: ExactInput,
    horizon: ExactInput,
    modulus: Modulus,
    trust: Trust,
) -> Preset:
    users, rounds, g, scale = _derived(budget, batch, horizon)
    tau = laplace_accuracy(scale, rounds)
    central = trust is Trust.CENTRAL
    noise = DiscreteLaplace(scale) if central else laplace_share(users, scale)
    return preset(source, budget, users, g, tau, noise, modulus, trust)


def laplace_share(users: int, scale: Real) -> Law:
    """The share of which `users` add up to Lap_Z(scale): a difference of Pólya(1/n) variables."""
    return DiscreteLaplace(scale) if users == 1 else PolyaDifference(Fraction(1, users), scale)


def laplace_accuracy(scale: Fraction, rounds: int) -> int:
    """tau = ceil(scale log(2T)), which Lap_Z(scale) exceeds with probability at most 1/(2T)."""
    return certain_ceiling(lambda: ball(scale) * log_2t(rounds), "tau")
