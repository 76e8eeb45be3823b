"""A file that is far too large is refused with the limit, and is not read whole."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from exactdp.cli.main import main

pytestmark = pytest.mark.contract

ONE = "skellam:variance=100"
CALLS = [
    f"ledger charge a.db {ONE} --user ada --key k --users-from big.txt",
    f"ledger charge a.db {ONE} --user ada --key k --users-from -",
    f"ledger charge a.db {ONE} --user ada --key k --certificate big.json",
    "ledger init b.db --limit approx:1,1e-6 --plan @big.txt",
    "check big.json",
    "check big.v",
    "check big.jsonl",
    "audit big.toml --claim pure:1",
    "audit big.json --claim pure:1",
    "audit @big.txt --claim pure:1",
    "audit pmf:file=big.csv --claim pure:1",
    "audit local:file=big.csv --claim pure:1",
    "audit matrix:file=big.npy,sigma=1 --claim zcdp:1",
    "audit blt:file=big.json,sigma=1 --claim zcdp:1",
    "compose --from big.json --delta 1e-6",
    "check-claims big.toml",
    "bandit study big.toml --out out",
    "bandit run --algorithm se --epsilon 1 --horizon 100 --instance big.json",
    "bandit run --algorithm se --epsilon 1 --horizon 100 --instance big.csv",
]


@pytest.fixture
def narrow() -> Iterator[None]:
    """Little more memory than there is in use."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 3 * 10**9, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.quick_cases(8)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited on Linux")
@pytest.mark.parametrize("call", CALLS)
def test_a_file_of_ten_gigabytes_is_refused(call, narrow, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ledger", "init", "a.db", "--limit", "zcdp:1"]) == 0
    for end in ("txt", "json", "jsonl", "toml", "csv", "npy", "v"):
        with Path(f"big.{end}").open("wb") as file:
            file.truncate(10**10)
    capsys.readouterr()
    with Path("big.txt").open() as given:
        monkeypatch.setattr("sys.stdin", given)
        assert main(call.split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "memory" not in said
    assert "larger than" in said or "line 1" in said
