"""Draw what it costs to know ε of sampled users: seconds against uses, and against 1/width.

    python benchmarks/sampling_cost.py docs/sampling_cost.svg

Seconds of the processor, the median of three, so that what else runs counts for little; our caches
are emptied each time. Figures differ from machine to machine: no test looks at them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from run import forget

from exactdp.accounting import compose
from exactdp.common.atomic_write import write_atomically
from exactdp.common.canvas import canvas, rendered
from exactdp.mechanisms.mechanism import Mechanism
from exactdp.mechanisms.specs.spec import parse

DELTA, REPEATS = "1e-5", 3
SPECS = {
    "Gaussian, σ = 1": "gaussian:sigma=1",
    "Skellam, variance 4": "skellam:variance=4",
    "discrete Laplace, scale 20, sensitivity 10": "discrete-laplace:scale=20,sensitivity=10",
}
STYLES = (("#0072B2", "o", "-"), ("#D55E00", "s", (0, (6, 1.5))), ("#009E73", "^", (0, (2, 1.5))))
USES = (100, 1000, 10_000, 100_000, 1_000_000)
DIGITS = (3, 4, 6, 8, 10, 12)  # of the width
FEW, USUAL = 1000, 6  # the uses of the second panel, the width of the first


def seconds(mechanism: Mechanism, times: int, digits: int) -> float:
    """How long ε takes to so narrow a relative width."""
    found = []
    for _ in range(REPEATS):
        forget()
        start = time.process_time()
        compose((mechanism, times)).epsilon(DELTA, Fraction(1, 10**digits))
        found.append(time.process_time() - start)
    return statistics.median(found)


def svg(lines: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> str:
    """Each line: its name, the seconds for USES and those for DIGITS."""
    with canvas((8.6, 3.8), wspace=0.06) as picture:
        left, right = picture.subplots(1, 2, sharey=True)
        for (name, by_uses, by_width), (color, marker, dashes) in zip(lines, STYLES, strict=False):
            style: dict[str, Any] = {"color": color, "marker": marker, "linestyle": dashes}
            style |= {"label": name, "markersize": 4.5, "linewidth": 1.6}
            left.plot(USES, by_uses, **style)
            right.plot([10.0**digits for digits in DIGITS], by_width, **style)
        for axes, label in ((left, "uses, K"), (right, "1/width")):
            axes.set(xscale="log", yscale="log", xlabel=label)
            axes.minorticks_off()
        left.set(ylabel="seconds")
        left.set_title(f"relative width 1e-{USUAL}", loc="left")
        right.set_title(f"K = {FEW:,}", loc="left")
        handles, labels = left.get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        return rendered(picture, "svg").decode()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path, metavar="FILE.svg")
    file = parser.parse_args().file
    lines = []
    for name, text in SPECS.items():
        print(name, file=sys.stderr)
        one = parse(f"{text},neighbours=add-remove,poisson=0.01").mechanism
        by_uses = [seconds(one, times, USUAL) for times in USES]
        lines.append((name, by_uses, [seconds(one, FEW, digits) for digits in DIGITS]))
    write_atomically(file, svg(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
