"""The same command prints the same bytes on a quick machine and on a slow one.

A child counts its own processor time and tells it to the package as the clock's, many times too
slow or too fast: what is compared does not depend on what else the machine does.
"""

import json
import os
import shlex
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.contract]

CHILD = """
import sys, time
scale = float(sys.argv[1])
time.monotonic = lambda: scale * time.process_time()
from exactdp.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
QUICK, SLOW = "0.05", "6"
REPORTED = "discrete-gaussian:sigma2=100*10", "polya-difference:shape=9/10,scale=10*20"

COMMANDS = [
    "audit binomial:trials=100,probability=1/2 --claim approx:1,1e-6",
    "audit discrete-gaussian:sigma2=100",
    "audit discrete-gaussian:sigma2=100*10 --claim rdp:4,0.2",
    "audit discrete-laplace:scale=10*50 discrete-gaussian:sigma2=100*20 --claim zcdp:1",
    "audit gaussian:sigma=1 --claim approx:4.377,1e-5",
    "audit gaussian:sigma=2,neighbours=add-remove,poisson=1/100*100 --claim gdp:1",
    "audit laplace:scale=2 --claim pure:0.5",
    "audit polya-difference:shape=9/10,scale=10 --claim zcdp:0.01",
    "audit randomized-response:epsilon=1,categories=4 --claim pure:1",
    "audit skellam:variance=100,l2=4*10 --claim gdp:2",
    "audit skellam:variance=1e8*10 --claim approx:0.1,1e-6",
    "bandit run --algorithm dist-dp-se --epsilon 1 --horizon 2000 --runs 2 --seed 3",
    "calibrate discrete-gaussian --sensitivity 1 --target zcdp:0.01 --times 10",
    "calibrate discrete-laplace --sensitivity 2 --target approx:1,1e-6 --times 5",
    "calibrate gaussian --sensitivity 1 --target approx:1,1e-6",
    "calibrate gaussian:neighbours=add-remove,poisson=1/100 --target approx:1,1e-6 --times 100",
    "calibrate laplace --sensitivity 1 --target pure:1/3",
    "calibrate skellam --l2 10 --target approx:1,1e-6",
    "calibrate skellam --sensitivity 2 --target rdp:8,0.1",
    "claims D-thm1-privacy",
    "compose binomial:trials=1000,probability=1/2*10 --delta 1e-6",
    "compose discrete-gaussian:sigma2=100*1000 --delta 1e-6",
    "compose discrete-gaussian:sigma2=1e6,l2=10,dimension=10*9 --delta 1e-6",
    "compose discrete-gaussian:sigma2=4,modulus=64*10 --delta 1e-6 --pure",
    "compose discrete-laplace:epsilon=0.1*20 --delta 1e-6 --compare",
    "compose discrete-laplace:epsilon=0.1*20 --delta 1e-6 --method advanced",
    "compose discrete-laplace:scale=3,threshold=20,keys=3 --delta 1e-6 --order 2",
    "compose discrete-laplace:scale=3,threshold=20,keys=3,names=yes --delta 1e-3",
    "compose exponential:epsilon=1*5 --delta 1e-6",
    "compose exponential:epsilon=1*5 gaussian:sigma=3*5 --delta 1e-6 --order 2",
    "compose federated:clip=1,scale=64,clients=100,local-stddev=8,dimension=9,bits=16 --order 2",
    "compose gaussian:sigma=1*3 --delta 1e-6 --method rdp",
    "compose gaussian:sigma=1,neighbours=add-remove,poisson=1/100*1000 --delta 1e-6",
    "compose gaussian:sigma=2*10 laplace:scale=4*3 skellam:variance=30*3 --delta 1e-6 --width 1e-4",
    "compose gaussian:sigma=2*100 laplace:scale=10*50 --delta 1e-6 --order 2",
    "compose gaussian:sigma=2,fixed-size=10/1000*10 --delta 1e-6",
    "compose gaussian:sigma=2,neighbours=add-remove,poisson=1/10*5 "
    "laplace:scale=3,neighbours=add-remove*5 --delta 1e-6",
    "compose gaussian:sigma=3*10 --delta 1e-6 --order 2 --order 32 --pure",
    "compose guarantee:approx:1,1e-6*4 --delta 1e-5",
    "compose guarantee:gdp:1/2*4 gaussian:sigma=3*4 --delta 1e-6",
    "compose guarantee:zcdp:0.1*10 discrete-laplace:epsilon=0.1*10 --delta 1e-6 --order 2",
    "compose laplace:scale=10*100 --delta 1e-6",
    "compose laplace:scale=2,neighbours=add-remove,poisson=1/10*100 --delta 1e-6",
    "compose noisy-max:scale=10,candidates=10*10 --delta 1e-5 --pure",
    "compose permute-and-flip:epsilon=1*3 --delta 1e-6 --pure",
    "compose polya-difference:shape=1/2,scale=20*100 --delta 1e-6 --pure",
    "compose randomized-response:epsilon=1*30 --delta 1e-6 --pure",
    "compose randomized-response:epsilon=2,categories=10*5 --delta 1e-4",
    "compose randomized-response:epsilon=2,shuffled=1000 --delta 1e-6",
    "compose rappor:f=1/2,hashes=2 --pure --delta 1e-3",
    "compose skellam:variance=100*1000 --delta 1e-12",
    "compose skellam:variance=100*20 --delta 1e-6 --epsilon 1",
    "compose skellam:variance=100,l2=2,neighbours=add-remove,poisson=1/100*100 --delta 1e-6",
    "compose skellam:variance=100,l2=4*10 --delta 1e-6 --compare",
    "compose skellam:variance=1e6*300 --delta 1e-9",
    "compose skellam:variance=25,neighbours=add-remove,poisson=1/10*100 --delta 1e-6",
    "compose sparse-vector:epsilon=1,answers=1 --pure --delta 1e-6",
    "compose sqrt-toeplitz:steps=64,sigma=4,participations=2,separation=8 --delta 1e-6",
    "compose tree:steps=64,sigma=10 --delta 1e-6 --order 2",
    "compose unary-encoding:epsilon=1,bits-differ=2*3 --delta 1e-6 --pure",
    "list gaussian",
    "profile discrete-laplace:epsilon=0.1*20",
    "profile gaussian:sigma=2*10",
    "profile skellam:variance=100*5",
    "search discrete-gaussian:sigma2=1..30 --claim rdp:2,1/sigma2",
]


def run(words, scale):
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, scale, *words], capture_output=True, env=environment
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def printed(command, scale):
    said = json.loads(run([*shlex.split(command), "--json"], scale))
    if not isinstance(said, dict):
        return said
    said.pop("certificate", None)  # it says when it was made
    return json.dumps(said)


@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_quick_machine_and_on_a_slow_one(command):
    assert printed(command, QUICK) == printed(command, SLOW)


@pytest.mark.parametrize("spec", REPORTED)
def test_a_report_on_a_quick_machine_and_on_a_slow_one(tmp_path, spec):
    pages = []
    for scale in (QUICK, SLOW):
        page = tmp_path / f"{scale}.html"
        run(["report", spec, "--claim", "approx:2,1e-6", "--out", str(page)], scale)
        pages.append(page.read_text().replace(page.name, ""))
    assert pages[0] == pages[1]
