"""What a certificate is about: mechanisms as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from mpmath import iv

from . import shape
from .arithmetic import INFINITY, End, Interval, interval, root_above
from .binomial import Binomial
from .laws import SIZE, Law, SymmetricLaw, read_law
from .reach import Reach
from .rounded import ROUNDINGS, Rounded
from .shape import CertificateError, number_text, taking_part

NEIGHBOURS = ("replace", "add-remove")


def _reduced(modulus: int | None) -> str:
    return "" if modulus is None else f", reduced mod {modulus}"


class Mechanism:
    """What a use is among others (`scenarios`): by default it tells something, any way round."""

    words: ClassVar[str] = ""

    def described(self) -> str:
        """In words."""
        return shape.in_words(self.words, self)

    @property
    def settled(self) -> Mechanism:
        """Without sampling that changes nothing, and as a pair of laws where it is one."""
        return self

    @property
    def tells(self) -> bool:
        """Are there neighbours that it tells apart?"""
        return True

    @property
    def law_seen(self) -> Law | None:
        """The law of noise on the integers that is added to what is seen, and not reduced."""
        return None

    @property
    def shift(self) -> int:
        """The farthest that neighbours move what is seen."""
        return 0

    @property
    def has_a_side(self) -> bool:
        """Does it name its two datasets, one of which comes first?"""
        return False

    @property
    def is_symmetric(self) -> bool:
        """Is it the same, settled, with these exchanged?"""
        return not self.has_a_side

    @property
    def turned(self) -> Mechanism:
        """The other way round, settled."""
        if self.is_symmetric:
            return self
        one: Any = self
        turned: Mechanism = replace(one, removing=not one.removing)
        return turned


@dataclass(frozen=True)
class Additive(Mechanism):
    """An integer query of this sensitivity plus noise, seen mod `modulus` if given."""

    law: Law
    sensitivity: int
    modulus: int | None

    def described(self) -> str:
        noise = f"{self.law.described()}{_reduced(self.modulus)}"
        return f"an integer query of sensitivity {self.sensitivity} plus {noise}"

    @property
    def shift(self) -> int:
        """The farthest that neighbours move what is seen: any d in -shift..shift, at every use.

        Mod m the shifts d and d - m are one, so none farther than m/2 either way counts.
        """
        most = self.sensitivity if self.modulus is None else self.modulus // 2
        return min(self.sensitivity, most)

    @property
    def law_seen(self) -> Law | None:
        return self.law if self.modulus is None else None

    @property
    def tells(self) -> bool:
        return self.shift > 0


@dataclass(frozen=True)
class Response(Mechanism):
    """Randomized response that with probability delta reveals its bit."""

    epsilon: Fraction
    delta: Fraction

    def described(self) -> str:
        revealed = f", revealed with probability {number_text(self.delta)}" if self.delta else ""
        return f"randomized response (epsilon {number_text(self.epsilon)}){revealed}"

    @property
    def tells(self) -> bool:
        return bool(self.epsilon or self.delta)


@dataclass(frozen=True)
class TwoLaws(Mechanism):
    """A user's own pair, P on one dataset and Q on the other, known up to misplaced mass `slack`.

    This way round: what it costs the other way round is another scenario (`scenarios`).
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    slack: Fraction

    def described(self) -> str:
        slack = f", known up to slack {number_text(self.slack)}" if self.slack else ""
        return f"two distributions on {len(self.p)} outcomes for two named datasets{slack}"

    @property
    def tells(self) -> bool:
        return bool(self.slack) or self.has_a_side

    @property
    def has_a_side(self) -> bool:
        return self.p != self.q

    @property
    def is_symmetric(self) -> bool:
        p, q = self.p, self.q
        return Counter(zip(p, q, strict=True)) == Counter(zip(q, p, strict=True))

    @property
    def turned(self) -> TwoLaws:
        return TwoLaws(self.q, self.p, self.slack)


@dataclass(frozen=True)
class Continuous(Mechanism):
    """A real query of this sensitivity plus Gaussian or Laplace noise; each user takes part or not.

    rate: with what probability, independently; below 1 only where neighbours add or remove a user.
    removing: this way round: P is the law with the user. The other way round is another scenario.
    root: sigma is the root of `scale`.
    """

    law: str  # gaussian or laplace
    scale: Fraction
    sensitivity: Fraction
    neighbours: str
    rate: Fraction = Fraction(1)
    removing: bool = True
    root: bool = False

    def described(self) -> str:
        name, scale = ("Gaussian", "sigma") if self.is_gaussian else ("Laplace", "scale")
        return (
            f"a real query of sensitivity {number_text(self.sensitivity)} plus {name} noise "
            f"({scale}{' squared' * self.root} {number_text(self.scale)}){taking_part(self.rate)}"
        )

    @property
    def has_a_side(self) -> bool:
        return self.rate < 1

    @property
    def noise(self) -> Fraction:
        """In units of the sensitivity; of a root, hardly more."""
        return root_above(self.variance) if self.root else self.scale / self.sensitivity

    @property
    def variance(self) -> Fraction:
        """Of Gaussian noise, in units of the sensitivity."""
        return (self.scale if self.root else self.scale**2) / self.sensitivity**2

    def size(self) -> Interval:
        """The noise at the working precision."""
        return iv.sqrt(interval(self.variance)) if self.root else interval(self.noise)

    @property
    def is_gaussian(self) -> bool:
        return self.law == "gaussian"


@dataclass(frozen=True)
class Sampled(Mechanism):
    """A mechanism in which each user takes part with this probability, independently.

    Neighbours add or remove a user: P is then (1-q) Q + q P, of the mechanism's own P with and Q
    without that user. removing: (P, Q) is the way round, else (Q, P): another scenario.
    """

    mechanism: Additive | Response | TwoLaws
    rate: Fraction
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"

    def described(self) -> str:
        return self.mechanism.described() + taking_part(self.rate)

    @property
    def settled(self) -> Additive | Response | Sampled | TwoLaws:
        """Itself only where it is noise or randomized response, truly sampled."""
        one, rate = self.mechanism, self.rate
        if rate == 1:
            return one
        if not isinstance(one, TwoLaws):
            return self
        mixture = tuple((1 - rate) * q + rate * p for p, q in zip(one.p, one.q, strict=True))
        return TwoLaws(mixture, one.q, one.slack)

    @property
    def tells(self) -> bool:
        return self.mechanism.tells

    @property
    def has_a_side(self) -> bool:
        return self.rate < 1 or self.mechanism.has_a_side


@dataclass(frozen=True)
class FixedSize(Mechanism):
    """A mechanism on `size` of `population` users, all batches as likely.

    Neighbours replace one user's data. The mechanism is randomized response, or plain noise of a
    symmetric log-concave law: of those it is known what bounds a batch (`divergences`).
    """

    mechanism: Additive | Continuous | Response
    size: int
    population: int

    neighbours: ClassVar[str] = "replace"

    def described(self) -> str:
        batches = f"{self.size:,} of {self.population:,} users take part"
        return f"{self.mechanism.described()}, {batches}, all batches as likely"

    @property
    def settled(self) -> Additive | Continuous | FixedSize | Response:
        """The mechanism itself where all users take part."""
        return self.mechanism if self.size == self.population else self

    @property
    def tells(self) -> bool:
        return self.mechanism.tells

    @property
    def attained(self) -> Continuous | Sampled:
        """What costs no more: all others have the user's new data, whose batches look alike.

        With probability size/population the user is in the batch, and P is then the mechanism's.
        """
        one, rate = self.mechanism, Fraction(self.size, self.population)
        if isinstance(one, Continuous):
            return replace(one, neighbours="add-remove", rate=rate)
        return Sampled(one, rate)


@dataclass(frozen=True)
class Allocation(Mechanism):
    """Steps of Gaussian noise, each user in `taken` of them: all such sets of steps are as likely.

    removing: this way round, P is the law with the user. The other way round is another scenario.
    """

    scale: Fraction
    sensitivity: Fraction
    taken: int
    steps: int
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"
    has_a_side: ClassVar[bool] = True

    def described(self) -> str:
        return (
            f"{self.steps:,} steps of a real query of sensitivity {number_text(self.sensitivity)} "
            f"plus Gaussian noise (sigma {number_text(self.scale)}), each user taking part in "
            f"{self.taken:,} of them, chosen at random"
        )

    @property
    def is_listed(self) -> bool:
        """Are its losses listed (`allocation`), where (epsilon, delta) is claimed?"""
        return self.taken == 1 < self.steps

    @property
    def noise(self) -> Fraction:
        """In units of the sensitivity."""
        return self.scale / self.sensitivity


@dataclass(frozen=True)
class Vector(Mechanism):
    """Integers moved by a vector within reach, plus noise of one law in each, seen mod `modulus`.

    Rounded: by what a real vector is rounded to. The law is symmetric, about 0 or half its trials,
    and log-concave. Below rate 1 each user takes part with this probability, independently, and
    neighbours add or remove a user.
    """

    law: Binomial | SymmetricLaw
    reach: Reach | Rounded
    modulus: int | None
    neighbours: str
    rate: Fraction

    is_symmetric: ClassVar[bool] = True

    def described(self) -> str:
        coordinates = f"in every coordinate{_reduced(self.modulus)}{taking_part(self.rate)}"
        return f"{self.reach.described()}, plus {self.law.described()} {coordinates}"

    @property
    def has_a_side(self) -> bool:
        return self.rate < 1 or self.reach.is_random


@dataclass(frozen=True)
class Outcomes:
    """Two laws P, Q on finitely many outcomes, at the working precision; 0 exactly where they are.

    largest: sup log P/Q, where it is known exactly. places: the losses are these times `unit`.
    """

    p: Sequence[Interval]
    q: Sequence[Interval]
    largest: Fraction | None = None
    places: Sequence[int] | None = None
    unit: Fraction | None = None

    @property
    def swapped(self) -> Outcomes:
        """(Q, P)."""
        return Outcomes(self.q, self.p)


class Finite(Mechanism):
    """Known by pairs of laws on finitely many outcomes, among which neighbours choose.

    has_a_side: is it another scenario the other way round? Else both ways are among the pairs, or
    are the same.
    """

    neighbours: str = "replace"
    has_a_side: bool = False
    removing: bool = True

    @property
    def as_pure(self) -> Finite | None:
        """Of which the pure epsilon is the same, where it has no pairs itself."""
        return None

    def attained(self) -> Sequence[Outcomes]:
        """Pairs that some neighbours have; those that likely cost most first."""
        raise NotImplementedError

    def dominating(self) -> Sequence[Outcomes]:
        """Pairs of which one or other dominates any that neighbours have."""
        return self.attained()


Parts = tuple[tuple["Mechanism", int], ...]


class Family(Mechanism):
    """Known by uses of other mechanisms; what follows may have several proofs, tried in turn.

    has_a_side: is its orientation fixed?
    """

    neighbours: str = "replace"
    has_a_side: bool = False
    is_symmetric: bool = True

    def above(self) -> Sequence[Parts]:
        """Lists each of which dominates all that neighbours can do."""
        raise NotImplementedError

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        """Lists each of which some neighbours attain; equal to `above` where it is exact."""
        return self.above()


@dataclass(frozen=True)
class Curve(Mechanism):
    """Of which it is known that D_a <= bound a at every order; or D_a <= bound up to one order."""

    bound: Fraction
    order: Fraction | None

    def at(self, order: Fraction) -> End:
        """What D_a is at most."""
        if self.order is None:
            return self.bound * order
        return self.bound if order <= self.order else INFINITY


@dataclass(frozen=True)
class Key(Mechanism):
    """A count told from a threshold on, which a user holds alone or with many others (`keys`).

    unseen: how far below the threshold her part of it ends. removing: P is the law with the user.
    """

    noise: Additive | Continuous
    unseen: Fraction
    rate: Fraction
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"
    has_a_side: ClassVar[bool] = True

    @property
    def among_others(self) -> Mechanism:
        """The same of a key that others hold too."""
        if isinstance(self.noise, Continuous):
            return replace(self.noise, rate=self.rate, removing=self.removing)
        return self.noise if self.rate == 1 else Sampled(self.noise, self.rate, self.removing)


# -- from the fields of a certificate -------------------------------------------------------------


MODULUS = shape.optional(shape.whole(1))
DIMENSION = shape.whole(1, 10**15)
RATE = shape.number(above=Fraction(0), at_most=1)
_OUTCOME = partial(shape.read_readable, name="an outcome", least=0, most=shape.LONGEST_TEXT)
_NORM = shape.optional(shape.number(least=1, at_most=10**30))


def _rate(fields: Mapping[str, Any], name: str) -> Fraction:
    rate: Fraction = RATE(fields, name)
    if rate < 1 and fields["neighbours"] != "add-remove":
        raise CertificateError("poisson below 1 needs the neighbours add-remove")
    return rate


def _noise(fields: Mapping[str, Any], name: str) -> Law:
    """Of vectors."""
    law: Law = read_law(fields, name)
    fair = isinstance(law, Binomial) and law.is_fair
    if not fair and not (isinstance(law, SymmetricLaw) and law.is_log_concave):
        raise CertificateError("noise of vectors must be symmetric and log-concave")
    return law


def _beta(fields: Mapping[str, Any], name: str) -> Fraction | None:
    if (fields[name] is not None) != (fields["rounding"] == "conditional"):
        raise CertificateError("beta is of conditional rounding, and null of any other")
    return None if fields[name] is None else shape.below_one(fields, name)


def _continuous(data: object) -> Continuous:
    root = "scale-squared" in shape.held(data)
    wrong = "law of continuous noise must be gaussian, or laplace with a scale"
    laws = ("gaussian",) if root else ("gaussian", "laplace")
    scale = {"scale-squared" if root else "scale": SIZE}
    noise = partial(Continuous, root=root)
    law = shape.choice(*laws, wrong=wrong)
    return shape.plainly("continuous", noise, law=law, **scale, sensitivity=SIZE, **_USERS)(data)


def _allocation(scale: Fraction, sensitivity: Fraction, taken: int, steps: int) -> Allocation:
    if taken > steps:
        raise CertificateError("taken must be at most the steps")
    return Allocation(scale, sensitivity, taken, steps)


def _vector(law: Binomial | SymmetricLaw, *of: Any) -> Vector:
    reach = Reach(*of[:4])
    if not reach.is_bounded:
        raise CertificateError("vectors must have l2, l1, or linf with dimension")
    return Vector(law, reach, *of[4:])


def _rounded(law: Binomial | SymmetricLaw, *of: Any) -> Vector:
    reach = Rounded(*of[:4])
    if reach.squared_bound < 1:
        raise CertificateError("l2 must be large enough that not every vector is rounded to 0")
    return Vector(law, reach, *of[4:])


_USERS: dict[str, shape.Reader] = {"neighbours": shape.choice(*NEIGHBOURS), "poisson": _rate}
READERS: dict[str, Callable[[object], Mechanism]] = {
    "additive": shape.plainly("additive", Additive, law=read_law,
        sensitivity=shape.whole(1, 10**9), modulus=MODULUS),
    "randomized-response": shape.plainly("randomized-response", Response,
        epsilon=shape.number(at_most=10**4), delta=shape.number(at_most=1)),
    "pair": shape.plainly("pair", lambda _, *pair: TwoLaws(*pair),
        outcomes=shape.outcomes(_OUTCOME), p=shape.masses, q=shape.masses,
        slack=shape.number(at_most=1)),
    "continuous": _continuous,
    "allocation": shape.plainly("allocation", _allocation, scale=SIZE, sensitivity=SIZE,
        taken=shape.whole(1, 10**7), steps=shape.whole(1, 10**7)),
    "vector": shape.plainly("vector", _vector, law=_noise, l2=_NORM, l1=_NORM, linf=_NORM,
        dimension=shape.optional(DIMENSION), modulus=MODULUS, **_USERS),
    "rounded-vector": shape.plainly("rounded-vector", _rounded, law=_noise,
        l2=shape.number(above=Fraction(0), at_most=10**30), dimension=DIMENSION,
        rounding=shape.choice(*ROUNDINGS, wrong=f"rounding must be one of {', '.join(ROUNDINGS)}"),
        beta=_beta, modulus=MODULUS, neighbours=shape.choice("add-remove",
        wrong="rounding needs the neighbours add-remove"), poisson=RATE),
}  # fmt: skip
