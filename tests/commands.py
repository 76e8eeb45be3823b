"""Commands run in this process: what they print, and how they refuse."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from exactdp.cli.main import main


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and what is printed; nothing is on stderr."""
    code = main(list(words))
    out, err = capsys.readouterr()
    assert err == ""
    return code, out


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """The JSON of a command that ends with this code, and says nothing on stderr."""
    found, out = said(capsys, *words, "--json")
    assert found == code
    return json.loads(out)


def refused(capsys: pytest.CaptureFixture[str], words: Iterable[str], named: str) -> None:
    """Bad input: exit code 2, and one line on stderr that names what is wrong; nothing else."""
    assert main(list(words)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert named in err
