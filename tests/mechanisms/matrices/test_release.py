"""Streams with noise shared by all time: what they cost, and the specs that name them."""

from fractions import Fraction

import numpy as np
import pytest

from exactdp import ParameterError, Verdict
from exactdp.accounting import compose
from exactdp.mechanisms import AdditiveNoise, Skellam
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify import audit, parse_claim
from exactdp.verify.certificate import certificate_of


def of(text):
    return parse(text).mechanism


@pytest.mark.parametrize(("noise", "l2"), [("skellam", 1), ("discrete-gaussian", 4)])
def test_discrete_noise_costs_hardly_more_than_gaussian_noise(noise, l2):
    """The envelope's price: 1 + O(1/variance)."""
    given = f"tree:steps=1024,sigma=10,l2={l2},dimension=1048576"
    plain, found = compose(of(given)), compose(of(f"{given},noise={noise}"))
    one, other = plain.epsilon("1e-6"), found.epsilon("1e-6", "1e-3")
    assert float(other.upper) <= float(one.upper) * (1 + 2 / 100)
    assert float(other.lower) >= float(one.lower) * (1 - 2 / 100)
    assert float(found.renyi(2).upper) <= float(plain.renyi(2).upper) * (1 + 2 / 100)


def test_audits_and_a_certificate():
    one = of("sqrt-toeplitz:steps=2000,sigma=10,participations=6,separation=342")
    found = audit(one, parse_claim("gdp:0.604443487839674"))
    assert found.verdict is Verdict.VERIFIED
    assert audit(one, parse_claim("gdp:0.604443487839673")).verdict is Verdict.REFUTED
    assert certificate_of(found).check().valid


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def store(name, content):
        if name.endswith(".npy"):
            np.save(tmp_path / name, content)
        else:
            (tmp_path / name).write_text(content)
        return f"file={name}"

    return store


def test_matrices_are_read_from_files(stored):
    sums = stored("a.csv", "1,0,0\n1,1,0\n1,1,1\n")
    exactly = compose(of(f"matrix:{sums},sigma=1")).zcdp()
    assert exactly.lower == exactly.upper == Fraction(3, 2)
    floats = np.tril(np.full((3, 3), 0.1))
    found = compose(of(f"matrix:{stored('b.npy', floats)},sigma=1,participations=3")).zcdp()
    truth = Fraction(0.1) ** 2 * (1 + 4 + 9) / 2
    assert found.lower <= truth <= found.upper
    assert found.is_within(Fraction(1, 10**12))
    thirds = stored("c.csv", "1/3,0\n1/3,1e-30\n")
    found = compose(of(f"matrix:{thirds},sigma=1")).zcdp()
    assert found.lower <= Fraction(1, 9) <= found.upper
    assert found.is_within(Fraction(1, 10**12))


def test_whole_numbers_take_discrete_noise(stored):
    text = f"matrix:{stored('a.csv', '1,0' + chr(10) + '2,1')},sigma=3"
    found = compose(of(f"{text},noise=skellam"))
    truth = compose(AdditiveNoise(Skellam(9), 1), AdditiveNoise(Skellam(9), 2))
    assert found.epsilon("1e-3", "1e-3").lower <= truth.epsilon("1e-3", "1e-3").upper
    assert truth.epsilon("1e-3", "1e-3").lower <= found.epsilon("1e-3", "1e-3").upper
    halves = stored("b.csv", "1,0\n1/2,1\n")
    with pytest.raises(ParameterError, match="whole numbers"):
        of(f"matrix:{halves},sigma=3,noise=skellam")


def test_buffers_are_read_from_a_file(stored):
    one = stored("b.json", '{"omega": [0.5], "theta": [0.5]}')
    found = compose(of(f"blt:{one},steps=3,sigma=1")).zcdp()
    truth = (1 + Fraction(1, 4) + Fraction(1, 16)) / 2
    assert found.lower <= truth <= found.upper
    other = stored("c.json", '{"output_scale": [0.5], "buf_decay": [0.5]}')
    assert compose(of(f"blt:{other},steps=3,sigma=1")).zcdp() == found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", ""),
        ("a.csv", "1,0\n1,x\n"),
        ("a.csv", "1,0\n1\n"),
        ("a.csv", "1,0\n"),
        ("a.csv", "0,0\n0,0\n"),
        ("a.npy", np.array([[1.0, 0.0], [np.nan, 1.0]])),
        ("a.npy", np.array([[1.0, 0.0], [np.inf, 1.0]])),
        ("a.npy", np.array([1.0, 2.0])),
        ("a.npy", np.array([[1j]])),
        ("a.npy", np.array([["a"]])),
        ("a.npy", np.array([[None]], dtype=object)),
        ("a.npy", np.zeros((0, 0))),
        ("a.npy", np.zeros((3000, 1))),
    ],
)
def test_what_is_no_such_matrix_is_refused(stored, name, content):
    stored(name, content)
    with pytest.raises(ParameterError, match=f"^{name}"):
        of(f"matrix:file={name},sigma=1")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"omega": [1]}',
        '{"omega": [1], "theta": []}',
        '{"omega": 1, "theta": 1}',
        '{"omega": [NaN], "theta": [0]}',
        '{"omega": [1, 1], "theta": [0, 0]}',
        '{"omega": [0.5], "theta": [2]}',
        '{"omega": [0.5], "theta": [-1]}',
        '{"omega": [-1], "theta": [0]}',
    ],
)
def test_what_are_no_buffers_is_refused(stored, content):
    stored("a.json", content)
    with pytest.raises(ParameterError):
        of("blt:file=a.json,steps=3,sigma=1")


@pytest.mark.parametrize(
    "text",
    [
        "tree:steps=0,sigma=1",
        "tree:steps=1e13,sigma=1",
        "tree:steps=8,sigma=0",
        "tree:steps=8,sigma=1,restart=0",
        "tree:steps=8,sigma=1,participations=0",
        "tree:steps=8,sigma=1,l2=0",
        "tree:steps=8,sigma=1,noise=skellam,l2=1/2",
        "tree:steps=8,sigma=1,poisson=1/2",
        "sqrt-toeplitz:steps=10,sigma=1,noise=skellam",
        "matrix:file=.,sigma=1",
        "blt:file=missing.json,steps=3,sigma=1",
    ],
)
def test_what_is_no_stream_is_refused(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError):
        of(text)
