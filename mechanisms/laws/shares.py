"""Noise in equal shares: the law of which n independent copies add up to a given law, exactly."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch

from ...exact.number import ExactInput, ParameterError, whole
from .binomial import Binomial
from .discrete_gaussian import DiscreteGaussian
from .discrete_gaussian_sum import DiscreteGaussianSum
from .discrete_laplace import DiscreteLaplace
from .law import Law
from .polya import Polya, PolyaDifference
from .skellam import Skellam
from .sums import sum_of

__all__ = ["share_of"]


def share_of(law: Law, users: ExactInput) -> Law:
    """The law of one of `users` independent equal shares: `sum_of(it, users)` is `law`.

    Raises ParameterError where there is no such law.
    """
    count = whole(users, "users", at_least=1)
    return law if count == 1 else _share(law, count)


@singledispatch
def _share(law: Law, users: int) -> Law:
    raise ParameterError(f"users must be 1: {type(law).__name__} noise has no exact equal shares")


@_share.register
def _(law: DiscreteLaplace, users: int) -> Law:
    # E e^(zX) = ((1-b)/(1 - b e^z)) ((1-b)/(1 - b e^-z)), each factor a Pólya transform of shape 1
    return PolyaDifference(Fraction(1, users), law.scale)


@_share.register
def _(law: PolyaDifference, users: int) -> Law:
    return PolyaDifference(law.shape / users, law.scale)


@_share.register
def _(law: Polya, users: int) -> Law:
    return Polya(law.shape / users, law.scale)


@_share.register
def _(law: Skellam, users: int) -> Law:
    return Skellam(law.variance / users)


@_share.register
def _(law: Binomial, users: int) -> Law:
    return Binomial(_each(law.trials, users, "trials"), law.success)


@_share.register
def _(law: DiscreteGaussianSum, users: int) -> Law:
    return sum_of(DiscreteGaussian(law.sigma2), _each(law.count, users, "count"))


@_share.register
def _(law: DiscreteGaussian, users: int) -> Law:
    raise ParameterError(
        "users must be 1: a sum of discrete Gaussians is not a discrete Gaussian, so that "
        "discrete-gaussian has no exact shares; discrete-gaussian-sum is such a sum"
    )


def _each(total: int, users: int, name: str) -> int:
    each, rest = divmod(total, users)
    if rest:
        raise ParameterError(
            f"users must divide {name} = {str(total)[:30]}, so that each has as many, "
            f"got {str(users)[:30]}"
        )
    return each
