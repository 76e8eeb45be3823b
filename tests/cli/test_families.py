"""What is deployed beside noise on a number: bad input in one line, and a ledger of all of it."""

import json

import pytest
from commands import refused

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

MATRICES = {
    "nan.csv": "1,0\nnan,1\n",
    "upper.csv": "1,1\n0,1\n",
    "wide.csv": ",".join(["0"] * 3000) + "\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in MATRICES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "table.csv").write_text("value,u,v\na,3/5,2/5\nb,2/5,3/5\n")
    return tmp_path


@pytest.mark.parametrize(("spec", "said"), [
    ("discrete-laplace:scale=1,sensitivity=9,threshold=5", "threshold must be at least"),
    ("discrete-laplace:scale=1,threshold=5,keys=0", "keys must be an exact number at least 1"),
    ("randomized-response:epsilon=1,shuffled=1", "shuffled must be an exact number at least 2"),
    ("matrix:file=nan.csv,sigma=1", "nan.csv, line 2: entry must be an exact number"),
    ("matrix:file=upper.csv,sigma=1", "upper.csv: the matrix must be lower triangular"),
    ("matrix:file=wide.csv,sigma=1", "wide.csv"),
    ("sqrt-toeplitz:steps=1e9,sigma=1", "steps must be an exact number at least 1 and at most"),
    ("tree:steps=8,sigma=1,participations=9", "steps must be at least 9"),
    ("tree:steps=8,sigma=1,participations=2,separation=8", "steps must be at least 9"),
    ("tree:steps=8,sigma=1,separation=0", "separation must be"),
])  # fmt: skip
def test_bad_input_is_one_line_that_says_what_is_allowed(folder, capsys, spec, said):
    for command in (("compose", spec, "--delta", "1e-6"), ("sample", spec, "--size", "1")):
        refused(capsys, [*command], said)


CHARGED = [
    "exponential:epsilon=0.1", "noisy-max:scale=20,candidates=10", "permute-and-flip:epsilon=0.1",
    "sparse-vector:epsilon=0.1,answers=2", "sparse-vector:epsilon=0.1,answers=2,variant=2",
    "randomized-response:epsilon=0.1,categories=10", "unary-encoding:epsilon=0.1",
    "rappor:f=19/20", "rappor:f=9/10,p=11/20,q=9/20,reports=2", "count-mean-sketch:epsilon=0.1",
    "subset-selection:epsilon=0.1,categories=10", "hadamard-response:epsilon=0.1,categories=10",
    "one-bit-mean:epsilon=0.1", "guarantee:claim=zcdp:0.001",
    "local:file=table.csv",
]  # fmt: skip
GAUSSIAN = [
    "tree:steps=16,sigma=100", "tree:steps=16,sigma=100,noise=skellam",
    "sqrt-toeplitz:steps=20,sigma=100", "gaussian:rho=1/1000",
]  # fmt: skip
WITHOUT_RHO = [
    "discrete-laplace:scale=10,threshold=500,keys=2", "partition-selection:epsilon=0.1,delta=1e-9",
    "discrete-laplace:scale=10,threshold=500,keys=2,names=yes", "guarantee:rdp:2,0.001",
]  # fmt: skip


BOOK = "spent.db"


def charge(capsys, folder, spec):
    if not (folder / BOOK).exists():
        assert main(["ledger", "init", BOOK, "--limit", "zcdp:1"]) == 0
    code = main(["ledger", "charge", BOOK, spec, "--user", "ada", "--key", spec])
    return code, capsys.readouterr().err


@pytest.mark.slow
def test_a_ledger_takes_every_family(folder, capsys):
    for spec in [*CHARGED, *GAUSSIAN]:
        assert charge(capsys, folder, spec) == (0, ""), spec
    assert main(["ledger", "show", BOOK, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["entries"]) == len(CHARGED) + len(GAUSSIAN)
    assert main(["ledger", "check", BOOK]) == 0


@pytest.mark.parametrize("spec", [*WITHOUT_RHO, "sparse-vector:epsilon=0.1,variant=3"])
def test_what_has_no_rho_is_refused_and_says_so(folder, capsys, spec):
    code, said = charge(capsys, folder, spec)
    assert code == 1 and said.count("\n") == 1
