"""The keys of `federated:`, as engineers have them: an encoding, shares of noise, what is released.

*Neighbours.* Who takes part in a round, and how many shares of noise are in the sum, is public and
the same for both datasets: in one of them a client's vector is replaced by the zero vector, which
every rounding leaves as it is, and its share of the noise is present in both. (Removed with its
share, the noise alone would tell the datasets apart, and no shares left out make up for that:
such neighbours are not bounded here.) `dropout` shares are left out on both sides: those of clients
who vanish, or who tell their own.

*Poisson sampling*: every client takes part with probability `poisson`, independently, and a sum is
released only of rounds with `clients` - `dropout` shares or more, however that is ensured; the
number of shares must not depend on whether the client in question is there. More shares are more
noise on both sides: post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attrs import evolve, frozen

from ...exact.number import ExactInput, ParameterError, exact, whole
from ...mechanisms.additive.protocol import missing_users
from ...mechanisms.additive.reach import RoundedReach
from ...mechanisms.additive.vector import VectorNoise
from ...mechanisms.fields.schema import Entry, Key
from ...mechanisms.laws.families import BY_VARIANCE
from ...mechanisms.laws.law import Law
from ...mechanisms.sampled import sampling_rate
from ...mechanisms.specs.catalogue import KEYS, Spec
from .encoder import Encoding

_POSITIVE = "a number, 1e-9 to 1e15"
_NEEDED = {
    "clip": Key(_POSITIVE, "the L2 norm that each client clips to"),
    "scale": Key(_POSITIVE, "what clipped vectors are multiplied by"),
    "clients": Key("a whole number from 2", "whose sum it is"),
    "local-stddev": Key("a number above 0", "of each client's share of noise, after scaling"),
    "dimension": KEYS["dimension"],
    "bits": Key("a whole number, 1 to 32", "the sum is taken mod 2^bits"),
}
_ALLOWED = {
    "mechanism": Key(" or ".join(BY_VARIANCE), "the shares of noise", "skellam"),
    "rounding": Key("stochastic, conditional:BETA or nearest", "to whole numbers", "stochastic"),
    "dropout": KEYS["dropout"],
    "poisson": evolve(KEYS["poisson"], says="each client takes part so often"),
}


@frozen
class Settings:
    """A round: how vectors are encoded, what each client adds, and how many clients there are.

    local-stddev is in units of the integers that are sent, after scaling, as in TensorFlow
    Privacy's distributed queries: a share is Skellam noise of variance local-stddev^2, or a
    discrete Gaussian with sigma2 = local-stddev^2.

    encoding   of the vectors
    share      the law of what one client adds to each coordinate
    deviation  local-stddev
    clients    how many there are
    dropout    shares that are left out of the noise
    rate       of Poisson sampling, 1 for none

    >>> Settings.read({"mechanism": "skellam", "clip": "1", "scale": "64", "clients": "100",
    ...     "local-stddev": "1/2", "dimension": "1000", "bits": "16"}).share
    Skellam(variance=Fraction(1, 4))
    """

    encoding: Encoding
    share: Law
    deviation: Fraction
    clients: int
    dropout: int = 0
    rate: Fraction = Fraction(1)

    @property
    def noise(self) -> Law:
        """What all shares in a coordinate of the sum add up to."""
        return self.share.sum_of(self.clients - self.dropout)

    def released(self) -> VectorNoise:
        """What the sum of a round reveals. Raises ParameterError where all vectors become 0."""
        encoding = self.encoding
        reach = RoundedReach(encoding.bound, encoding.size, encoding.rounding)
        return VectorNoise(self.noise, reach, encoding.modulus, "add-remove", self.rate)

    def missing(self, clients: ExactInput) -> Settings:
        """The same with so many shares left out."""
        return evolve(self, dropout=missing_users(self.clients, clients))

    def with_deviation(self, deviation: Fraction) -> Settings:
        """The same with shares of this local-stddev."""
        return evolve(self, share=BY_VARIANCE[self.share.name](deviation**2), deviation=deviation)

    @staticmethod
    def read(values: Mapping[str, ExactInput]) -> Settings:
        """From the keys of the spec. Raises ParameterError for what is missing or out of range."""
        missing = [key for key in _NEEDED if key not in values]
        if missing:
            raise ParameterError(f"federated needs {', '.join(missing)}")
        unknown = sorted(values.keys() - {*_NEEDED, *_ALLOWED})
        if unknown:
            raise ParameterError(
                f"federated has no key {unknown[0]}; keys are {', '.join((*_NEEDED, *_ALLOWED))}"
            )
        name = str(values.get("mechanism", "skellam"))
        if name not in BY_VARIANCE:
            raise ParameterError(f"mechanism must be {' or '.join(BY_VARIANCE)}, got {name}")
        deviation: Fraction = exact(values["local-stddev"], "local-stddev", above=0)
        clients = whole(values["clients"], "clients", at_least=2)
        return Settings(
            Encoding(
                values["clip"],
                values["scale"],
                values["dimension"],
                values["bits"],
                values.get("rounding", "stochastic"),
            ),
            BY_VARIANCE[name](deviation**2),
            deviation,
            clients,
            missing_users(clients, values.get("dropout", 0)),
            sampling_rate(values.get("poisson", 1)),
        )


def _spec(values: Mapping[str, str]) -> Spec:
    settings = Settings.read(values)
    encoding = settings.encoding
    shown = {
        "squared_sensitivity": encoding.squared_sensitivity,
        "modulus": encoding.modulus,
        "coordinates": encoding.size,
        "shares": settings.clients - settings.dropout,
        "bits_per_user": encoding.bits * encoding.size,
    }
    return Spec("", settings.released(), shown, federated=settings)


ENTRIES = {
    "federated": Entry(
        tuple(_NEEDED),
        _spec,
        "a round of federated learning under secure aggregation, its sum mod 2^bits",
        "clip=1,scale=64,clients=100,local-stddev=2,dimension=1000,bits=16",
        _NEEDED | _ALLOWED,
    )
}
