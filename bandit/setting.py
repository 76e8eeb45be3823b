"""What a run is told beforehand: the numbers of the papers' algorithms, exact."""

from __future__ import annotations

from fractions import Fraction

from attrs import asdict, field, frozen

from ..exact.number import ExactInput, ParameterError, decimal_text, exact, whole

_LEAST_GROWTH = Fraction(101, 100)
_LONGEST_HORIZON = 10**12


@frozen(init=False)
class Setting:
    """The numbers that an algorithm may depend on.

    arms        K >= 2
    horizon     T, the number of rounds, and of users
    epsilon     the privacy parameter that the algorithm is run with
    delta       delta of approximate DP (the shuffle paper's algorithms)
    scaling     s >= 1 of Theorems 2 and 4
    confidence  p of the confidence radius, or of indices; None for what is usual of the algorithm
                that it is for (`Algorithm.usual_confidence`), and 0.1 before one is named
    growth      eta: batch b has ceil(eta^b) users an arm

    Raises ParameterError for numbers out of range.

    >>> Setting(arms=10, horizon="1e6", epsilon="0.5").confidence
    Fraction(1, 10)
    """

    arms: int
    horizon: int
    epsilon: Fraction
    delta: Fraction
    scaling: Fraction
    confidence: Fraction
    growth: Fraction
    usual: bool = field(eq=False, repr=False)  # was no confidence given?

    def __init__(
        self,
        arms: ExactInput,
        horizon: ExactInput,
        epsilon: ExactInput = 1,
        *,
        delta: ExactInput = "1e-6",
        scaling: ExactInput = 10,
        confidence: ExactInput | None = None,
        growth: ExactInput = 2,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("arms", whole(arms, "arms", at_least=2, at_most=10_000))
        put("horizon", whole(horizon, "horizon", at_least=1, at_most=_LONGEST_HORIZON))
        put("epsilon", exact(epsilon, "epsilon", above=0, at_most=1000))
        put("delta", exact(delta, "delta", above=0, below=1))
        put("scaling", exact(scaling, "scaling", at_least=1, at_most=10**6))
        p = "0.1" if confidence is None else confidence
        put("confidence", exact(p, "confidence", above=0, below=1))
        put("usual", confidence is None)
        put("growth", exact(growth, "growth", above=1, at_most=10**6))
        if self.epsilon < Fraction(1, 10**6):
            raise ParameterError(f"epsilon must be at least 1e-6, got {float(self.epsilon)}")
        if self.growth < _LEAST_GROWTH:
            raise ParameterError(f"growth must be at least 1.01, got {float(self.growth)}")

    def to_json(self) -> dict[str, str]:
        """Every number as exact text; `Setting(**...)` reads it back."""
        found = asdict(self, recurse=False)
        return {name: decimal_text(value) for name, value in found.items() if name != "usual"}

    def with_usual(self, confidence: Fraction) -> Setting:
        """With this confidence, where none was given."""
        return Setting(**self.to_json() | {"confidence": str(confidence)}) if self.usual else self
