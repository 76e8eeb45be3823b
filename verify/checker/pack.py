"""`make checker`: the checker and mpmath in one file that a bare python3 runs.

The bytes depend on the sources alone: names in order, one time stamp, no compression settings of
the machine.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import mpmath

_START = (
    "import sys\nfrom exactdp.verify.checker.__main__ import main\n"
    "if __name__ == '__main__':\n    sys.exit(main())\n"
)
_STAMP = (1980, 1, 1, 0, 0, 0)


def pack(target: Path) -> None:
    """Write the archive."""
    with target.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in sorted(_sources()):
                entry = zipfile.ZipInfo(name, _STAMP)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, text)
    target.chmod(0o755)


def _sources() -> Iterator[tuple[str, bytes]]:
    yield "__main__.py", _START.encode()
    for package in ("exactdp", "exactdp/verify"):
        yield f"{package}/__init__.py", b""
    here = Path(__file__).parent
    for path in here.glob("*.py"):
        if path.name != Path(__file__).name:
            yield f"exactdp/verify/checker/{path.name}", path.read_bytes()
    for path in here.glob("*.json"):
        yield f"exactdp/verify/checker/{path.name}", path.read_bytes()
    library = Path(mpmath.__file__).parent
    for path in library.rglob("*.py"):
        if "tests" not in path.relative_to(library).parts:
            yield f"mpmath/{path.relative_to(library).as_posix()}", path.read_bytes()


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
