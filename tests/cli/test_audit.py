"""`exactdp audit`: JSON, exit codes, tables; always one line on stderr where the input is bad."""

import json
import subprocess
import sys

import pytest
from commands import said

from exactdp.cli.main import main

LAPLACE = "discrete-laplace:epsilon=0.1,sensitivity=1"


def audit(capsys, *arguments):
    return said(capsys, "audit", *arguments)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("spec", "claim", "code", "verdict"),
    [
        (LAPLACE, "pure:0.1", 0, "VERIFIED"),
        (LAPLACE, "pure:0.0999999999", 1, "REFUTED"),
        ("skellam:variance=100", "pure:10", 1, "REFUTED"),
        ("skellam:variance=100", "rdp:2,0.0101", 0, "VERIFIED"),
        ("discrete-gaussian:sigma2=100", "zcdp:0.0049", 1, "REFUTED"),
        ("discrete-gaussian:sigma2=100", "gdp:0.1001", 0, "VERIFIED"),
        ("randomized-response:epsilon=1", "approx:1,0", 0, "VERIFIED"),
        ("published:epsilon=0.1,batch=1024", "pure:0.1", 1, "REFUTED"),
        ("theorem1:epsilon=0.5,batch=1024,horizon=1000000", "pure:0.5", 0, "VERIFIED"),
    ],
)
def test_verdict_and_exit_code(capsys, spec, claim, code, verdict):
    found, out = audit(capsys, spec, "--claim", claim, "--json")
    shown = json.loads(out)
    assert (found, shown["verdict"], shown["claim"]) == (code, verdict, claim)
    assert {"mechanism", "claim", "verdict", "measured", "witness"} <= shown.keys()
    assert shown["mechanism"]["spec"] == spec
    assert set(shown["measured"]) == {"lower", "upper"}
    assert (shown["witness"] is not None) == (verdict == "REFUTED")


@pytest.mark.contract
def test_without_a_claim_it_says_what_holds(capsys):
    code, out = audit(capsys, "randomized-response:epsilon=1", "--json")
    assert code == 0
    results = json.loads(out)["results"]
    assert [r["delta"] for r in results if r["quantity"] == "epsilon"] == ["1e-6", "1e-9"]
    assert {r["quantity"] for r in results} == {"pure", "renyi", "epsilon", "zcdp", "gdp"}
    assert len([r for r in results if r["quantity"] == "renyi"]) >= 5


@pytest.mark.contract
@pytest.mark.parametrize("arguments", [[LAPLACE], [LAPLACE, "--claim", "pure:0.1"]])
def test_tables_fit_80_columns(capsys, arguments):
    _, out = audit(capsys, *arguments)
    assert max(map(len, out.splitlines())) <= 80
    assert "discrete-laplace" in out


@pytest.mark.contract
def test_a_table_shows_the_witness(capsys):
    code, out = audit(capsys, LAPLACE, "--claim", "pure:0.05")
    assert code == 1
    assert "REFUTED" in out
    assert "witness" in out


@pytest.mark.contract
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "SPEC"),
        (["nonsense"], "no known mechanism"),
        ([LAPLACE, "extra"], "extra"),
        ([LAPLACE, "--claim"], "--claim"),
        ([LAPLACE, "--claim", "pure"], "claim"),
        ([LAPLACE, "--claim", "pure:-1"], "epsilon"),
        ([LAPLACE, "--claim", "pure:1,2"], "claim"),
        ([LAPLACE, "--claim", "approx:1,2"], "delta"),
        ([LAPLACE, "--claim", "rdp:1,1"], "order"),
        ([LAPLACE, "--claim", "zcdp:1e999999999"], "rho"),
        ([LAPLACE, "--width", "-1"], "width"),
        ([LAPLACE, "--unknown"], "--unknown"),
        (["pmf:file=/nowhere.csv"], "No such file"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys, arguments, named):
    assert main(["audit", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert named in captured.err.lower() or named in captured.err


@pytest.mark.contract
def test_a_verdict_outlives_its_certificate(capsys, tmp_path):
    file = tmp_path / "c.json"
    open_one = ("polya-difference:shape=1/2,scale=20", "--claim", "gdp:1")
    code, out = audit(capsys, *open_one, "--certificate", str(file), "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["certificate"]) == (3, "VERIFIED", None)
    assert "no certificate" in found["note"] and not file.exists()
    shuffled = "unary-encoding:epsilon=1,bits=2,shuffled=1000"
    nameless = (shuffled, "--claim", "approx:1,1e-6")
    assert main(["audit", *nameless, "--certificate", str(file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "certificates do not know" in captured.err


@pytest.mark.contract
@pytest.mark.slow
def test_the_process_itself():
    def process(*arguments, **environment):
        command = [sys.executable, "-m", "exactdp.cli", *arguments]
        return subprocess.run(command, capture_output=True, check=False, env=environment or None)

    refuted = process("audit", "randomized-response:epsilon=1", "--claim", "pure:0.9")
    assert (refuted.returncode, refuted.stderr) == (1, b"")
    bad = process("audit", "--claim", "pure:1")
    assert (bad.returncode, bad.stdout, bad.stderr.count(b"\n")) == (2, b"", 1)
    ascii_only = process("audit", "randomized-response:epsilon=1", PYTHONIOENCODING="ascii")
    assert ascii_only.returncode == 0
    assert ascii_only.stderr == b""


def test_an_interrupt_ends_it_quietly():
    code = (
        "import os, signal, exactdp.cli.main as command;"
        "command.main = lambda: os.kill(os.getpid(), signal.SIGINT); command.run()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"")
