"""`exactdp check`: exit codes, JSON, and one line on why a certificate is not valid."""

import json
from importlib import metadata

import pytest
from certificates import resealed

from exactdp import PureDP
from exactdp.cli.main import main
from exactdp.mechanisms import PolyaDifference
from exactdp.protocols import SumProtocol
from exactdp.verify import certify
from exactdp.verify.checker.__main__ import main as alone


@pytest.fixture
def file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1770000000")
    return certified(tmp_path, "pure:0.1", 0, capsys)


def certified(folder, claim, code, capsys, *words):
    path = folder / "certificate.json"
    spec = words or ("discrete-laplace:scale=10",)
    assert main(["audit", *spec, "--claim", claim, "--certificate", str(path)]) == code
    capsys.readouterr()
    return path


@pytest.mark.contract
def test_valid(capsys, file):
    assert main(["check", str(file)]) == 0
    first, *says = capsys.readouterr().out.splitlines()
    assert first == "valid: pure:0.1 VERIFIED: re-established"
    assert says == [
        "  an integer query of sensitivity 1 plus discrete laplace noise (scale 10)",
        "  neighbours: one user's data replaced by other data; both directions",
        "  VERIFIED: (0.1, 0)-differential privacy",
        "  the least epsilon for which that holds lies in [0, 0.1]",
        f"  made by exactdp {metadata.version('exactdp')}, 2026-02-02T02:40:00Z; not checked",
    ]


@pytest.mark.contract
def test_json(capsys, file):
    assert main(["check", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["valid"] is True and found["verdict"] == "VERIFIED"
    assert set(found["measured"]) == {"lower", "upper"}
    assert found["digest"] == json.loads(file.read_text())["digest"]


def _of_less_noise(file):
    return json.dumps(
        resealed(json.loads(file.read_text().replace('"scale": "10"', '"scale": "9"')))
    )


@pytest.mark.contract
def test_not_valid(capsys, file):
    file.write_text(_of_less_noise(file))
    assert main(["check", str(file)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("not valid: pure:0.1 VERIFIED: ") and "(scale 9)" in out


@pytest.mark.contract
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--expect", "discrete-laplace:epsilon=0.1,sensitivity=1"], 0),
        (["--expect", "discrete-laplace:scale=10", "--claim", "pure:1/10"], 0),
        (["--expect", "discrete-laplace:scale=10*2"], 1),
        (["--expect", "discrete-laplace:scale=10,modulus=64"], 1),
        (["--expect", "discrete-laplace:scale=10", "--expect", "skellam:variance=9"], 1),
        (["--claim", "pure:0.2"], 0),
        (["--claim", "pure:0.09"], 1),
        (["--claim", "approx:0.1,0"], 0),
        (["--claim", "approx:0.1,1e-9"], 0),
        (["--claim", "rdp:2,0.01"], 0),
        (["--claim", "zcdp:0.005"], 0),
        (["--claim", "zcdp:0.0049"], 1),
        (["--claim", "gdp:0.1"], 1),
        (["--at-most", "pure:0.1"], 0),
        (["--at-most", "pure:0.099"], 1),
        (["--claim", "pure:0.2", "--at-most", "pure:0.099"], 1),
        (["--verdict", "VERIFIED"], 0),
        (["--verdict", "REFUTED"], 1),
        (["--claim", "pure:0.1", "--verdict", "REFUTED"], 1),
        (["--neighbours", "replace"], 0),
        (["--neighbours", "add-remove"], 1),
        (["--neighbours", "remove"], 2),
        (["--verdict", "verified"], 2),
        (["--at-most", "pure:0.1", "--verdict", "REFUTED"], 2),
        (["--at-most", "pure"], 2),
        (["--claim", "pure"], 2),
        (["--expect", "geometric:scale=10"], 2),
    ],
)
@pytest.mark.parametrize("module", [main, alone], ids=["exactdp", "the checker alone"])
def test_of_what_it_is(capsys, file, options, code, module):
    _ends(capsys, file, options, code, module)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--expect", "discrete-laplace:scale=10", "--verdict", "REFUTED"], 0),
        (["--claim", "pure:0.05"], 1),
        (["--claim", "pure:1"], 1),
        (["--at-most", "pure:1"], 1),
        (["--verdict", "VERIFIED"], 1),
        (["--claim", "pure:0.05", "--verdict", "VERIFIED"], 1),
        (["--claim", "pure:0.05", "--verdict", "REFUTED"], 0),
        (["--claim", "approx:0.05,0", "--verdict", "REFUTED"], 0),
        (["--claim", "pure:0.01", "--verdict", "REFUTED"], 0),
        (["--claim", "gdp:0.01", "--verdict", "REFUTED"], 1),
        (["--claim", "pure:0.06", "--verdict", "REFUTED"], 1),
        (["--claim", "approx:0.05,1e-9", "--verdict", "REFUTED"], 1),
    ],
)
@pytest.mark.parametrize("module", [main, alone], ids=["exactdp", "the checker alone"])
def test_what_is_refuted_is_not_what_was_claimed(capsys, tmp_path, options, code, module):
    _ends(capsys, certified(tmp_path, "pure:0.05", 1, capsys), options, code, module)


def _ends(capsys, file, options, code, module):
    words = ["check", str(file), *options]
    try:
        found = module(words if module is main else words[1:])
    except SystemExit as error:  # argparse's way
        found = error.code
    assert found == code
    out, err = capsys.readouterr()
    assert ("not valid" in out) == (code == 1) and bool(err) == (code == 2)


@pytest.mark.contract
def test_several_files(capsys, file, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(_of_less_noise(file))
    assert main(["check", str(file), str(other)]) == 1
    out = capsys.readouterr().out
    assert f"{file}: valid" in out and f"{other}: not valid" in out
    assert alone([str(file), str(other), "--json"]) == 1
    states = [each["state"] for each in json.loads(capsys.readouterr().out)]
    assert states == ["valid", "not valid"]


@pytest.mark.contract
@pytest.mark.parametrize("content", ["", "{}", "\x00"])
def test_not_a_certificate(capsys, file, content):
    file.write_text(content)
    assert main(["check", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.contract
def test_no_file(capsys, tmp_path):
    assert main(["check", str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err


@pytest.mark.contract
def test_out_of_time_exits_3_and_says_so(capsys, file):
    assert main(["check", str(file), "--time", "1e-9"]) == 3
    assert "undecided" in capsys.readouterr().out
    assert main(["check", str(file), "--time", "60"]) == 0


def test_the_protocol_is_named_and_none_of_another_modulus_is_valid(capsys, tmp_path):
    path = tmp_path / "a.json"
    made = certify(SumProtocol(4, 2, 10, 19, PolyaDifference("1/4", 2)), PureDP(1))
    made.write(path)
    assert main(["check", str(path)]) == 0
    told = capsys.readouterr().out
    assert "valid: pure:1 VERIFIED" in told and "reduced mod 19" in told
    assert "4 users, each with a share of the noise, polya difference noise" in told
    assert "(shape 0.25, scale 2)" in told
    assert main(["check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocol"]["modulus"] == "19"
    content = made.content
    content["protocol"]["modulus"] = "32"
    path.write_text(json.dumps(resealed(content)))
    assert main(["check", str(path)]) == 1 and "modulus" in capsys.readouterr().out


@pytest.mark.contract
def test_a_certificate_needs_a_claim(capsys, tmp_path):
    path = tmp_path / "none.json"
    assert main(["audit", "skellam:variance=9", "--certificate", str(path)]) == 2
    assert "--claim" in capsys.readouterr().err and not path.exists()


@pytest.mark.contract
def test_no_certificate_where_nothing_can_be_written(capsys, tmp_path):
    where = str(tmp_path / "no" / "folder.json")
    spec = "discrete-laplace:scale=10"
    assert main(["audit", spec, "--claim", "pure:1", "--certificate", where]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.contract
def test_no_certificate_of_what_is_undecided(capsys, tmp_path):
    pair, path = tmp_path / "pair.csv", tmp_path / "none.json"
    pair.write_text("outcome,p,q\na,0.5,0.4\nb,0.5,0.6\n")
    spec = f"pmf:file={pair},slack=0.01"
    assert main(["audit", spec, "--claim", "pure:1", "--certificate", str(path), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["certificate"] is None and not path.exists()
