"""Mutants of theorems' files, one number changed: what the native checker says beside Coq's VM.

python tests/kernel_mutants.py [COUNT] [SEED]

Neither may call valid what the other does not. Those that either does not decide within seconds are
counted apart; a number with a sign is no theorem's file, for the program as for Python.
"""

import random
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from kernel_cases import GAUSSIANS, LISTS, NEAR, ONE_SIDED, theorem

from exactdp import time_limit
from exactdp.verify.kernel import extracted
from exactdp.verify.kernel.coq import compiled, sources
from exactdp.verify.kernel.forms import FORMS, FormError, recognise

LATE = 3  # seconds for one check
_BATCH, _MEMORY = 250, 4 * 2**30
_HUGE, _MOST = 10**30, 3_000  # of what is counted one by one
_COSTLY = re.compile(
    r"(K uses|on a grid|discrete Gaussian|list of uses|response), (VERIFIED|REFUTED)|Skellam"
)
_RARELY = 20  # one in so many is of those, which take Coq a second
_PLACES = {title: place for place, title in enumerate(FORMS)}


def written(folder: Path) -> list[str]:
    """Theorems of all kinds, all true."""
    claims = [(spec, each) for spec, *both in [*NEAR, *LISTS, *GAUSSIANS] for each in both]
    return [theorem(*each, folder / "pair.csv") for each in claims + [x[:2] for x in ONE_SIDED]]


def mutants(texts: list[str], count: int, seed: int) -> Iterator[str]:
    """Each of a text that is drawn: a kind first, as often as any other, but costly ones rarely."""
    draw = random.Random(seed)
    kinds: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for text in texts:
        title = recognise(text)[0].title
        kinds[_COSTLY.search(title) is not None].setdefault(title, []).append(text)
    for _ in range(count):
        titles = kinds[draw.randrange(_RARELY) == 0]
        yield mutant(draw.choice(titles[draw.choice(sorted(titles))]), draw)


def mutant(text: str, draw: random.Random) -> str:
    """A number changed, by little or by much, or given a sign; hints as well."""
    form, numbers = recognise(text)
    name = draw.choice(sorted(numbers))
    values = [numbers[name]] if name.islower() else list(numbers[name])
    place = draw.randrange(len(values))
    old = values[place]
    counted = name.isupper() or f"Z.to_nat {{{name}}}" in form.template or name == "r"
    huge = draw.randrange(_MOST if counted else _HUGE)
    by = 1 + draw.randrange(1 + old // 9)
    ways = (old + 1, max(0, old - 1), old + by, max(0, old - by), old * 2, old // 2, 0, huge, -old)
    values[place] = draw.choice(ways)
    changed = numbers | {name: values[0] if name.islower() else values}
    return form.template.format(
        **{
            name: "; ".join(map(str, [each] if isinstance(each, int) else each))
            for name, each in changed.items()
        }
    )


def by_program(program: Path, text: str, file: Path) -> bool | str | None:
    """True and false, None where it does not decide in time, or "refused"."""
    file.write_text(text)
    ran = subprocess.run([program, file, str(LATE)], capture_output=True, text=True)
    said = {0: (True, "valid"), 1: (False, "not valid"), 2: ("refused", "not a theorem's file")}
    if ran.returncode not in said:
        return None
    found, words = said[ran.returncode]
    assert ran.stdout.partition("\n")[0] == words
    return found


def by_coq(texts: list[str], folder: Path) -> list[bool | None]:
    """What Coq's virtual machine makes of the same checks, all in one file."""
    asked = []
    for place, text in enumerate(texts):
        form, numbers = recognise(text)
        names = dict.fromkeys(x for _, x, _, _ in Formatter().parse(form.template) if x)
        single = [str(numbers[name]) for name in names if name.islower()]
        lists = ["[" + "; ".join(map(str, numbers[name])) + "]" for name in form.given]
        call = f"check_{_PLACES[form.title]} {' '.join(single + lists)}"
        asked.append(
            f'try timeout {LATE} (let b := eval vm_compute in ({call})%Z in idtac "{place}" b).\n'
        )
    (folder / "Asked.v").write_text(f"{extracted.coq_text()}\nGoal True.\n{''.join(asked)}Abort.\n")
    with time_limit(1800):
        path = ["-R", str(compiled(list(sources()))), "ExactDP"]
    ran = subprocess.run(
        ["coqc", "-q", "-noglob", "-w", "none", *path, "Asked.v"], cwd=folder,
        capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
    )  # fmt: skip
    assert "rror" not in ran.stderr or "emory" in ran.stderr, ran.stderr
    said = dict(re.findall(r"^(\d+)\s(true|false)$", ran.stdout, re.M))
    return [{"true": True, "false": False}.get(said.get(str(i))) for i in range(len(texts))]


def compare(count: int, seed: int, folder: Path) -> Counter[str]:
    """How many are valid, not valid, refused, undecided. AssertionError where the two differ."""
    with time_limit(1800):
        program = extracted.build()
    counts: Counter[str] = Counter()
    waiting: list[tuple[str, bool]] = []

    def ask() -> None:
        coq = by_coq([text for text, _ in waiting], folder)
        for (text, found), known in zip(waiting, coq, strict=True):
            assert known in (found, None), text
            counts["late for Coq" if known is None else "valid" if found else "not valid"] += 1
        waiting.clear()

    for text in mutants(written(folder), count, seed):
        found = by_program(program, text, folder / "t.v")
        try:
            recognise(text)
            assert found != "refused", text
        except FormError:
            assert found == "refused", text
        if isinstance(found, bool):
            waiting.append((text, found))
        else:
            counts["late" if found is None else "refused"] += 1
        if len(waiting) == _BATCH:
            ask()
    ask()
    return counts


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    how_many, which = given + [10_000, 1][len(given) :]
    with tempfile.TemporaryDirectory() as made:
        print(dict(compare(how_many, which, Path(made))))
