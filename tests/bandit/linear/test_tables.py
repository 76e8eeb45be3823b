"""Contexts and rewards from a file: read as written, or refused with the line."""

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.linear import tables
from exactdp.bandit.linear.contexts import linear_environment
from exactdp.bandit.linear.tables import Recorded

GOOD = """user,age,reward 1..5,income
ann,0.3,5,0.5

ann,-1,2,0
bob,0.7,1,0.2
bob,0.6,4,0.8
"""


def _read(tmp_path, text):
    path = tmp_path / "shop.csv"
    path.write_text(text)
    return linear_environment(str(path))


def test_users_are_drawn_with_their_own_contexts_and_means(tmp_path):
    place = _read(tmp_path, GOOD)
    assert isinstance(place, Recorded)
    assert (place.name, place.dimension, place.arms, place.norm) == ("shop", 2, 2, 1.0)
    assert place.theta is None and place.diversity is None
    contexts, means = place.draw(np.random.default_rng(0), 1000)
    ann = contexts[:, 0, 0] == 0.3
    assert 400 < ann.sum() < 600
    assert contexts[ann].tolist() == [[[0.3, 0.5], [-1, 0]]] * ann.sum()
    assert contexts[~ann].tolist() == [[[0.7, 0.2], [0.6, 0.8]]] * (~ann).sum()
    assert means[ann].tolist() == [[1, 0.25]] * ann.sum()
    assert means[~ann].tolist() == [[0, 0.75]] * (~ann).sum()


def test_a_table_that_is_linear_is_fitted_without_regret_and_one_that_is_not_with(tmp_path):
    lines = [
        f"{user},{x / 10},{y / 10},{(1 + x / 10 - y / 20) / 2}"
        for user in range(9)
        for x, y in ((user, 2), (3, user - 4))
    ]
    assert _read(tmp_path, "\n".join(["user,x,y,reward", *lines])).linear_regret() < 1e-12
    odd = "user,x,reward\na,1,0\na,-1,1\nb,1,1\nb,-1,0\nc,1,1\nc,-1,0\n"
    assert _read(tmp_path, odd).linear_regret() == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least 2 lines a user"),
        ("user,x,y\n", "line 1: the header must name the columns user and reward"),
        ("x,reward\n", "line 1: the header must name the columns user and reward"),
        ("user,reward\na,1\n", "line 1: columns of contexts are missing"),
        ("user,x,reward 5..1\n", "line 1: the range of rewards is empty"),
        (GOOD.replace("bob,0.7,1,0.2", "bob,0.7,1"), "line 5: 4 cells are needed, got 3"),
        (GOOD.replace("0.7", "high"), "line 5: contexts must be numbers, .*'high'"),
        (
            GOOD.replace("0.7", "nan"),
            "line 5: contexts must be of norm at most 1, got one of norm nan",
        ),
        (GOOD.replace("0.7", "-1e300"), "line 5: contexts must be of norm at most 1"),
        (GOOD.replace("0.7,1", "0.7,6"), "line 5: reward must be between 1 and 5, got '6'"),
        (GOOD.replace("0.7,1", "0.7,?"), "line 5: reward"),
        (GOOD + "bob,0,1,0\n", "line 7: the user before has 3 lines, where the first has 2"),
        (GOOD + "cy,0,1,0\n", "line 7: the user before has 1 lines, where the first has 2"),
        ("user,x,reward\na,1,1\nb,1,1\n", "at least 2 lines a user"),
        ("user,reward," + ",".join(map(str, range(65))), "line 1: the header"),
        ('user,x,reward\n"a,1,1\n', "line 2: unexpected end of data"),
        (b"user,x,reward\n\xff,1,1\n", "not text in UTF-8"),
    ],
)
def test_anything_else_is_refused_with_the_line(tmp_path, text, says):
    path = tmp_path / "shop.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ParameterError, match=f"shop.csv.*{says}"):
        linear_environment(str(path))


def test_no_more_is_kept_than_is_allowed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_NUMBERS", 8)
    assert _read(tmp_path, GOOD).means.size == 4
    monkeypatch.setattr(tables, "MOST_NUMBERS", 7)
    with pytest.raises(ParameterError, match="line 6: more than 7 numbers"):
        _read(tmp_path, GOOD)
    monkeypatch.setattr(tables, "_MOST_ARMS", 1)
    with pytest.raises(ParameterError, match="line 4: more than 1 lines of one user"):
        _read(tmp_path, GOOD)
