"""The process `exactdp` as a shell sees it."""

import os
import subprocess
import sys
from importlib import metadata

import pytest
import typer
from commands import refused

from exactdp.cli.main import _VERBS, _loaded, main

_RESPONSE = ["audit", "randomized-response:epsilon=1", "--claim", "pure:1"]


@pytest.mark.contract
@pytest.mark.slow_cases("arguments1-141")
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


@pytest.mark.contract
@pytest.mark.slow_cases(
    "> /dev/full-arguments0", "> /dev/full-arguments1", "> /dev/full-arguments2"
)
@pytest.mark.parametrize(
    "arguments",
    [
        _RESPONSE,
        [*_RESPONSE, "--json"],
        ["sample", "skellam:variance=4", "--size", "9"],
        ["--help"],
    ],
)
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"])
def test_output_that_cannot_be_written_is_no_verdict(arguments: list[str], where: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {where}', "sh", sys.executable, "-m", "exactdp.cli", *arguments],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert ended.returncode == 74
    assert ended.stderr.startswith(b"exactdp: cannot write: ") and ended.stderr.count(b"\n") == 1


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.parametrize("where", ["2> /dev/full", "2>&-"])
def test_a_message_that_cannot_be_written_changes_no_exit_code(where: str) -> None:
    command, claim = [sys.executable, "-m", "exactdp.cli", "audit"], ["--claim", "pure:1"]
    for spec, code in (("nothing", 2), ("randomized-response:epsilon=1", 0)):
        ended = subprocess.run(
            ["sh", "-c", f'exec "$@" > /dev/null {where}', "sh", *command, spec, *claim],
            check=False,
        )
        assert ended.returncode == code


@pytest.mark.contract
def test_a_claim_that_looks_swapped_is_warned_of_in_one_line() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "exactdp.cli", *_RESPONSE[:2], "--claim", "approx:1e-6,1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0 and ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("exactdp: warning: approx:1e-6,1 says epsilon = 1e-6 and delta")


@pytest.mark.contract
def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"exactdp {metadata.version('exactdp')}\n"


@pytest.mark.contract
@pytest.mark.slow
def test_shells_complete_commands():
    asked = {"_EXACTDP_COMPLETE": "complete_bash", "COMP_WORDS": "exactdp ca", "COMP_CWORD": "1"}
    code = "import sys; sys.argv[0] = 'exactdp'; from exactdp.cli.main import run; run()"
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, env=os.environ | asked, capture_output=True, check=False)
    assert told.stdout.split() == [b"calibrate"]


@pytest.mark.parametrize("verb", _VERBS)
def test_commands_are_listed_with_their_own_words(verb):
    command = _loaded(verb)
    told = command.info.help if isinstance(command, typer.Typer) else command.__doc__
    assert " ".join(told.partition("\n\n")[0].split()) == _VERBS[verb]


@pytest.mark.contract
def test_other_options_may_stand_before_a_command(capsys):
    assert main(["--version", "audit", *_RESPONSE[1:], "--json"]) == 0
    assert '"verdict": "VERIFIED"' in capsys.readouterr().out


def test_old_spellings_are_read_with_a_note_that_names_the_new_ones(capsys):
    spec = "theorem1:epsilon=1,batch=20,horizon=1000"
    assert main(["protocol", spec, "--play", "--plain", "--dropout=1", "--seed", "1"]) == 0
    new = capsys.readouterr()
    assert main(["round", spec, "--plain", "--vanish=1", "--seed", "1"]) == 0
    old = capsys.readouterr()
    told = "exactdp: `round SPEC` is now `protocol SPEC --play`; `--vanish` is now `--dropout`\n"
    assert (new.err, old.err) == ("", told)
    assert old.out.splitlines()[:9] == new.out.splitlines()[:9]  # then how long each stage took
    assert main(["papers", "D-lem4", "--json"]) == 0
    papers = capsys.readouterr()
    assert main(["claims", "D-lem4", "--json"]) == 0
    assert papers == capsys.readouterr()
    refused(capsys, ["protocol", spec, "--seed", "1"], "--seed needs --play")
    refused(capsys, ["protocol", spec, "--play", "--rounds", "3"], "--rounds is not for a round")
    refused(capsys, ["protocol", spec, "--play", "--clients", "3"], "--clients is not for a sum")


def test_no_spec_is_broken_off_a_terminal(capsys):
    spec = "federated:clip=1,scale=64,clients=100,local-stddev=8,dimension=1000,bits=16"
    assert main(["audit", spec, "--claim", "approx:8,1e-6"]) == 0
    assert spec in capsys.readouterr().out
