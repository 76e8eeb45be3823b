"""Every documented quantity of every documented mechanism answers in its time."""

import json
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.contract

SPECS = [
    "discrete-laplace:epsilon=0.1,sensitivity=1",
    "discrete-laplace:scale=1e6,sensitivity=1000000",
    "discrete-laplace:scale=1000,sensitivity=30000,modulus=65536",
    "polya-difference:shape=0.9,scale=10,sensitivity=1",
    "polya-difference:shape=1e-6,scale=1e4,sensitivity=100,modulus=1001",
    "skellam:variance=100,sensitivity=1",
    "skellam:variance=1e6,sensitivity=1000",
    "skellam:variance=0.001,sensitivity=5",
    "discrete-gaussian:sigma2=100,sensitivity=1",
    "discrete-gaussian:sigma2=1e10,sensitivity=1",
    "discrete-gaussian:sigma2=0.05,sensitivity=3,modulus=40000",
    "discrete-gaussian-sum:count=128,sigma2=0.25,sensitivity=1",
    "discrete-gaussian-sum:count=2,sigma2=0.1,sensitivity=3,modulus=4",
    "binomial:trials=1000,probability=1/2,sensitivity=1",
    "binomial:trials=1e6,probability=0.3,sensitivity=5",
    "randomized-response:epsilon=1",
    "theorem1:epsilon=0.5,batch=1024,horizon=1000000",
    "theorem2:epsilon=0.5,batch=1024,horizon=1000000,scaling=10",
    "theorem3:epsilon=0.5,batch=1024,horizon=1000000",
    "theorem4:epsilon=0.5,batch=1024,horizon=1000000,scaling=10",
    "theorem5:epsilon=0.5,batch=1024,horizon=1000000",
    "theorem6:epsilon=0.5,batch=1024,horizon=1000000",
    "shuffle-sum:epsilon=0.5,delta=1e-6,users=1000",
    "published:epsilon=0.1,batch=1024",
    "gaussian:sigma=1.1,sensitivity=1,neighbours=add-remove,poisson=256/60000",
    "gaussian:sigma=10,sensitivity=2.5",
    "laplace:scale=2,sensitivity=1,neighbours=add-remove,poisson=0.1",
    "discrete-laplace:epsilon=1,neighbours=add-remove,poisson=0.01",
    "discrete-laplace:epsilon=1,fixed-size=10/1000",
    "discrete-gaussian:sigma2=100,neighbours=add-remove,poisson=0.01",
    "discrete-gaussian-sum:count=128,sigma2=0.25,neighbours=add-remove,poisson=0.1",
    "skellam:variance=100,modulus=256,neighbours=add-remove,poisson=0.5",
    "randomized-response:epsilon=1,neighbours=add-remove,poisson=0.1",
]
QUANTITIES = ["--pure", "--order", "1.5", "--order", "64", "--epsilon", "1", "--delta", "1e-9"]
SECONDS = 10
GRACE = 20  # imports, one call of C that cannot be interrupted, and a machine that is busy


def run(*words):
    started = time.monotonic()
    command = [sys.executable, "-m", "exactdp.cli", *words, "--time", str(SECONDS), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * SECONDS)
    assert time.monotonic() - started < SECONDS + GRACE, words
    assert done.returncode in (0, 1, 3), (words, done.stderr)
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)


def ordered(result):
    lower, upper = (float(result[end]) for end in ("lower", "upper"))
    return 0 <= lower <= upper


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("times", ["", "*100"])
def test_compose(spec, times):
    results = run("compose", spec + times, *QUANTITIES)["results"]
    assert [result["quantity"] for result in results] == [
        "pure",
        "renyi",
        "renyi",
        "delta",
        "epsilon",
    ]
    assert all(map(ordered, results))


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["pure:3", "approx:1,1e-6", "rdp:2,0.01", "zcdp:0.5"])
@pytest.mark.parametrize("spec", SPECS)
def test_audit(spec, claim):
    found = run("audit", spec, "--claim", claim)
    assert found["verdict"] in ("VERIFIED", "REFUTED", "UNDECIDED")
    assert ordered(found["measured"])
