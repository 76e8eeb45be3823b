"""One user's share of a noise: n independent shares add up to exactly the law."""

from __future__ import annotations

from functools import singledispatch

from ...exact.number import ExactInput, ParameterError, whole
from ..laws.binomial import Binomial
from ..laws.discrete_gaussian_sum import DiscreteGaussianSum
from ..laws.discrete_laplace import DiscreteLaplace
from ..laws.law import Law
from ..laws.polya import Polya, PolyaDifference
from ..laws.skellam import Skellam
from .bits import RandomBits
from .draw import sampler

__all__ = ["draw_share", "share_of"]


def share_of(law: Law, users: ExactInput) -> Law:
    """The law of one of `users` independent equal shares: its `n_fold(users)` is `law`.

    Pólya differences (the discrete Laplace law among them) are divided in their shape, Skellam laws
    in their variance, binomial laws in their trials, and sums of discrete Gaussians in their terms,
    the last two where the number of users divides that; anything has one share.
    Raises ParameterError where there is no such law.
    """
    count = whole(users, "users", at_least=1)
    return law if count == 1 else _share(law, count)


def draw_share(law: Law, users: ExactInput, bits: RandomBits) -> int:
    """What one of `users` users adds, drawn exactly; errors as in `share_of`."""
    return sampler(share_of(law, users))(bits)


@singledispatch
def _share(law: Law, users: int) -> Law:
    raise ParameterError(
        f"users must be 1, got {_shown(users)}: {type(law).__name__} noise has no exact equal "
        "shares (a discrete Gaussian is no sum of others: use a sum of discrete Gaussians)"
    )


@_share.register
def _(law: DiscreteLaplace, users: int) -> Law:
    # E e^(zX) = ((1-b)/(1 - b e^z)) ((1-b)/(1 - b e^-z)), each factor a Pólya transform of shape 1
    return _share(PolyaDifference(1, law.scale), users)


@_share.register
def _(law: Polya, users: int) -> Law:
    return Polya(law.shape / users, law.scale)


@_share.register
def _(law: PolyaDifference, users: int) -> Law:
    return PolyaDifference(law.shape / users, law.scale)


@_share.register
def _(law: Skellam, users: int) -> Law:
    return Skellam(law.variance / users)


@_share.register
def _(law: DiscreteGaussianSum, users: int) -> Law:
    return DiscreteGaussianSum(_divided(law.count, users, "count"), law.sigma2).n_fold(1)


@_share.register
def _(law: Binomial, users: int) -> Law:
    return Binomial(_divided(law.trials, users, "trials"), law.success)


def _divided(count: int, users: int, name: str) -> int:
    if count % users:
        raise ParameterError(f"users must divide {name} = {_shown(count)}, got {_shown(users)}")
    return count // users


def _shown(number: int) -> str:
    return str(number)[:40]
