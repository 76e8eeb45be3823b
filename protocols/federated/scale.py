"""The scale with which a noisy sum fits into its bits, by a rule that TensorFlow Federated uses.

It puts k standard deviations of a coordinate of the sum, as if it were Gaussian, at half the
modulus: 2^b = 2 k sqrt((clip n)^2/d + (1/4 scale^2 + s^2) n) scale, s the deviation of a client's
noise before scaling (Kairouz, Liu, Steinke, ICML 2021, 4.2 and 4.4; `heuristic_scale_factor` of
google-research/federated, flatness 1).
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from ...exact.number import ball


def fitting_scale(
    bits: int, clients: int, size: int, clip: Fraction, variance: arb, square: arb
) -> arb | None:
    """At the working precision; None where the bits are too few at any scale.

    size: coordinates that are sent. variance: of one client's noise before scaling. square: k^2.
    """
    room = 4**bits - clients * square
    if not room > 0:
        return None
    spread = ball(clip * clients) ** 2 / size + clients * variance
    found: arb = (room / (4 * square * spread)).sqrt()
    return found
