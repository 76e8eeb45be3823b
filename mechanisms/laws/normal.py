"""Cells of the normal law: their mass, its curvature, and the widest cell of a given curvature.

A cell is [y, y + w]; m(y) = Phi(y + w) - Phi(y). The curvature of neighbouring cells of width w is
B_w(y) = 2 log m(y) - log m(y - w) - log m(y + w). Proved in `docs/envelope.md`:

    B_w is even about y = -w/2, rises in |y + w/2| and tends to w^2       (lemma 1)
    B_w(y) rises in w, for every left end y, and so does B_w(-w/2)        (lemma 2)
"""

from __future__ import annotations

from flint import arb, ctx

from ...exact.precision import working_precision
from ...exact.roots import met_between


def upper(x: arb) -> arb:
    """Phibar(x) = P(N > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def quantile(tail: arb) -> arb:
    """Phibar^-1(tail), 0 < tail < 1."""
    return arb(2).sqrt() * (2 * tail).erfcinv()


def mass(left: arb, width: arb) -> arb:
    """Phi(left + width) - Phi(left)."""
    right, root = left + width, arb(2).sqrt()
    if left > 1:
        return upper(left) - upper(right)
    if right < -1:
        return upper(-right) - upper(-left)
    return ((right / root).erf() - (left / root).erf()) / 2


def curvature(width: arb, left: arb) -> arb:
    """B_width(left)."""
    sides = mass(left - width, width).log() + mass(left + width, width).log()
    return 2 * mass(left, width).log() - sides


def widest(bend: arb) -> arb:
    """An upper bound, as near as the precision has it, of the w with B_w(-w/2) = bend > 0.

    As B_w(-w/2) rises in w, any w at which it is certainly at least `bend` is one.
    """
    if not (bend > 0 and bend.is_finite()):
        return arb.pos_inf()
    outside = bend.sqrt().lower()  # B_w(-w/2) < w^2
    man, exponent = map(int, outside.man_exp())
    # bits that the second difference of logarithms loses
    small = max(0, -2 * (exponent + man.bit_length()))
    with working_precision(ctx.prec + small + 8):
        inside = (2 * outside).mid()
        while not _centred(inside) >= bend:
            inside = (2 * inside).mid()
            if inside > 2**40:  # B grows like w^2/4 for wide cells
                return arb.pos_inf()
        found = met_between(lambda w: bool(_centred(w) >= bend), outside.mid(), inside)[1]
    return +found.upper()


def _centred(width: arb) -> arb:
    return curvature(width, -width / 2)
