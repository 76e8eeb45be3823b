"""The lowest versions that pyproject.toml allows, one a line, as `pip -c` reads them."""

import re
import tomllib
from itertools import chain
from pathlib import Path

_OTHERS = ("coverage", "mutants", "lint", "bench")  # extras that no test needs


def lowest() -> list[str]:
    """`NAME==VERSION` of everything that the toolkit and its tests need."""
    settings = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    extras = settings["project"]["optional-dependencies"]
    needed = chain(
        settings["project"]["dependencies"],
        *(extra for name, extra in extras.items() if name not in _OTHERS),
    )
    found = (re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", one) for one in needed)
    return sorted({f"{each[1]}=={each[2]}" for each in found if each is not None})


if __name__ == "__main__":
    print(*lowest(), sep="\n")
