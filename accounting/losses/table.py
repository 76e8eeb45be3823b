"""Powers of many numbers at once."""

from __future__ import annotations

from flint import acb

from ...exact.budget import spend


def powers(factors: list[acb], count: int) -> list[list[acb]]:
    """Row k: the k-th powers, each from two of half the exponent, so that radii hardly grow."""
    rows = [[acb(1)] * len(factors), factors][:count]
    for k in range(2, count):
        spend()
        halves = zip(rows[k // 2], rows[k - k // 2], strict=True)
        rows.append([one * other for one, other in halves])
    return rows
