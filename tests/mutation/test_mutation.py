"""What `make mutants` rests on: the changes that it makes, and the tests that it takes."""

import builtins
from pathlib import Path

import pytest
from mutation.nearest import nearest
from mutation.reach import chosen, marked

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("ledger/book.py", "tests/ledger/test_book.py"),
        ("mechanisms/laws/skellam.py", "tests/mechanisms/laws/test_skellam.py"),
        ("mechanisms/laws/gaussian_envelope.py", "tests/mechanisms/laws/"),
        ("verify/checker/continuous.py", "tests/verify/"),
    ],
)
def test_the_nearest_tests_come_first(path: str, tests: str) -> None:
    found = nearest(ROOT, path, 40)
    assert len(found) > 300 and all((ROOT / name).is_file() for name in found)
    assert found[0].startswith(tests)


def test_operators_do_what_their_examples_say() -> None:
    pytest.importorskip("cosmic_ray")
    from cosmic_ray.mutating import mutate_code
    from mutation.operators import KINDS

    for operator in (one for kind in KINDS.values() for one in kind):
        for each in operator.examples():
            found = mutate_code(each.pre_mutation_code, operator, each.occurrence)
            assert found.split() == each.post_mutation_code.split()
    [guard] = KINDS["guard"]
    [opposite] = KINDS["direction"]
    for code, operator in (
        ("if x:\n    raise E\nelse:\n    y\n", guard),
        ("if x:\n    y\n", guard),
        ("def floor(lower): pass\nfrom m import min\n", opposite),
    ):
        assert mutate_code(code, operator, 0) is None


def test_a_seed_is_a_mutant() -> None:
    pytest.importorskip("cosmic_ray")
    from mutation.draw import draw, sources

    names = sources(ROOT, ["ledger/"])
    assert "ledger/book.py" in names and not [name for name in names if "migrations" in name]
    one, again, other = (draw(ROOT, names, seed) for seed in (7, 7, 8))
    assert one == again != other
    old = (ROOT / one.path).read_text().splitlines()
    new = one.code.splitlines()
    assert [i + 1 for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b] == [one.line]


def test_marks_stand_before_what_is_reached() -> None:
    code = """
NAME = 1
def function(x):
    \"\"\"Said.\"\"\"
    if x > 1:
        return NAME
    elif x > 0:
        for y in [1,
                  2]:
            x += y
    return x
"""
    told = marked("a.py", code, {2, 5, 7, 9, 11})
    space: dict = {}
    exec(told, space)
    seen = vars(builtins).setdefault("_reached", set())
    kept = set(seen)
    try:
        assert space["function"].__doc__ == "Said."
        for x, lines in ((2, "2 5"), (1, "2 5 7 9 11"), (0, "2 5 7 11")):
            seen.clear()
            space["function"](x)
            assert seen == {f"a.py:{line}" for line in lines.split()}
    finally:
        seen.clear()
        seen |= kept


def test_likely_files_come_first_and_of_many_cases_some() -> None:
    near = [f"{name}.py" for name in "abcdef"]
    found = [(1.0, "a.py::one"), (0.5, "f.py::two"), (9.0, "b.py::long"), (2.0, "a.py::three")]
    assert chosen(found, near, 4) == ["a.py::one", "a.py::three", "f.py::two"]
    cases = [(0.1, f"a.py::many[{k}]") for k in range(50)]
    assert len(chosen(cases, near, 4)) == 6
