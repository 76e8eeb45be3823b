"""A law is one class and one line: this one goes through every command that takes laws."""

import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from attrs import field, frozen
from flint import acb, arb
from sampler_fit import fit

from exactdp import ApproxDP, Enclosure, NotCertifiedError
from exactdp.accounting import compose
from exactdp.cli.main import main
from exactdp.exact.number import ball, mpf, whole
from exactdp.mechanisms import AdditiveNoise, FiniteLaw, Law, Moments
from exactdp.mechanisms.laws import closed_forms
from exactdp.mechanisms.laws.families import FAMILIES
from exactdp.mechanisms.laws.law import Calibrated
from exactdp.mechanisms.samplers.coins import below
from exactdp.mechanisms.schema import key
from exactdp.mechanisms.spec import parse
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of

PAIR = "triangular:width=20,sensitivity=3"


def _width(value):
    """A whole number from 1."""
    return whole(value, "width", at_least=1)


@frozen
class Triangular(Law):
    """X - Y of independent X and Y, uniform on `width` integers: p(x) = (w - |x|)/w^2, |x| < w."""

    width: int = field(converter=_width, metadata=key("of both uniform laws"))

    name = "triangular"
    says = "an integer query plus the difference of two uniform numbers"
    example = "width=20"
    log_concave = "w - |x| is concave where it is positive, and so is its logarithm"
    calibrated = Calibrated("width", 1, None, start=10, is_whole=True)

    @property
    def support(self):
        return 1 - self.width, self.width - 1

    def mass(self, x):
        return Fraction(max(self.width - abs(x), 0), self.width**2)

    def pmf(self, x, digits=50):
        with mpmath.workdps(digits + 15):
            return mpf(self.mass(x))

    def balls(self, low, high):
        return [ball(self.mass(x)) for x in range(low, high + 1)]

    def ball(self, x):
        return ball(self.mass(x))

    def log_pmf(self, xs):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(self.width - np.abs(np.asarray(xs, dtype=float)), 0)) - (
                2 * np.log(self.width)
            )

    def cumulant(self, z, analytic=False):
        one = sum(((z * j).exp() for j in range(self.width)), acb(0)) / self.width
        return 2 * one.log(analytic=analytic) - (self.width - 1) * z

    def upper_tail(self, t):
        w = self.width
        if t <= 0:
            return 1 - self.upper_tail(1 - t)
        return arb(max(w - t, 0) * (w - t + 1)) / (2 * w * w)

    def lower_tail(self, t):
        return self.upper_tail(-t)

    def moments(self):
        return Moments(Enclosure.exactly(0), Enclosure.exactly(Fraction(self.width**2 - 1, 6)))

    def sampler(self):
        return lambda bits: below(self.width, bits) - below(self.width, bits)


class Tabled(Triangular):
    """The same, and one closed form more: a table of its probabilities."""

    def listed(self):
        return listed(self.width)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(FAMILIES, Triangular.name, Triangular)
    with mpmath.workdps(40):
        yield


def told(capsys, *arguments):
    code = main([*arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, json.loads(captured.out)


def delta(width, shift, epsilon):
    """sum of max(p(x) - e^epsilon p(x - shift), 0), by its definition."""
    law, grown = Triangular(width), mpmath.exp(mpf(Fraction(epsilon)))
    return sum(
        max(mpf(law.mass(x)) - grown * mpf(law.mass(x - shift)), mpmath.mpf(0))
        for x in range(-width, width)
    )


def listed(width):
    """The same law as a table: another way through everything."""
    return FiniteLaw({x: Triangular(width).mass(x) for x in range(1 - width, width)})


def test_its_spec_is_read_and_refused_by_name(capsys):
    assert parse(PAIR).mechanism == AdditiveNoise(Triangular(20), 3)
    assert parse(PAIR).to_json()["noise"] == "Triangular(width=20)"
    for spec, named in (
        ("triangular", "width missing"),
        ("triangular:width=0", "width must be"),
        ("triangular:scale=1", "'scale' is not known"),
        ("triangular:width=8,users=2,dropout=1", "no exact equal shares"),
    ):
        assert main(["audit", spec, "--claim", "pure:1"]) == 2
        assert named in capsys.readouterr().err


def test_it_is_listed(capsys):
    assert "of both uniform laws" in json.dumps(told(capsys, "list", "triangular")[1]["keys"][0])
    assert "triangular" in [one["name"] for one in told(capsys, "list")[1]["mechanisms"]]


def test_it_is_audited(capsys):
    code, shown = told(capsys, "audit", PAIR, "--claim", "approx:1,0.05")
    truth = delta(20, 3, 1)
    assert (code, shown["verdict"]) == ((0, "VERIFIED") if truth <= 0.05 else (1, "REFUTED"))
    found = compose((AdditiveNoise(Triangular(20), 3), 1)).delta(epsilon=1)
    assert mpf(Fraction(found.lower)) <= truth <= mpf(Fraction(found.upper))
    code, shown = told(capsys, "audit", PAIR, "--claim", "pure:100")
    assert (code, shown["measured"]["lower"]) == (1, "inf")  # an outcome that Q never has


def test_it_is_composed(capsys):
    code, shown = told(capsys, "compose", f"{PAIR}*3", "--epsilon", "2")
    assert code == 0
    table = compose((AdditiveNoise(listed(20), 3), 3))
    (result,) = shown["results"]
    found = Enclosure.from_json({end: result[end] for end in ("lower", "upper")})
    assert found.intersection(table.delta(epsilon=2)).is_finite()  # raises where disjoint
    assert found.upper - found.lower < Fraction(1, 10**5)


def test_it_is_calibrated(capsys):
    code, shown = told(
        *(capsys, "calibrate", "triangular", "--sensitivity", "3", "--target", "approx:1,0.01")
    )
    width = int(shown["value"])
    assert (code, shown["parameter"], shown["neighbour"]["value"]) == (0, "width", str(width - 1))
    assert delta(width, 3, 1) <= 0.01 < delta(width - 1, 3, 1)
    assert shown["certificate"] is None
    assert shown["least"]["proved"] is False


def test_it_is_sampled(capsys):
    assert main(["sample", "triangular:width=20", "--size", "2000", "--seed", "1"]) == 0
    draws = [int(line) for line in capsys.readouterr().out.split()]
    assert fit(Triangular(20), draws).passes
    assert not fit(Triangular(22), draws).passes
    assert main(["sample", "triangular:width=20", "--size", "2", "--share-of", "2"]) == 2
    assert "no exact equal shares" in capsys.readouterr().err


def test_a_closed_form_is_one_method_more():
    plain, tabled = (compose((AdditiveNoise(law(20), 3), 2)) for law in (Triangular, Tabled))
    table = compose((AdditiveNoise(listed(20), 3), 2))
    assert closed_forms.table_of(Tabled(20)) == listed(20)
    assert closed_forms.table_of(Triangular(20)) is None
    assert tabled.delta(epsilon=1) == table.delta(epsilon=1)
    assert plain.delta(epsilon=1).intersection(table.delta(epsilon=1)).is_finite()


def test_certificates_do_not_know_it(capsys, tmp_path):
    with pytest.raises(NotCertifiedError, match="do not know the distribution Triangular"):
        certificate_of(audit(AdditiveNoise(Triangular(20), 3), ApproxDP(1, "0.2")))
    file = tmp_path / "c.json"
    assert main(["audit", PAIR, "--claim", "approx:1,0.2", "--certificate", str(file)]) == 2
    captured = capsys.readouterr()
    assert "certificates do not know the distribution Triangular" in captured.err
    assert captured.err.count("\n") == 1 and not file.exists()


def test_its_sums_are_not_known():
    with pytest.raises(NotImplementedError, match="Triangular has no closed form"):
        Triangular(3).sum_of(2)
