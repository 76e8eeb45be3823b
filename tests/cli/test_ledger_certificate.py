"""`ledger charge --certificate`: of what is charged, VERIFIED, and accepted by the checker."""

import json
from hashlib import sha256

import pytest

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"


@pytest.fixture
def made(tmp_path, capsys):
    """Writes a certificate of these uses and claim: its file."""

    def make(claim: str, *specs: str) -> str:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        assert main(["audit", *specs, "--claim", claim, "--certificate", str(path)]) in (0, 1)
        capsys.readouterr()
        return str(path)

    return make


def test_a_certificate_of_what_is_charged_is_recorded(made, tmp_path, capsys) -> None:
    url, path = str(tmp_path / "a.db"), made("zcdp:0.1", f"{ONE}*2")
    assert main(["ledger", "init", url, "--limit", "zcdp:1"]) == 0
    charge = ["ledger", "charge", url, "--user", "ada", "--key"]
    assert main([*charge, "1", "discrete-gaussian:sigma=10*2", "--certificate", path]) == 0
    others = {
        "REFUTED": (made("zcdp:0.001", f"{ONE}*2"), [f"{ONE}*2"]),
        "other releases": (made("zcdp:0.1", ONE), [f"{ONE}*2"]),
        "of other releases": (made("zcdp:0.1", f"{ONE}*2"), ["discrete-gaussian:sigma2=101*2"]),
        "it is of other releases": (
            made("zcdp:0.1", f"{ONE}*2"),
            [f"{ONE}*2", "skellam:variance=9"],
        ),
    }
    changed = json.loads((tmp_path / path).read_text())
    changed["measured"]["upper"] = "0.0001"
    changed["measured"]["lower"] = "0.0001"
    changed.pop("digest"), changed.pop("made"), changed.update(version=1)
    (tmp_path / "changed.json").write_text(json.dumps(changed))
    others["checker does not accept"] = (str(tmp_path / "changed.json"), [f"{ONE}*2"])
    capsys.readouterr()
    for reason, (file, specs) in others.items():
        assert main([*charge, "2", *specs, "--certificate", file]) == 2
        error = capsys.readouterr().err
        assert error.startswith("exactdp: --certificate: ") and error.count("\n") == 1
        assert reason in error
    assert main(["ledger", "export", url, "--format", "json"]) == 0
    [entry] = json.loads(capsys.readouterr().out)
    assert entry["certificate"] == sha256((tmp_path / path).read_bytes()).hexdigest()
