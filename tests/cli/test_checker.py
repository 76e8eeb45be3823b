"""The checker in one file, written by what is installed."""

import subprocess
import sys

from exactdp.cli.main import main
from exactdp.verify.checker.pack import pack


def test_what_is_written_checks_a_certificate(tmp_path, capsys):
    path, certificate = tmp_path / "check.pyz", tmp_path / "c.json"
    assert main(["checker", "--out", str(path)]) == 0
    assert str(path) in capsys.readouterr().out
    pack(tmp_path / "again.pyz")
    assert path.read_bytes() == (tmp_path / "again.pyz").read_bytes()
    audit = ["audit", "discrete-laplace:epsilon=1", "--claim", "pure:1"]
    assert main([*audit, "--certificate", str(certificate)]) == 0
    done = subprocess.run([sys.executable, "-I", "-S", str(path), str(certificate)], timeout=120)
    assert done.returncode == 0


def test_a_target_that_cannot_be_written(tmp_path, capsys):
    assert main(["checker", "--out", str(tmp_path / "no" / "check.pyz")]) == 2
    assert "--out must be a file in a folder that exists" in capsys.readouterr().err
    assert main(["checker", "--out", str(tmp_path)]) == 2
