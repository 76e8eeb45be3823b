"""Write the pages of evidence and their pictures, every figure computed now: `make pages`.

    PYTHONPATH=evidence python -m pages [NAME ...] [--out DIR]

NAME: those to write (claims.md, protocols.svg, ...), all if none is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from exactdp.cli.output import progress
from exactdp.common.atomic_write import write_atomically

from . import bugs, claims, deployments, picture, protocols, sampled, vectors

PAGES: Mapping[str, Callable[[], str]] = {
    "claims.md": claims.page,
    "bugs.md": bugs.page,
    "deployments.md": deployments.page,
    "protocols.md": protocols.page,
    "protocols.svg": picture.svg,
    "sampling.md": sampled.page,
    "sampling.svg": sampled.svg,
    "vectors.md": vectors.page,
    "vectors.svg": vectors.svg,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write these, each as a whole or not at all."""
    parser = argparse.ArgumentParser(prog="pages", description="Write the pages of evidence.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PAGES))
    parser.add_argument("--out", type=Path, default=Path("docs"), help="the folder (docs)")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in PAGES]:
        parser.error(f"NAME must be one of {', '.join(PAGES)}, got {unknown[0]!r}")
    with progress("writing", len(given.names or PAGES)) as done:
        for name in given.names or PAGES:
            done(0, name)
            write_atomically(given.out / name, PAGES[name]())
            done(1)


if __name__ == "__main__":
    main()
