"""Change the source at places that are drawn, and see whether tests notice: from `tests`,

python -m mutation [--mutants 100] [--from 0] [--seconds 20] [--files 12] [--reach | --suite]
                   [PATH ...]

Each seed is one mutant. It is made in a copy of the repository, and the tests nearest to its line
are run, quick ones only, until one fails or the seconds of the processor are over. With --reach the
quick tests are run once before, without a mutant (some 11 minutes), to see which of them reach each
line: those are taken then, wherever they stand. --suite asks whether the conformance suite and the
golden figures notice by themselves, slow rows too: of those that reach the line, in order of speed
(an hour of the processor and more). What survives and was looked at stands in
judged.txt, with what it costs, and is not run again. Exit code 0: nothing else survived; 1:
something did; 2: bad input, or tests that fail without a mutant.
"""

import argparse
import compileall
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from py_compile import PycInvalidationMode

from mutation.draw import Mutant, draw, sources
from mutation.nearest import nearest
from mutation.reach import Reached, chosen, quickest, reached
from mutation.trial import HUNG, PASSED, outcome

_ROOT = Path(__file__).parents[2]
_ROOM = 2  # times the seconds of the tests chosen: importing, and a machine that is busy
UNREACHED = "unreached"  # by any row of the suite
_JUDGED = Path(__file__).with_name("judged.txt")


def _copy(to: Path) -> None:
    """The files that git knows, and `exactdp` as an installation has it."""
    listed = ["git", "-C", str(_ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (_ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / name, to / name)
    (to / "exactdp").mkdir()
    subpackages = (path.parent for path in to.glob("*/__init__.py") if path.parent.name != "api")
    for path in (*subpackages, *(to / "api").iterdir()):
        (to / "exactdp" / path.name).symlink_to(path)
    # By their contents: a file that is changed and put back within a second must be read again.
    compileall.compile_dir(to, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


class _Trials:
    """Mutants in the copy, one after the other."""

    def __init__(self, root: Path, seconds: float, files: int, known: Reached, suite: bool) -> None:
        self._root, self._seconds, self._files, self._known = root, seconds, files, known
        self._suite = suite
        self._failed: list[str] = []

    def of(self, mutant: Mutant) -> str:
        """What its tests say of it: as `outcome`."""
        file = self._root / mutant.path
        kept = file.read_bytes()
        reaching = self._known.get(f"{mutant.path}:{mutant.line}", ())
        if self._suite:
            tests = near = quickest(reaching, self._seconds)
            if not tests:
                return UNREACHED
        else:
            near = nearest(self._root, mutant.path, mutant.line)
            tests = chosen(reaching, near, self._seconds)
        over = HUNG if tests else PASSED  # these are known to take less
        try:
            file.write_text(mutant.code, encoding="utf-8")
            tests = tests or near[: self._files]
            found = outcome(self._root, tests, _ROOM * self._seconds, over, self._suite)
        finally:
            file.write_bytes(kept)
        if found not in (HUNG, PASSED):
            self._failed.append(found)
        return found

    def unsound(self) -> str | None:
        """A test that failed on a mutant and fails without any; None where all of them pass."""
        failed = [*dict.fromkeys(self._failed)]
        if not failed:
            return None
        found = outcome(self._root, failed, self._seconds * len(failed), slow=self._suite)
        return None if found == PASSED else found


def _reached(mutants: list[Mutant], suite: bool) -> Reached:
    """Which tests reach the lines of these, in a copy of their own."""
    places: dict[str, set[int]] = {}
    for mutant in mutants:
        places.setdefault(mutant.path, set()).add(mutant.line)
    with tempfile.TemporaryDirectory() as folder:
        _copy(Path(folder))
        return reached(Path(folder), places, suite)


def _judged(suite: bool) -> dict[str, str]:
    """What survivors that were looked at cost, by the change; those of the suite alone besides."""
    lines = _JUDGED.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" | ", 1) for line in lines if line and not line.startswith("#"))
    return {key: why for why, key in pairs if suite or not why.startswith("elsewhere")}


def main() -> int:
    """0 where every mutant was noticed, or is known to do no harm."""
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("mutation", description=__doc__, formatter_class=shape)
    parser.add_argument("paths", nargs="*", help="beginnings of paths; all that decides soundness")
    parser.add_argument("--mutants", type=int, default=100, help="how many")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=20, help="of tests, for each")
    parser.add_argument("--files", type=int, default=12, help="of tests, for each")
    parser.add_argument("--reach", action="store_true", help="find first which tests reach a line")
    parser.add_argument("--suite", action="store_true", help="conformance and golden figures alone")
    asked = parser.parse_args()
    names = sources(_ROOT, asked.paths)
    if not names or asked.mutants < 1 or asked.seconds <= 0 or asked.files < 1:
        parser.error("there must be files to mutate, and mutants, seconds and files at least 1")
    judged, counts = _judged(asked.suite), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy(copy)
        seeds = range(asked.first, asked.first + asked.mutants)
        mutants = [draw(copy, names, seed) for seed in seeds]
        open_ones = [mutant for mutant in mutants if mutant.key not in judged]
        known = _reached(open_ones, asked.suite) if asked.reach or asked.suite else {}
        trials = _Trials(copy, asked.seconds, asked.files, known, asked.suite)
        for mutant in mutants:
            found = PASSED if mutant.key in judged else trials.of(mutant)
            kind = {HUNG: "hung", PASSED: "survived", UNREACHED: UNREACHED}.get(found, "killed")
            kind = judged.get(mutant.key, kind).partition(":")[0]
            counts[kind] += 1
            print(f"{mutant.seed:5} {kind:10} {mutant.path}:{mutant.line}")
            print(f"{'-':>7} {mutant.before}\n{'+':>7} {mutant.after}")
            if kind == "killed":
                print(f"{'by':>7} {found}")
            sys.stdout.flush()
        if (wrong := trials.unsound()) is not None:
            print(f"fails without any mutant: {wrong}", file=sys.stderr)
            return 2
    print(*(f"{count} {kind}" for kind, count in counts.most_common()), sep=", ")
    return int(counts["survived"] + counts[UNREACHED] > 0)


if __name__ == "__main__":
    sys.exit(main())
