"""One mutant for each seed: a file of those that decide soundness, a place in it, a change."""

import random
from pathlib import Path

from attrs import frozen
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from mutation.operators import KINDS

SOURCES = (
    "accounting/**/*.py",
    "mechanisms/**/*.py",
    "protocols/**/*.py",
    "verify/checker/*.py",
    "ledger/*.py",
)
_NOT = ("plots.py", "__init__.py", "__main__.py", "pack.py")  # what decides nothing


@frozen
class Mutant:
    """A file with one line changed."""

    seed: int
    path: str
    line: int
    before: str
    after: str
    code: str

    @property
    def key(self) -> str:
        """The change, wherever the line stands now."""
        return f"{self.path}: {self.before} -> {self.after}"


def sources(root: Path, asked: list[str]) -> list[str]:
    """The files that are mutated, of those that begin as asked."""
    found = {
        str(path.relative_to(root)) for pattern in SOURCES for path in sorted(root.glob(pattern))
    }
    kept = sorted(name for name in found if not name.endswith(_NOT) or "checker/__init" in name)
    return [name for name in kept if not asked or name.startswith(tuple(asked))]


def draw(root: Path, names: list[str], seed: int) -> Mutant:
    """The mutant of this seed: files by their lengths, kinds of change alike."""
    chance = random.Random(f"mutant {seed}")
    lengths = [(root / name).stat().st_size for name in names]
    for _ in range(1000):
        path = chance.choices(names, lengths)[0]
        operators = KINDS[chance.choice(list(KINDS))]
        source = (root / path).read_text(encoding="utf-8")
        nodes = list(ast_nodes(get_ast(source)))
        places = [
            (operator, index)
            for operator in operators
            for index in range(sum(1 for node in nodes for _ in operator.mutation_positions(node)))
        ]
        if not places:
            continue
        operator, index = chance.choice(places)
        code = MutationVisitor.mutate_code(source, operator, index)
        if code is None or code == source:
            continue
        return _mutant(seed, path, source, code)
    raise ValueError(f"seed {seed}: nothing to mutate")


def _mutant(seed: int, path: str, source: str, code: str) -> Mutant:
    old, new = source.splitlines(), code.splitlines()
    first = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    before, after = (" ".join(lines[first].split()) for lines in (old, new))
    return Mutant(seed, path, first + 1, before, after, code)
