"""Tasks in any order, on any number of processes; what is missing is named."""

import builtins

import pytest

from exactdp.bandit.parallel import each
from exactdp.exact.number import ParameterError


def square(number):
    return number * number


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_is_done_once(workers):
    if workers > 1:
        pytest.importorskip("joblib")
    assert sorted(each(square, range(9), workers)) == [number**2 for number in range(9)]


def test_one_process_does_one_task_after_the_other():
    asked = []
    found = each(lambda task: asked.append(task) or task, [1, 2, 3])
    assert next(found) == 1
    assert asked == [1]


@pytest.mark.parametrize(
    ("missing", "given", "named"),
    [
        ("joblib", {"workers": 2}, r'workers above 1 needs joblib: pip install "exactdp\[parallel'),
        ("distributed", {"cluster": "local"}, r"cluster needs distributed: pip install"),
    ],
)
def test_what_is_not_installed_is_named(monkeypatch, missing, given, named):
    genuine = builtins.__import__

    def without(name, *rest):
        if name == missing:
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ParameterError, match=named):
        list(each(square, [1, 2], **given))
