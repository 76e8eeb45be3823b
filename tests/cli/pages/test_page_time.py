"""A page that does not fit into the time allowed is not written, and says so."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "call", ["compose", "protocol", "protocol federated"], ids=lambda call: call.split()[-1]
)
def test_a_page_ends_in_time(call, tmp_path):
    words = [*call.split(), "--markdown", "page.md", "--figure", "page.svg", "--time", "1"]
    code = f"import sys; sys.argv = ['exactdp', *{words}]; from exactdp.cli.main import run; run()"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.count("\n") == 1 and "--time" in ended.stderr
    assert [*tmp_path.iterdir()] == []
