"""What is counted towards a limit, and how much of it there is."""

from __future__ import annotations

from fractions import Fraction
from urllib.parse import quote, unquote

from attrs import field, frozen

from ..exact import ParameterError, decimal_text, exact, whole

PURE, RHO, MU2, RENYI, USES = KINDS = ("pure", "rho", "mu2", "renyi", "uses")
_PLAIN = ":,=/"  # what stands unquoted in a mechanism's text


@frozen
class Level:
    """A cost that adds up, and how much of it there is.

    delta: its share, where it takes one. mechanism: whose uses are counted, as `canonical` text.
    Raises ParameterError for a kind, a room, an order or a share that no level has.
    """

    kind: str
    room: Fraction
    order: Fraction | None = None
    delta: Fraction = Fraction(0)
    mechanism: str = field(default="", kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(
                f"a level must be one of {', '.join(KINDS)}, got {self.kind!r:.40}"
            )
        exact(self.room, "room of a level", at_least=0)
        exact(self.delta, "delta of a level", at_least=0, below=1)
        if self.order is not None:
            exact(self.order, "order of a level", above=1)

    @property
    def title(self) -> str:
        """What it counts, in words."""
        if self.kind == USES:
            return self.mechanism
        return f"order {decimal_text(self.order)}" if self.order is not None else self.kind

    def to_text(self) -> str:
        """As it stands in the database, without spaces."""
        if self.kind == USES:
            return f"{USES}:{decimal_text(self.room)},{quote(self.mechanism, _PLAIN)}"
        numbers = [self.room, *([] if self.order is None else [self.order, self.delta])]
        return f"{self.kind}:{','.join(map(decimal_text, numbers))}"

    @staticmethod
    def from_text(text: str) -> Level:
        """The level that was written so. Raises ValueError for other text."""
        kind, _, rest = text.partition(":")
        if kind == USES:
            count, _, quoted = rest.partition(",")
            uses = Fraction(whole(count, "level", at_least=1))
            level = Level(kind, uses, mechanism=unquote(quoted))
        else:
            level = Level(kind, *(exact(number, "level") for number in rest.split(",")))
        if (kind == RENYI) != (level.order is not None):
            raise ParameterError(f"not a level: {text[:40]!r}")
        if level.to_text() != text:
            raise ParameterError(f"not a level: {text[:40]!r}")
        return level
