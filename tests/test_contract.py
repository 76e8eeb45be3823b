"""The marker `contract` is kept: what has it uses the command line and `import exactdp` alone."""

from surface import TESTS, functions, internals, marked

LEAST = 624  # they stay when the core is built again: the number only rises


def test_what_is_marked_uses_the_public_surface_alone():
    every = ((path, test) for path in TESTS.rglob("test_*.py") for test in functions(path))
    each = {(path, test.name): internals(path, test) for path, test in every if marked(path, test)}
    assert {name: used for name, used in each.items() if used != []} == {}
    assert len(each) >= LEAST


def test_what_uses_internals_is_found_out(tmp_path):
    for line, used in (
        ("import exactdp\n\ndef test_it():\n    exactdp.mechanism('x')\n", []),
        ("import exactdp\n\ndef test_it():\n    exactdp.door\n", ["exactdp.door"]),
        ("from exactdp.exact import x\n\ndef test_it():\n    x(1)\n", ["exactdp.exact.x"]),
        ("from exactdp.exact import whole\n\nA = [whole]\n\ndef test_it():\n    A\n",
         ["exactdp.exact.whole"]),
        ("def test_it(monkeypatch):\n    monkeypatch.setattr('exactdp.cli.in_time.x', 1)\n",
         ["exactdp.cli.in_time"]),
        ("def test_it():\n    assert 1 + 1 == 2\n", None),
    ):  # fmt: skip
        path = tmp_path / f"test_{abs(hash(line))}.py"
        path.write_text(line)
        (test,) = functions(path)
        assert internals(path, test) == used
