"""The front door: text and values are the same, results cannot be misread, errors help."""

import copy
import pickle
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest

import exactdp
from exactdp import PureDP
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
from exactdp.mechanisms.additive import papers
from exactdp.verify.families import choose

LAPLACE = exactdp.mechanism("discrete-laplace:scale=10")
GAUSSIAN = exactdp.mechanism("discrete-gaussian:sigma2=100")
PAIR = "outcome,p,q\n{},0.5,0.4\nb,0.5,0.6\n"


@pytest.fixture
def slack(tmp_path):
    """A pair that is not known well enough."""
    (tmp_path / "pair.csv").write_text(PAIR.format("a"))
    return f"pmf:file={tmp_path / 'pair.csv'},slack=0.01"


def test_text_and_values_name_the_same_mechanism(tmp_path):
    file, value = tmp_path / "laplace.json", AdditiveNoise(DiscreteLaplace(10), 1)
    file.write_text('{"mechanism": "discrete-laplace", "scale": 10}')
    ways = ("discrete-laplace:scale=10", str(file), value, LAPLACE, [value])
    same = [exactdp.mechanism(each) for each in ways]
    assert len(set(same)) == 1
    assert isinstance(same[0], exactdp.Composition)


@pytest.mark.contract
def test_every_way_to_compose_is_the_same():
    a, b = exactdp.mechanism(LAPLACE), exactdp.mechanism(GAUSSIAN)
    expected = exactdp.compose((LAPLACE, 100), (GAUSSIAN, 50))
    assert 100 * a + 50 * b == expected
    assert a * 99 + LAPLACE + b * "50" == expected
    assert 50 * (2 * a + b) == expected
    assert exactdp.compose((a, 100), (50 * b, 1)) == expected
    text = ("discrete-laplace:scale=10", 100), "discrete-gaussian:sigma2=100*50"
    assert exactdp.compose(*text) == expected
    assert exactdp.mechanism(["discrete-laplace:scale=10*100", 50 * b]) == expected
    assert (100 * a + 50 * b).epsilon(delta="1e-6") == expected.epsilon("1e-6")


@pytest.mark.contract
@pytest.mark.parametrize("as_list", [False, True])
def test_audits_take_text_lists_and_values(as_list, slack):
    m = "discrete-laplace:epsilon=0.1*3"
    found = exactdp.audit([m] if as_list else m, "pure:0.3")
    assert found == exactdp.audit(3 * LAPLACE, PureDP("0.3"))
    assert found.verified and not found.refuted
    worse = exactdp.audit(m, PureDP("0.29"))
    assert worse.refuted and not worse.verified
    open_ = exactdp.audit(slack, "pure:1")
    assert not open_.verified and not open_.refuted


@pytest.mark.contract
@pytest.mark.parametrize("claim", ["pure:0.1", "pure:0.09"])
def test_what_is_certified_is_checked(tmp_path, claim):
    certificate = exactdp.certify("discrete-laplace:epsilon=0.1", claim)
    certificate.write(tmp_path / "file.json")
    for given in (certificate, tmp_path / "file.json", str(tmp_path / "file.json")):
        assert exactdp.check(given).valid
    forged = certificate.content | {"verdict": "REFUTED" if claim == "pure:0.1" else "VERIFIED"}
    assert not exactdp.check(forged).valid


def test_a_protocol_s_certificate_names_it():
    protocol = papers.theorem1("0.5", batch=16, horizon=1000).protocol
    certificate = exactdp.certify(protocol, "pure:0.5")
    certificate.matches(protocol)
    assert "protocol" in certificate.content


def test_calibration_takes_text_and_families():
    found = exactdp.calibrate("skellam", "rdp:2,0.01", sensitivity=1)
    assert found.verified.verified and found.refuted.refuted
    family = choose("skellam", "1", 1).family
    assert exactdp.calibrate(family, "rdp:2,0.01").value == found.value


@pytest.mark.slow
@pytest.mark.contract
def test_vectors_are_calibrated_by_their_norm():
    with exactdp.time_limit(3):
        found = exactdp.calibrate("skellam", "gdp:1", l2="4", times="2")
    assert found.verified.verified and not found.below.verified
    assert 32 <= found.value < 33  # (4/1)^2 uses twice; Skellam noise is almost a Gaussian
    with pytest.raises(exactdp.ParameterError, match="dimension is for vectors"):
        exactdp.calibrate("skellam", "gdp:1", 1, dimension=3)
    with pytest.raises(exactdp.ParameterError, match="sensitivity must not be given with l2"):
        exactdp.calibrate("skellam", "gdp:1", 1, l2=3)


@pytest.mark.contract
def test_no_answer_is_true_by_being_there(slack):
    audited, made = exactdp.audit(LAPLACE, "pure:0.01"), exactdp.certify(LAPLACE, "pure:0.1")
    checks = (exactdp.check(made), exactdp.check({}))
    verdicts = (audited.verdict, exactdp.audit(slack, "pure:1").verdict)
    for found in (audited, made, LAPLACE.pure(), *checks, *verdicts):
        with pytest.raises(TypeError, match=r"not true or false: (ask \.|compare)"):
            bool(found)
        with pytest.raises(TypeError):
            assert not found


@pytest.mark.contract
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: exactdp.mechanism("skellam:varience=1"), "did you mean 'variance'"),
        (lambda: exactdp.audit(LAPLACE, "renyi:2,1"), "did you mean 'rdp'"),
        (lambda: exactdp.audit(LAPLACE, 3), "claim must be .* got a int"),
        (lambda: exactdp.audit(LAPLACE, "pure:1", width=2), "width must be"),
        (lambda: exactdp.mechanism(3), "got a int"),
        (lambda: exactdp.mechanism([]), "at least one"),
        (lambda: exactdp.compose(), "at least one"),
        (lambda: exactdp.compose((LAPLACE, 1, 2)), "3 items"),
        (lambda: exactdp.mechanism(LAPLACE) * 0, "times must be"),
        (lambda: 1.5 * exactdp.mechanism(LAPLACE), "times must be a whole number"),
        (lambda: exactdp.mechanism(LAPLACE) + 3, "got a int"),
        (lambda: exactdp.certify(LAPLACE, "pure:1", dropout=1), "dropout"),
        (lambda: exactdp.calibrate("skelam", "pure:1", 1), "did you mean 'skellam'"),
        (lambda: exactdp.calibrate("skellam", "pure:1", 1, times=0), "times must be"),
        (lambda: exactdp.calibrate(None, "pure:1"), "name must be text, got a NoneType"),
        (lambda: exactdp.calibrate(["skellam"], "pure:1", l2=3), "name must be text, got a list"),
        (lambda: exactdp.calibrate("skellam", "pure:1", 1, find=3), "find must be text"),
        (lambda: exactdp.calibrate("skellam", "gdp:1", l2=3, rounding=3), "rounding must be text"),
        (lambda: exactdp.calibrate("skellam", "pure:1", 1, find="scale"), "one of variance, times"),
        (lambda: exactdp.audit(LAPLACE, "pure:1", width=Fraction(3, 2)), "got 3/2$"),
    ],
)
def test_errors_name_the_argument_and_what_would_do(call, says):
    with pytest.raises(exactdp.ParameterError, match=says):
        call()


@pytest.mark.contract
def test_every_number_may_be_text():
    m, given = exactdp.mechanism(LAPLACE), {"width": "0.001", "cap": "1024"}
    near = {"width": Fraction(1, 1000), "cap": 1024}
    with exactdp.time_limit("20"):
        for told, meant in (
            (m.pure(**given), m.pure(**near)),
            (m.zcdp(**given), m.zcdp(**near)),
            (m.gdp(**given), m.gdp(**near)),
            (m.renyi("2", **given), m.renyi(2, **near)),
            (m.renyi_curve(["2"], **given)[0], m.renyi_curve([2], **near)[0]),
            (m.delta("1/2", work="5", **given), m.delta(Fraction(1, 2), work=5.0, **near)),
            (m.epsilon("1e-6", work="5", **given), m.epsilon(Fraction(1, 10**6), work=5.0, **near)),
        ):
            assert (told.lower, told.upper) == (meant.lower, meant.upper)
        assert len(m.profile(points="3", width="0.01").epsilons) == 3
        assert len(m.tradeoff(alphas=["0.1"], width="0.1").alphas) == 1
    for named in ("width", "cap"):
        with pytest.raises(exactdp.ParameterError, match=named):
            m.epsilon("1e-6", **{named: "wide"})


@pytest.mark.contract
def test_figures_of_arrays_are_those_of_their_items():
    m = exactdp.mechanism("gaussian:sigma=1")
    for figure, at in ((m.epsilon, [1e-6, 1e-5]), (m.delta, [1.5, 0.0]), (m.renyi, [2.0, 3.0])):
        each = [figure(one) for one in at]
        assert figure(np.array(at)).tolist() == figure(at).tolist() == each
        assert figure(np.array([at]), width="0.1").shape == (1, 2)
        assert figure([]).shape == (0,) and figure(np.array(at[0])) == each[0]
    texts = m.epsilon(delta=("1e-5", Fraction(1, 10**6)))
    assert texts.dtype == object and texts[0] == m.epsilon("1e-5")
    assert (m.epsilon([1e-5, 1e-9]) <= 5).tolist() == [True, False]
    with pytest.raises(exactdp.ParameterError, match=r"delta must be .* got 2"):
        m.epsilon([1e-5, 2])
    with pytest.raises(exactdp.ParameterError, match="got a list"):
        m.epsilon([[1e-5], [1e-5, 1e-6]])


@pytest.mark.contract
def test_arrays_keep_to_the_time():
    """Items that were not reached are known by those that were."""
    m, at = 30 * exactdp.mechanism("skellam:variance=1e6,sensitivity=1000"), np.geomspace(1e-9, 1)
    started = time.process_time()
    with exactdp.time_limit(0.1):
        found = m.epsilon(at)
    assert time.process_time() - started < 5
    truth = m.epsilon(at[[3, 30]], width="0.01")
    for k, true in zip((3, 30), truth, strict=True):
        assert found[k].lower <= true.upper and true.lower <= found[k].upper
    assert all(one.lower >= 0 for one in found)


@pytest.mark.contract
def test_the_time_for_a_check_may_be_text():
    content = exactdp.certify(LAPLACE, "pure:0.1").content
    assert exactdp.check(content, seconds="30").valid


@pytest.mark.contract
def test_no_certificate_is_told_from_not_valid(tmp_path, slack):
    with pytest.raises(exactdp.CertificateError):
        exactdp.check(tmp_path / "none")
    with pytest.raises(exactdp.NotCertifiedError):
        exactdp.certify(slack, "pure:1")


@pytest.mark.contract
@pytest.mark.parametrize(
    "result",
    [
        lambda: exactdp.mechanism(LAPLACE),
        lambda: exactdp.audit(LAPLACE, "pure:0.01"),
        lambda: exactdp.certify(LAPLACE, "pure:0.1"),
        lambda: exactdp.calibrate("discrete-laplace", "pure:0.1", 1),
        lambda: exactdp.mechanism(LAPLACE).profile(points=3),
        lambda: exactdp.mechanism(LAPLACE).tradeoff(points=3),
    ],
)
def test_results_are_shown_and_tabulated(result):
    pandas = pytest.importorskip("pandas")
    found = result()
    assert len(repr(found)) < 200 and "object at" not in repr(found)
    rows, frame = found.rows(), found.to_frame()
    assert found._repr_html_().count("<tr>") == len(rows) + 1 == len(frame) + 1
    for name, value in rows[-1].items():
        if isinstance(value, exactdp.Enclosure):
            low, high = (frame[f"{name}_{side}"].iloc[-1] for side in ("lower", "upper"))
            assert value.at_least(Fraction(low)) and value.at_most(Fraction(high))
    assert isinstance(frame, pandas.DataFrame)


@pytest.mark.contract
def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install \"exactdp\[data\]\""):
        exactdp.mechanism(LAPLACE).to_frame()


@pytest.mark.contract
def test_html_is_escaped(tmp_path):
    (tmp_path / "pair.csv").write_text(PAIR.format("<script>"))
    shown = exactdp.audit(f"pmf:file={tmp_path / 'pair.csv'}", "pure:0.01")._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown


@pytest.mark.contract
def test_results_are_values():
    found = exactdp.audit(LAPLACE, "pure:0.1")
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    assert hash(exactdp.mechanism(LAPLACE)) == hash(exactdp.mechanism("discrete-laplace:scale=10"))


@pytest.mark.contract
def test_a_limit_of_time_leaves_an_answer():
    with exactdp.time_limit(0.5):
        found = exactdp.audit("skellam:variance=1000*100000", "approx:100,1e-6")
    assert found.measured.lower >= 0


def test_every_name_is_there_and_importing_costs_nothing():
    assert all(getattr(exactdp, name) is not None for name in exactdp.__all__)
    assert set(exactdp.__all__) == set(exactdp._HOMES) <= set(dir(exactdp))
    assert exactdp.__version__
    with pytest.raises(AttributeError, match="nothing"):
        exactdp.nothing  # noqa: B018
    loaded = "{'flint', 'numpy', 'mpmath'} & {*sys.modules}"
    code = f"import sys, exactdp; sys.exit(' '.join({loaded}) or 0)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow_cases(
    "laplace:epsilon=1,fixed-size=1/10*10-0.02",
    "gaussian:sigma=1,neighbours=add-remove,allocation=1/100-0.02",
)
@pytest.mark.quick_cases(4)
@pytest.mark.contract
@pytest.mark.parametrize("seconds", [0, 0.02])
@pytest.mark.parametrize(
    "text",
    [
        "discrete-laplace:epsilon=0.1",
        "skellam:variance=100*20",
        "skellam:variance=100,l2=4*5",
        "polya-difference:shape=0.9,scale=10*4",
        "laplace:epsilon=1,fixed-size=1/10*10",
        "gaussian:sigma=1,neighbours=add-remove,allocation=1/100",
    ],
)
def test_every_figure_is_answered_in_time(text, seconds):
    with exactdp.time_limit(30):
        m = exactdp.mechanism(text)
        for figure in (m.pure, m.zcdp, m.gdp, lambda: m.renyi(2), lambda: m.epsilon("1e-6")):
            with exactdp.time_limit(seconds):
                found = figure()
            assert found.lower >= 0
        for figure in (lambda: m.delta(1), lambda: m.profile().deltas[0], m.tradeoff):
            with exactdp.time_limit(seconds):
                found = figure()
            assert not isinstance(found, exactdp.Enclosure) or found.upper <= 1
    exactdp.mechanism("discrete-laplace:epsilon=0.1").pure()  # no limit is left behind


@pytest.mark.contract
def test_a_check_that_a_limit_ends_is_undecided() -> None:
    certificate = exactdp.certify("skellam:variance=30*6", "zcdp:1")
    with exactdp.time_limit(0.01):
        found = exactdp.check(certificate)
    assert found.undecided and not found.valid


def test_what_was_done_is_logged_and_not_printed(caplog, capsys):
    with caplog.at_level("DEBUG", logger="exactdp"):
        exactdp.audit("discrete-laplace:epsilon=0.1", "pure:0.1")
    said = [(one.levelname, one.name) for one in caplog.records]
    assert ("INFO", "exactdp.verify.audit") in said
    assert ("DEBUG", "exactdp.accounting.solve") in said
    assert "pure:0.1 VERIFIED" in caplog.text and "largest losses" in caplog.text
    caplog.clear()
    exactdp.audit("discrete-laplace:epsilon=0.1", "pure:0.2")
    assert not [one for one in caplog.records if one.levelname == "DEBUG"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.contract
@pytest.mark.parametrize("seconds", [0, 0.001])
@pytest.mark.parametrize(
    "text",
    [
        "theorem4:epsilon=0.5,batch=1024,horizon=1000000,scaling=10",
        "unary-encoding:epsilon=1,bits=16,shuffled=1000",
        "tree:steps=1024,sigma=10",
        "discrete-laplace:epsilon=0.1",
    ],
)
def test_a_mechanism_is_there_whatever_time_is_left(text, seconds):
    with exactdp.time_limit(seconds):
        found, both = exactdp.mechanism(text), exactdp.compose(text, (text, 2))
    assert found == exactdp.mechanism(text) and both == 3 * found
