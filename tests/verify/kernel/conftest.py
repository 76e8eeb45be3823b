"""What tests of theorems share: a file for a pair, a Coq that believes, the native checker."""

import subprocess

import pytest
from kernel_cases import LISTED, PAIR

from exactdp import time_limit
from exactdp.verify.kernel import extracted
from exactdp.verify.kernel import theorem as kernel_theorem
from exactdp.verify.kernel.coq import Run


@pytest.fixture
def pair(tmp_path):
    file = tmp_path / "pair.csv"
    file.write_text(PAIR)
    return file


@pytest.fixture
def believed(monkeypatch, tmp_path):
    """Coq accepts whatever reaches it, until it is told to answer otherwise."""

    def answer(ran):
        monkeypatch.setattr(kernel_theorem, "run", lambda *_: ran)

    monkeypatch.setattr(kernel_theorem, "compiled", lambda needed: tmp_path)
    answer(Run(True, LISTED, ""))
    return answer


@pytest.fixture(scope="session")
def native():
    """Whether the native checker ends with 0, and its word."""
    with time_limit(1800):
        program = extracted.build()

    def ask(text, file, seconds=60):
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        ran = subprocess.run([program, file, str(seconds)], capture_output=True, text=True)
        word, _, shows = ran.stdout.partition("\n")
        assert shows.startswith("Theorem verdict :\n") is (word == "valid")
        assert shows.partition("\nlist_")[0].encode() in file.read_bytes()
        return ran.returncode, word

    return ask
