"""Users who drop out: what is left of a guarantee, and the larger shares that keep it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from exactdp.accounting import compose
from exactdp.cli.parts import shown
from exactdp.exact import Enclosure, decimal_text
from exactdp.mechanisms import AdditiveNoise, PolyaDifference
from exactdp.mechanisms.additive import papers
from exactdp.protocols import Provision, SumProtocol, least_accuracy, provisioned

from .page import table

SHARES = ("0", "0.01", "0.1", "0.3", "0.5")
_ORDERS = (2, 4, 8, 16, 32)


def remaining_pure(protocol: SumProtocol, missing: int) -> Enclosure:
    """Pure epsilon of the plain sum without the shares of `missing` users."""
    return compose(_summed(protocol, missing)).pure()


def remaining_renyi(protocol: SumProtocol, missing: int, order: int) -> Enclosure:
    """The Rényi divergence of the plain sum without the shares of `missing` users."""
    return compose(_summed(protocol, missing)).renyi(order)


def pure(
    epsilon: str = "0.5", users: int = 1024, horizon: int = 10**6, shares: Sequence[str] = SHARES
) -> str:
    """Theorem 1: pure epsilon, larger shares, and a larger scale in their place."""
    given = papers.theorem1(epsilon, users, horizon).protocol
    rows = []
    for share in shares:
        missing = int(Fraction(share) * users)
        cheaper = provisioned(given, missing)
        ways = {way.changed: way for way in (cheaper, cheaper.alternative) if way is not None}
        by_share, by_scale = ways["shape"], ways.get("scale")
        rows.append(
            [
                _missing(share, missing),
                shown(remaining_pure(given, missing)),
                f"1/{users - missing}",
                shown(compose(AdditiveNoise(by_share.remaining, given.precision)).pure()),
                *_cost(by_share, horizon),
                "" if by_scale is None else shown(_scale(by_scale)),
                *_cost(by_scale, horizon),
            ]
        )
    text = f"""\
Theorem 1's protocol, ε = {epsilon}, n = {users}, T = {horizon}: each of the n shares is Pólya
noise of shape 1/n and scale {decimal_text(given.precision / Fraction(epsilon))}, and all of them
together are discrete Laplace noise. Without d of them the rest has the shape (n − d)/n < 1,
which is more peaked at 0: the published protocol then spends more than it promises, with no sign of
it in the results. Two repairs are shown with what they cost when nobody drops out: the variance of
the noise as a multiple of the published one, and the least τ that errors exceed with probability at
most 1/T (the published τ is {given.accuracy}).

"""
    columns = (
        "dropouts",
        "pure ε as published",
        "share's shape instead",
        "pure ε",
        "variance ×",
        "least τ",
        "or larger scale",
        "variance ×",
        "least τ",
    )
    return f"""\
{text}{table(columns, rows)}

**What to do.** Decide how many users may drop out, and give every share the shape 1/(n − d) instead
of 1/n: if d drop out, what is left is exactly the noise that was promised; if fewer do, more
noise is there than needed. It costs a factor n/(n − d) in variance. Raising the scale instead costs
more, soon far more, and with more than about half of the users gone no scale is enough."""


def renyi(
    epsilon: str = "0.5",
    users: int = 1024,
    horizon: int = 10**6,
    scaling: int = 10,
    shares: Sequence[str] = SHARES,
    orders: Sequence[int] = _ORDERS,
) -> str:
    """Theorem 2: the Rényi curve, beside what the theorem allows."""
    given = papers.theorem2(epsilon, users, horizon, scaling).protocol
    allowed = {order: papers.theorem2_curve(epsilon, scaling, order) for order in orders}
    rows = [["Theorem 2 allows", *(decimal_text(each) for each in allowed.values()), "", ""]]
    for share in shares:
        missing = int(Fraction(share) * users)
        found = {order: remaining_renyi(given, missing, order) for order in orders}
        larger = provisioned(given, missing)
        rows.append(
            [
                _missing(share, missing),
                *(_marked(found[order], allowed[order]) for order in orders),
                *_cost(larger, horizon),
            ]
        )
    columns = ("dropouts", *(f"order {order}" for order in orders), "variance ×", "least τ")
    return f"""\
Theorem 2's protocol, ε = {epsilon}, n = {users}, T = {horizon}, scaling {scaling}: n Skellam
shares. Rényi divergences of what is left; in bold what is more than the theorem allows.

{table(columns, rows)}

**What to do.** The same: shares of variance n/(n − d) times the published one. The sum of those who
are left then has the published distribution again, so its curve is the row without dropouts. The
last two columns are the price when nobody drops out (the published τ is {given.accuracy})."""


def _summed(protocol: SumProtocol, missing: int) -> AdditiveNoise:
    return AdditiveNoise(protocol.total_noise(missing), protocol.precision)


def _missing(share: str, missing: int) -> str:
    return f"{decimal_text(100 * Fraction(share))} % ({missing})"


def _marked(found: Enclosure, allowed: Fraction) -> str:
    text = shown(found)
    return f"**{text}**" if found.greater_than(allowed) else text


def _cost(way: Provision | None, horizon: int) -> tuple[str, str]:
    if way is None:
        return "", ""
    least = least_accuracy(way.protocol, Fraction(1, horizon))
    return shown(way.variance_ratio), str(least.accuracy)


def _scale(raised: Provision) -> Enclosure:
    share = raised.protocol.noise
    if not isinstance(share, PolyaDifference) or not isinstance(share.scale, Fraction):
        raise TypeError(f"only Pólya shares have a scale that is raised, got {share}")
    return Enclosure.exactly(share.scale)
