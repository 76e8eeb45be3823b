"""Mechanisms as text: one spelling for each, and the same mechanism when it is read."""

from pathlib import Path

import pytest

import exactdp
from exactdp import ParameterError
from exactdp.ledger import canonical
from exactdp.mechanisms.specs.spec import parse

SPECS = [
    "discrete-laplace:epsilon=0.1",
    "discrete-laplace:scale=10,sensitivity=3,modulus=101",
    "discrete-laplace:scale=10,fixed-size=10/100",
    "polya-difference:shape=0.9,scale=10",
    "skellam:variance=100",
    "skellam:variance=100,l2=4,linf=2,dimension=9,neighbours=add-remove,poisson=0.01",
    "skellam:variance=100,neighbours=add-remove",
    "discrete-gaussian:sigma=1/3",
    "discrete-gaussian-sum:count=128,sigma2=0.25",
    "binomial:trials=1000,probability=1/2,sensitivity=1,modulus=77",
    "skellam:variance=100,users=10,dropout=1",
    "randomized-response:epsilon=1/3",
    "randomized-response:epsilon=1,delta=0.01,neighbours=add-remove,poisson=1/3",
    "gaussian:sigma2=4,neighbours=add-remove,poisson=256/60000",
    "gaussian:sigma=2,neighbours=add-remove,allocation=1/10",
    "laplace:epsilon=0.3,l1=2",
    "laplace:scale=3,fixed-size=1/3",
    "theorem1:batch=1024,epsilon=0.5,horizon=1000000",
    "theorem3:epsilon=0.5,batch=16,horizon=100",
    "theorem6:epsilon=0.5,batch=16,horizon=100,collusion=1",
    "published:epsilon=0.1,batch=1024",
    "shuffle-sum:epsilon=0.5,delta=1e-6,users=1000",
    "federated:mechanism=skellam,clip=1,scale=64,clients=100,local-stddev=2,dimension=1000,"
    "bits=16,rounding=conditional:0.6065",
    "skellam:variance=400,l2=4,dimension=100,rounding=stochastic,neighbours=add-remove",
]


@pytest.mark.parametrize("spec", SPECS)
def test_it_reads_back_as_the_same_mechanism(spec: str) -> None:
    [(text, (mechanism, times))] = canonical.uses_of(f"{spec}*3").items()
    assert (canonical.read(text), times) == (parse(spec).mechanism, 3) == (mechanism, 3)
    assert list(canonical.uses_of(text)) == [text]
    assert "\n" not in text


def test_a_table_is_written_with_its_numbers(tmp_path) -> None:
    file = tmp_path / "pair.csv"
    file.write_text('outcome,p,q\nyes,0.6,0.4\n"no, never",1/3,0.6\n')
    for more in ("slack=0.1", "slack=0.1,neighbours=add-remove,poisson=1/3"):
        [text] = canonical.uses_of(f"pmf:file={file},{more}")
        expected = parse(f"pmf:file={file},{more}").mechanism
        assert str(tmp_path) not in text
        assert canonical.read(text) == expected
    file.unlink()
    assert canonical.read(text) == expected


def test_one_spelling_and_one_row_for_equal_mechanisms() -> None:
    same = ["skellam:variance=100", "skellam:sensitivity=1,variance=1e2*2", "skellam:variance=100"]
    assert [times for _, times in canonical.uses_of(same).values()] == [4]
    one, other = exactdp.mechanism("skellam:variance=9"), exactdp.mechanism("skellam:variance=4")
    assert list(canonical.uses_of(2 * one + other)) == list(canonical.uses_of([other, (one, 2)]))


@pytest.mark.parametrize(
    "text", ["pmf:file=pair.csv", "mechanism.toml", "a.json", "{}", '{"outcomes": 3}', "nothing"]
)
def test_what_names_a_file_or_nothing_is_not_read(text: str) -> None:
    with pytest.raises(ParameterError):
        canonical.read(text)


def test_neighbours_must_agree() -> None:
    with pytest.raises(ParameterError, match="neighbours must be the same"):
        canonical.uses_of(["gaussian:sigma=1", "gaussian:sigma=1,neighbours=add-remove"])


@pytest.mark.parametrize("spec", [spec for spec in SPECS if "," in spec])
def test_keys_in_another_order_are_the_same_text(spec: str) -> None:
    name, _, rest = spec.partition(":")
    turned = f"{name}: {', '.join(reversed(rest.split(',')))}"
    assert list(canonical.uses_of(turned)) == list(canonical.uses_of(spec))


_FILES = {
    "matrix:file=C.csv,sigma=10": ("C.csv", "1,0\n1,1\n", "1,0\n2,1\n"),
    "blt:file=b.json,sigma=10,steps=10": (
        "b.json",
        '{"omega": [0.5], "theta": [0.5]}',
        '{"omega": [0.5], "theta": [0.9]}',
    ),
    "local:file=t.csv": ("t.csv", ",x,y\na,3/4,1/4\nb,1/4,3/4\n", ",x,y\na,1,0\nb,0,1\n"),
    "local:file=t.csv,shuffled=9": ("t.csv", ",x\na,1\n", ",x,y\na,3/4,1/4\nb,1/4,3/4\n"),
    "pmf:file=p.csv": ("p.csv", "outcome,p,q\n0,1,1\n", "outcome,p,q\n0,1/2,1\n1,1/2,0\n"),
}


@pytest.mark.parametrize("spec", _FILES)
def test_what_a_file_says_is_written_and_its_path_is_not(spec, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, content, other = _FILES[spec]
    Path(name).write_text(content)
    mechanism = parse(spec).mechanism
    [text] = canonical.uses_of(spec)
    Path("moved").mkdir()
    Path("moved", name).write_text(content)
    assert list(canonical.uses_of((spec.replace(name, f"moved/{name}"), 3))) == [text]
    assert canonical.uses_of((spec, 3))[text][1] == 3
    once = parse(spec)
    Path(name).write_text(other)
    assert list(canonical.uses_of(spec)) != [text]
    assert list(canonical.uses_of(once)) == [text]  # read once
    Path(name).unlink()
    canonical.read.cache_clear()
    assert canonical.read(text) == mechanism
    assert name not in text


def test_a_matrix_of_floats_is_written_whole(tmp_path) -> None:
    import numpy as np

    np.save(tmp_path / "C.npy", np.array([[1.0, 0], [0.5, 1]]))
    [text] = canonical.uses_of(f"matrix:file={tmp_path / 'C.npy'},sigma=10")
    assert canonical.read(text) == parse(f"matrix:file={tmp_path / 'C.npy'},sigma=10").mechanism


@pytest.mark.parametrize(
    "text",
    [
        "local:file={}",
        "matrix:file={},sigma=10",
        "blt:file={},sigma=10",
        "pmf:file={}",
        "{}",
        '{{"spec":"local:file={}","content":"x"}}',
        '{{"spec":"local:file={}","base64":"!"}}',
        '{{"spec":"local:file={}","content":3}}',
        '{{"spec":"discrete-laplace:scale=1","content":""}}',
        '{{"spec":3,"content":""}}',
    ],
)
@pytest.mark.parametrize("name", ["table.csv", "table.json", "table.toml", "table.npy"])
def test_no_path_of_a_ledgers_is_opened(text, name, tmp_path, monkeypatch) -> None:
    path = tmp_path / name
    path.write_text(",x,y\na,3/4,1/4\nb,1/4,3/4\n")
    opened = []
    monkeypatch.setattr("os.open", lambda *given: opened.append(given))
    with pytest.raises(ParameterError):
        canonical.read(text.format(path))
    assert opened == []
