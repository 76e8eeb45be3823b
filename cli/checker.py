"""`exactdp checker`: the checker of certificates in one file, which needs nothing but Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..common.atomic_write import atomic_write, check_target
from ..verify.checker.pack import pack
from .options import option

_FILE = "exactdp-check.pyz"


def checker(
    out: Annotated[str, option("FILE", "where to write it")] = _FILE,
) -> None:
    """Write the checker of certificates as one file that a bare python3 runs."""
    target = Path(out)
    check_target(target, "--out")
    with atomic_write(target) as temporary:
        pack(temporary)
    typer.echo(f"{target}: python3 {target} CERTIFICATE.json")
