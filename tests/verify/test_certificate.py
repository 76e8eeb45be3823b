"""Certificate files: written whole, read back the same, refused where anything is odd."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from certificates import check, edited

from exactdp import (
    ApproxDP,
    Audit,
    Certificate,
    CertificateError,
    Enclosure,
    NotCertifiedError,
    ParameterError,
    PureDP,
    Verdict,
    audit,
    certify,
)
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.laws.finite import FiniteLaw
from exactdp.mechanisms.laws.polya import Polya
from exactdp.verify import audit as audited
from exactdp.verify.certificate import certificate_of

LAPLACE = "discrete-laplace:scale=3,sensitivity=2"


@pytest.fixture(scope="module")
def certificate():
    return certify(LAPLACE, "approx:1,1e-4")


@pytest.mark.contract
def test_reads_what_it_wrote(certificate, tmp_path):
    path = tmp_path / "a.json"
    certificate.write(path)
    assert Certificate.read(path) == certificate
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    assert json.loads(path.read_text())["format"] == "exactdp certificate"


@pytest.mark.contract
def test_nothing_is_left_of_a_failed_write(certificate, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        certificate.write(tmp_path / "folder")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


@pytest.mark.contract
def test_numbers_are_exact_text(certificate):
    content = certificate.content
    assert content["uses"] == [
        {
            "mechanism": {
                "kind": "additive",
                "law": {"name": "discrete-laplace", "scale": "3"},
                "sensitivity": "2",
                "modulus": None,
            },
            "times": "1",
        }
    ]
    assert content["claim"] == {"kind": "approx", "epsilon": "1", "delta": "0.0001"}


@pytest.mark.contract
def test_the_end_that_is_needed_is_wider_but_decides(certificate):
    high = Fraction(audit(LAPLACE, "approx:1,1e-4").measured.upper)
    assert certificate.measured.lower == 0
    assert high <= certificate.measured.upper <= high * (1 + Fraction(1, 10**8)) < 1
    refuted = certify(LAPLACE, "approx:1/2,1e-4").measured
    assert refuted.upper == Decimal("Infinity")
    assert high * (1 - Fraction(1, 10**8)) <= refuted.lower <= high


@pytest.mark.contract
def test_an_exact_bound_that_no_decimal_reaches_is_kept():
    third = certify(LAPLACE, "pure:2/3")
    assert third.verdict is Verdict.VERIFIED
    assert third.content["measured"]["upper"] == "2/3"


@pytest.mark.contract
def test_undecided_audits_have_none(tmp_path):
    (tmp_path / "pair.csv").write_text("outcome,p,q\na,0.5,0.4\nb,0.5,0.6\n")
    slack = f"pmf:file={tmp_path / 'pair.csv'},slack=0.01"
    assert audit(slack, "pure:1").verdict is Verdict.UNDECIDED
    with pytest.raises(NotCertifiedError, match="UNDECIDED"):
        certify(slack, "pure:1")


def test_laws_without_a_checker_have_none():
    with pytest.raises(NotCertifiedError, match="Polya"):
        share = AdditiveNoise(Polya(2, 3), 1)
        certificate_of(Audit(share, PureDP(1), Verdict.REFUTED, Enclosure.infinite()))


@pytest.mark.parametrize(("delta", "verdict"), [("0.9", "VERIFIED"), ("0.1", "REFUTED")])
def test_noise_of_any_shape_has_one(delta, verdict):
    noise = AdditiveNoise(FiniteLaw({0: "0.5", 1: "0.2", 3: "0.3"}), 2, 7)
    found = certificate_of(audited(noise, ApproxDP(1, delta)))
    assert found.verdict.name == verdict and check(found.content).valid


@pytest.mark.contract
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 4),
        (("version",), "1"),
        (("version",), True),
        (("format",), "certificate"),
        (("more",), "1"),
        (("verdict",), "UNDECIDED"),
        (("verdict",), None),
        (("uses",), []),
        (("uses", 0, "times"), 1),
        (("uses", 0, "times"), "0"),
        (("uses", 0, "times"), "1.5"),
        (("uses", 0, "mechanism", "kind"), "none"),
        (("uses", 0, "mechanism", "law", "name"), ["skellam"]),
        (("uses", 0, "mechanism", "law", "scale"), 3),
        (("uses", 0, "mechanism", "law", "scale"), "nan"),
        (("uses", 0, "mechanism", "law", "scale"), "-3"),
        (("uses", 0, "mechanism", "law", "scale"), "1/0"),
        (("uses", 0, "mechanism", "law", "scale"), "1e99999"),
        (("uses", 0, "mechanism", "law", "shape"), "3"),
        (("uses", 0, "mechanism", "sensitivity"), None),
        (("uses", 0, "mechanism", "modulus"), "0"),
        (("claim", "delta"), "2"),
        (("claim", "delta"), "٢"),
        (("claim", "kind"), {}),
        (("claim", "order"), "2"),
        (("measured", "lower"), "-1"),
        (("measured", "lower"), "inf"),
        (("measured", "upper"), 0.5),
        (("measured",), ["0", "1"]),
        (("hints",), {"trust": "1"}),
    ],
)
def test_anything_odd_is_refused(certificate, tmp_path, path, value):
    content = edited(certificate.content, path, value)
    assert check(content).reason.startswith("not a certificate")
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(content))
    with pytest.raises(CertificateError):
        Certificate.read(file)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (
            ("hints",),
            {"trust": "1"},
            "hints are step, above, along, below, direction, order, cover, listed, not 'trust'",
        ),
        (("hints",), [], "hints must be an object"),
        (("measured",), {"lower": "0", "uper": "1"}, "upper; missing: 'upper'; not known: 'uper'"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_wrong(certificate, path, value, says):
    assert says in check(edited(certificate.content, path, value)).reason


@pytest.mark.contract
@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"a": 1, "a": 1}', "[" * 100_000, "é\xff"]
)
def test_other_files_are_refused(tmp_path, text):
    file = tmp_path / "other"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(CertificateError):
        Certificate.read(file)


@pytest.mark.contract
def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(CertificateError, match="No such file"):
        Certificate.read(tmp_path / "none")


@pytest.mark.contract
@pytest.mark.parametrize("at", ["x", "2026-01-01T00:00:00Z", 0, "", 1.5, [1]])
def test_a_time_that_is_none_is_refused(at):
    with pytest.raises(ParameterError, match="at must be a datetime"):
        certify("discrete-laplace:epsilon=0.1", "pure:0.1", at=at)
