"""An accountant for Opacus: what training costs, certified.

    from exactdp.interop import register_opacus
    register_opacus()
    engine = PrivacyEngine(accountant="exactdp")

Opacus is imported only where its accountant is asked for: `pip install "exactdp[opacus]"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...common.extra import bring
from ...exact.enclosure import Enclosure
from ...exact.rounding import float_above
from .events import from_opacus

if TYPE_CHECKING:
    from opacus.accountants import IAccountant

NAME = "exactdp"


def register_opacus() -> None:
    """Make `PrivacyEngine(accountant="exactdp")` work. Raises ImportError without Opacus.

    >>> from opacus.accountants import create_accountant
    >>> register_opacus()
    >>> create_accountant("exactdp").mechanism()
    'exactdp'
    """
    bring("opacus.accountants", "opacus").register_accountant(NAME, opacus_accountant(), force=True)


def opacus_accountant() -> type[IAccountant]:
    """The class, a subclass of Opacus's `IAccountant`. Raises ImportError without Opacus.

    >>> accountant = opacus_accountant()()
    >>> for _ in range(1000):
    ...     accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    >>> 1.51 <= accountant.get_epsilon(1e-5) <= 1.52
    True
    """

    class ExactAccountant(bring("opacus.accountants", "opacus").IAccountant):  # type: ignore[misc]
        """Every step is a Gaussian of this noise multiplier on a Poisson sample of the users.

        Neighbours differ by one user. `get_epsilon` gives the upper end, rounded up;
        `get_enclosure` both ends.
        """

        def __init__(self) -> None:
            super().__init__()
            self.history: list[tuple[float, float, int]] = []

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            steps = 1
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                steps += self.history.pop()[2]
            self.history.append((noise_multiplier, sample_rate, steps))

        def get_enclosure(self, delta: float) -> Enclosure:
            """Where epsilon lies at this delta."""
            if not self.history:
                return Enclosure.exactly(0)
            if any(not sigma for sigma, _, _ in self.history):
                return Enclosure.infinite()
            return from_opacus(self).epsilon(delta)

        def get_epsilon(self, delta: float, *args: Any, **kwargs: Any) -> float:
            return float_above(self.get_enclosure(delta).upper)

        def __len__(self) -> int:
            return len(self.history)

        @classmethod
        def mechanism(cls) -> str:
            return NAME

    return ExactAccountant
