"""The process `exactdp` as a shell sees it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_RESPONSE = ["audit", "randomized-response:epsilon=1", "--claim", "pure:1"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (_RESPONSE, 141),
        ([*_RESPONSE, "--json"], 141),
        (["sample", "discrete-laplace:scale=10", "--size", "1000000"], 141),
    ],
)
def test_a_reader_that_is_gone_is_no_verdict(arguments: list[str], code: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as output:
        ended = subprocess.run(
            [sys.executable, "-m", "exactdp.cli", *arguments],
            stdout=output,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (code, b"")
