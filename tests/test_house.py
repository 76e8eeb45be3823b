"""The house keeps its size: lines by folder, and words as names, below ceilings that only fall."""

import io
import subprocess
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent
CEILINGS = tomllib.loads((TOP / "tests" / "house.toml").read_text(encoding="utf-8"))
BESIDE = ("docs", "benchmarks")


def sources():
    """Every Python file in a folder, those of documentation and benchmarks left out."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=TOP, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("only a checkout has this list of its files")
    paths = (TOP / name for name in listed.stdout.split() if "/" in name)
    return [path for path in paths if path.exists() and folder(path) not in BESIDE]


def folder(path):
    return path.relative_to(TOP).parts[0]


def test_no_folder_has_more_lines_than_it_may():
    lines = Counter()
    for path in sources():
        lines[folder(path)] += path.read_text(encoding="utf-8").count("\n")
    over = {name: (count, CEILINGS["lines"].get(name)) for name, count in lines.items()
            if count > CEILINGS["lines"].get(name, 0)}  # fmt: skip
    assert not over, f"more lines than tests/house.toml allows (lines, most): {over}"


def test_no_word_is_a_name_more_often_than_it_may():
    names = Counter()
    for path in sources():
        if folder(path) != "tests":
            text = io.StringIO(path.read_text(encoding="utf-8"))
            tokens = tokenize.generate_tokens(text.readline)
            names.update(token.string for token in tokens if token.type == tokenize.NAME)
    most = CEILINGS["names"] | CEILINGS["frequent"]
    over = {word: (names[word], count) for word, count in most.items() if names[word] > count}
    assert not over, f"words that may not come back (times, most): {over}"
