"""A user's CSV pair: what is read, and what is refused with its line."""

from fractions import Fraction

import pytest

from exactdp import ParameterError
from exactdp.mechanisms import FinitePair
from exactdp.mechanisms.pairs.pair_file import read_pair


@pytest.fixture
def write(tmp_path):
    def _write(content):
        path = tmp_path / "pair.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.mark.parametrize(
    "content",
    [
        "q,outcome,p\n2/3,a,1/3\n1/3,b,2/3\n",
        "\ufeffoutcome , p,q\r\n\r\na, 1/3 ,2/3\r\n\r\nb,2/3,1/3",
        '"outcome","p","q"\n"a",1/3,2/3\nb,2/3,1/3\n\n',
    ],
)
def test_order_blanks_quotes_and_ratios_are_allowed(write, content):
    expected = FinitePair(("a", "b"), ("1/3", "2/3"), ("2/3", "1/3"))
    assert read_pair(write(content)) == expected


def test_slack_is_handed_on(write):
    path = write("outcome,p,q\na,0.5,0.5\nb,0.49,0.5\n")
    assert read_pair(path, slack="0.01").slack == Fraction(1, 100)
    with pytest.raises(ParameterError, match=r"pair.csv: .*p.*sum"):
        read_pair(path)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "empty"),
        ("outcome,p,q\n", "no outcomes"),
        ("outcome,p\na,1\n", "line 1: the header"),
        ("a,0.5,0.5\nb,0.5,0.5\n", "line 1: the header"),
        ("outcome,p,q\na,0.5\n", "line 2: 3 cells"),
        ("outcome,p,q\na,0.5,0.5\na,0.5,0.5\n", "line 3: outcome 'a' stands on line 2"),
        ("outcome,p,q\n,1,1\n", "line 2: the outcome"),
        ("outcome,p,q\n" + "x" * 201 + ",1,1\n", "line 2: the outcome"),
        ("outcome,p,q\na,-0.5,1\n", "line 2: p"),
        ("outcome,p,q\na,1,1.5\n", "line 2: q"),
        ("outcome,p,q\na,1,inf\n", "line 2: q"),
        ("outcome,p,q\na,1e999999999,1\n", "line 2: p"),
        ("outcome,p,q\na,1e-9000,1\n", "line 2: p"),
        pytest.param(
            f"outcome,p,q\na,1/{3**2000},1\nb,1/{5**1400},0\nc,1/{7**1100},0\n",
            "line 4: the common denominator",
            id="long",
        ),
        ("outcome,p,q\na,0.5,1\nb,0.5,0.1\n", "q.*sum"),
        ('outcome,p,q\n"a,1,1\n', "line 2"),
        (b"outcome,p,q\n\xff,1,1\n", "UTF-8"),
        (b"x" * 10_000_001, "larger"),
    ],
)
def test_anything_else_is_refused_with_its_place(write, content, named):
    with pytest.raises(ParameterError, match=named) as refused:
        read_pair(write(content))
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ParameterError, match=r"nowhere\.csv: No such file"):
        read_pair(tmp_path / "nowhere.csv")
    with pytest.raises(ParameterError, match="directory"):
        read_pair(tmp_path)


@pytest.mark.parametrize("cell", ['"a"b', '"a'])
def test_quotes_that_do_not_fit_are_refused(write, cell):
    with pytest.raises(ParameterError, match=r"line [23]"):
        read_pair(write(f"outcome,p,q\n{cell},1/3,2/3\nb,2/3,1/3\n"))
