"""`exactdp check`: exit codes, JSON, and one line on why a certificate is not valid."""

import json

import pytest

from exactdp.cli.check import write_certificate
from exactdp.cli.main import main
from exactdp.exact import ParameterError
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
from exactdp.mechanisms.pair import FinitePair
from exactdp.verify import PureDP, audit


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "certificate.json"
    write_certificate(audit(AdditiveNoise(DiscreteLaplace(10), 1), PureDP("0.1")), path)
    return path


def test_valid(capsys, file):
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "valid: pure:0.1 VERIFIED: re-established\n"


def test_json(capsys, file):
    assert main(["check", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["valid"] is True and found["verdict"] == "VERIFIED"
    assert set(found["measured"]) == {"lower", "upper"}


def test_not_valid(capsys, file):
    file.write_text(file.read_text().replace('"scale": "10"', '"scale": "9"'))
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("not valid: pure:0.1 VERIFIED: ") and out.count("\n") == 1


@pytest.mark.parametrize("content", ["", "{}", "\x00"])
def test_not_a_certificate(capsys, file, content):
    file.write_text(content)
    assert main(["check", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_no_file(capsys, tmp_path):
    assert main(["check", str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_undecided_audits_write_nothing(tmp_path):
    slack = FinitePair(("a", "b"), ("0.5", "0.5"), ("0.4", "0.6"), "0.01")
    with pytest.raises(ParameterError, match="UNDECIDED"):
        write_certificate(audit(slack, PureDP(1)), tmp_path / "none")
    assert not list(tmp_path.iterdir())
