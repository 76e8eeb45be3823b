"""M(s) = E e^(sL) on a half-line s = c + iy, y >= 0, as a finite sum with a proved error.

A quadrature rule for M, made once for a line, serves all its points: its nodes are losses l_k, real
or above the real axis (where a contour was moved), its weights w_k their masses times e^(c l_k):

    | M(c + iy) - sum of w_k e^(iy l_k) | <= error    for all 0 <= y <= top.

Powers of M are taken of balls of that radius, so that nothing more has to be proved of them.
"""

from __future__ import annotations

from attrs import frozen
from flint import acb, acb_mat, arb

from ....exact.budget import spend
from ....exact.errors import DoesNotApplyError

# One matrix product, between two looks at the clock: FLINT multiplies as integer matrices, ten
# times faster, where every side is above 120 (60 beyond 128 bits).
_ROWS, _NODES = 128, 512
_POWER = 2  # units of work
_LARGEST = 1_500_000  # entries of two tables: less than 500 MB


@frozen
class Line:
    """Weights, losses and the bound of the error; at y = 0 the sum is about M(c)."""

    weights: list[acb]
    losses: list[acb]
    error: arb

    def transforms(self, spacing: arb, count: int) -> list[acb]:
        """M(c + i spacing j) for j = 0, ..., count - 1, as products of two tables of e^(iyl).

        Raises DoesNotApplyError where these tables are too large.
        """
        columns = 1 << (count.bit_length() // 2)
        rows = -(-count // columns)
        if (rows + columns) * len(self.losses) > _LARGEST:
            raise DoesNotApplyError("the transform takes too many nodes")
        steps = [(acb(0, spacing) * loss).exp() for loss in self.losses]
        error = acb(arb(0, self.error.upper()), arb(0, self.error.upper()))
        within = powers(steps, columns)
        strides = [one * other for one, other in zip(within[-1], steps, strict=True)]
        table = powers(strides, rows)
        nodes = [slice(first, first + _NODES) for first in range(0, len(steps), _NODES)]
        right = [_matrix([row[part] for row in within]).transpose() for part in nodes]
        found = []
        for first in range(0, rows, _ROWS):
            total = acb_mat(min(_ROWS, rows - first), columns)
            for part, turned in zip(nodes, right, strict=True):
                weights = self.weights[part]
                left = [
                    [value * weight for value, weight in zip(row[part], weights, strict=True)]
                    for row in table[first : first + _ROWS]
                ]
                total += _matrix(left) * turned
                spend()
            found += total.entries()
        return [value + error for value in found[:count]]


def _matrix(rows: list[list[acb]]) -> acb_mat:
    return acb_mat(len(rows), len(rows[0]), [value for row in rows for value in row])


def powers(factors: list[acb], count: int) -> list[list[acb]]:
    """Row k: the k-th powers, each from two of half the exponent, so that radii hardly grow."""
    rows = [[acb(1)] * len(factors), factors][:count]
    for k in range(2, count):
        spend(_POWER * len(factors))
        halves = zip(rows[k // 2], rows[k - k // 2], strict=True)
        rows.append([one * other for one, other in halves])
    return rows
