"""The keys of `federated:`, as engineers have them, as an encoding and a law of shares."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import frozen

from ....exact.number import ExactInput, ParameterError, exact, whole
from ...laws.discrete_gaussian import DiscreteGaussian
from ...laws.law import Law
from ...laws.skellam import Skellam
from .encoder import Encoding

_SHARES = {"skellam": Skellam, "discrete-gaussian": DiscreteGaussian}
_NEEDED = ("clip", "scale", "clients", "local-stddev", "dimension", "bits")


@frozen
class Settings:
    """A round: how vectors are encoded, what each client adds, and how many clients there are.

    local-stddev is in units of the integers that are sent, after scaling, as in TensorFlow
    Privacy's distributed queries: a share is Skellam noise of variance local-stddev^2, or a
    discrete Gaussian with sigma2 = local-stddev^2.

    >>> Settings.read({"mechanism": "skellam", "clip": "1", "scale": "64", "clients": "100",
    ...     "local-stddev": "1/2", "dimension": "1000", "bits": "16"}).share
    Skellam(variance=Fraction(1, 4))
    """

    encoding: Encoding
    share: Law
    clients: int

    @staticmethod
    def read(values: Mapping[str, ExactInput]) -> Settings:
        """From the keys of the spec. Raises ParameterError for what is missing or out of range."""
        missing = [key for key in _NEEDED if key not in values]
        if missing:
            raise ParameterError(f"federated needs {', '.join(missing)}")
        unknown = sorted(values.keys() - {*_NEEDED, "mechanism", "rounding"})
        if unknown:
            raise ParameterError(f"federated has no {unknown[0]} in a round that is played")
        name = str(values.get("mechanism", "skellam"))
        if name not in _SHARES:
            raise ParameterError(f"mechanism must be {' or '.join(_SHARES)}, got {name}")
        deviation: Fraction = exact(values["local-stddev"], "local-stddev", above=0)
        return Settings(
            Encoding(
                values["clip"],
                values["scale"],
                values["dimension"],
                values["bits"],
                values.get("rounding", "stochastic"),
            ),
            _SHARES[name](deviation**2),
            whole(values["clients"], "clients", at_least=2),
        )
