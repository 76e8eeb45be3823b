"""Malformed calls of every command: the documented exit codes, one line, bounded time and memory.

By a process that runs one call after the other, and some as a shell would run them.
"""

import json
import os
import subprocess
import sys

import pytest
from malformed import MEMORY, SECONDS, Runner, calls, fault, make_files

QUICK, SLOW, AS_PROCESSES = 60, 5000, 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    make_files(place)
    return place


def faults(seed, count, folder):
    """Calls that misbehave, and how; and the files that are left half written."""
    found = []
    with Runner(folder) as runner:
        for call in calls(seed, count, folder):
            if (why := fault(runner.run(call))) is not None:
                found.append((why, [word[:200] for word in call]))
    return found + [("left over", path) for path in folder.rglob(".exactdp-*")]


@pytest.mark.contract
@pytest.mark.slow
def test_malformed_calls_end_as_documented(folder):
    assert faults(0, QUICK, folder) == []


@pytest.mark.contract
@pytest.mark.slow
def test_many_malformed_calls_end_as_documented(folder):
    assert faults(1, SLOW, folder) == []


@pytest.mark.contract
@pytest.mark.slow
def test_malformed_calls_end_as_documented_in_a_shell(folder):
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]),) * 2)"
    code += "; from exactdp.cli.main import run; sys.argv[:2] = ['exactdp']; run()"
    for call in calls(2, AS_PROCESSES, folder):
        ended = subprocess.run(
            [sys.executable, "-c", code, str(MEMORY), *map(os.fsencode, call)],
            capture_output=True,
            cwd=folder,
            timeout=SECONDS,
            check=False,
        )
        found = {
            "code": ended.returncode,
            "printed": ended.stdout.count(b"\n"),
            "errors": ended.stderr.decode(errors="replace"),
            "seconds": 0,
            "memory": 0,
        }
        assert fault(found) is None, (call, found)


def test_faults_are_told_apart():
    good = {"code": 2, "printed": 0, "errors": "exactdp: no\n", "seconds": 1, "memory": 1}
    assert fault(good) is None
    wrong = ({"code": None}, {"code": 70}, {"errors": ""}, {"errors": "a\nb\n"}, {"printed": 1})
    wrong += ({"seconds": SECONDS + 1}, {"memory": 2 * MEMORY})
    for changed in wrong:
        assert fault(good | changed) is not None


@pytest.mark.contract
def test_the_same_seed_gives_the_same_calls(folder):
    first = [json.dumps(call) for call in calls(3, 20, folder)]
    assert first == [json.dumps(call) for call in calls(3, 20, folder)]
    assert first != [json.dumps(call) for call in calls(4, 20, folder)]
