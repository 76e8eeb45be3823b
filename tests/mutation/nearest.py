"""Which tests stand nearest to a line of the source: first those that mirror its file."""

import re
from collections import Counter
from functools import lru_cache
from math import log
from pathlib import Path

_AROUND = 6  # lines above and below, whose words count
_OWN = 3  # times as much: words of the line itself


@lru_cache(maxsize=2)
def _tests(root: Path) -> tuple[dict[str, tuple[str, frozenset[str]]], Counter[str]]:
    """The text and the words of every file of tests, and in how many of them each word is."""
    texts = {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted(root.glob("tests/**/test_*.py"))
    }
    found = {name: (text, frozenset(re.findall(r"\w+", text))) for name, text in texts.items()}
    return found, Counter(word for _, words in found.values() for word in words)


def nearest(root: Path, path: str, line: int) -> list[str]:
    """The files of tests for a line of the file at `path`, the likeliest first.

    First the mirror, `tests/<folder>/test_<file>.py`; then those that have the words of the line
    and around it, rare ones most of all, are in the same folder, import the file, are called so.
    """
    tests, known = _tests(root)
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    around = lines[max(0, line - 1 - _AROUND) : line + _AROUND]
    own, near = (set(re.findall(r"\w+", text)) for text in (lines[line - 1], "\n".join(around)))
    package, _, stem = path.removesuffix(".py").replace("/", ".").rpartition(".")
    folder = Path(path).parts[:-1]
    worth = {
        word: log(len(tests) / known[word]) * (_OWN if word in own else 1)
        for word in near & known.keys()
    }

    def rank(name: str) -> tuple[bool, float]:
        text, words = tests[name]
        parts = Path(name).parts[1:-1]
        shared = sum(1 for a, b in zip(parts, folder, strict=False) if a == b)
        mirror = parts == folder and Path(name).stem == f"test_{stem}"
        shared += f"{package}.{stem} import" in text or f"{package} import {stem}" in text
        shared += f"exactdp.{package} import" in text
        shared += len(set(stem.split("_")) & set(Path(name).stem.split("_")))
        return mirror, (shared + 1) * sum(map(worth.get, near & words)) / len(words) ** 0.5

    return sorted(tests, key=rank, reverse=True)
