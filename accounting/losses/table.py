"""M(s) = E e^(sL) at runs of equidistant nodes, in balls."""

from __future__ import annotations

import numpy as np
from flint import acb, acb_mat, arb

from ...exact.deadline import check_time
from .law import Atoms

_CHUNK = 8192  # atoms at a time
_LIGHT = 1e-30  # of all, in tilted mass: atoms that weigh less only widen the balls


class BallTable:
    """e^(sL) at nodes s = c + i spacing j as a matrix product of two tables."""

    def __init__(self, law: Atoms, c: arb, spacing: arb) -> None:
        self.c, self.spacing = c, spacing
        heavy = law.tilted(float(c.mid())) > _LIGHT
        self.chunks = []
        for low in range(0, len(law), _CHUNK):
            kept = [k for k in range(low, min(low + _CHUNK, len(law))) if heavy[k]]
            if kept:
                self.chunks.append(([law.masses[k] for k in kept], [law.losses[k] for k in kept]))
        light = (law.masses[k] * (c * law.losses[k]).exp() for k in np.flatnonzero(~heavy))
        error = arb(0, sum(light, arb(0)).upper())
        self.light = acb(error, error)
        self.steps = [
            [acb(0, spacing * loss).exp() for loss in losses] for _, losses in self.chunks
        ]
        self.columns = 0

    def transforms(self, first: int, count: int) -> list[acb]:
        """M(c + i spacing j) for j = first, ..., first + count - 1."""
        columns = 1 << (count.bit_length() // 2)
        rows = -(-count // columns)
        self._prepare(columns)
        totals = [self.light] * (rows * columns)
        s = acb(self.c, self.spacing * first)
        for (masses, losses), strides, right in zip(
            self.chunks, self.strides, self.right, strict=True
        ):
            start = [mass * (s * loss).exp() for mass, loss in zip(masses, losses, strict=True)]
            left = [
                value * by
                for row in powers(strides, rows)
                for value, by in zip(row, start, strict=True)
            ]
            product = acb_mat(rows, len(losses), left) * right
            totals = [total + one for total, one in zip(totals, product.entries(), strict=True)]
        return totals[:count]

    def _prepare(self, columns: int) -> None:
        """The steps within a row, and from row to row, which runs of like length share."""
        if columns == self.columns:
            return
        self.columns = columns
        self.strides = [[one**columns for one in steps] for steps in self.steps]
        self.right = []
        for steps in self.steps:
            values = [value for row in powers(steps, columns) for value in row]
            self.right.append(acb_mat(columns, len(steps), values).transpose())


def powers(factors: list[acb], count: int) -> list[list[acb]]:
    """Row k: the k-th powers, each from two of half the exponent, so that radii hardly grow."""
    rows = [[acb(1)] * len(factors), factors][:count]
    for k in range(2, count):
        check_time()
        halves = zip(rows[k // 2], rows[k - k // 2], strict=True)
        rows.append([one * other for one, other in halves])
    return rows
