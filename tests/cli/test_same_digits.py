"""The same command prints the same bytes on a quick machine and on a slow one.

A child counts its own processor time and tells it to the package as the clock's, many times too
slow or too fast: what is compared does not depend on what else the machine does.
"""

import json
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

COMMANDS = [
    "audit discrete-gaussian:sigma2=100",
    "audit polya-difference:shape=9/10,scale=10 --claim zcdp:0.01",
    "audit gaussian:sigma=2,neighbours=add-remove,poisson=1/100*100 --claim gdp:1",
    "audit discrete-laplace:scale=10*50 discrete-gaussian:sigma2=100*20 --claim zcdp:1",
    "audit skellam:variance=100,l2=4*10 --claim gdp:2",
    "calibrate discrete-gaussian --sensitivity 1 --target zcdp:0.01 --times 10",
    "calibrate skellam --sensitivity 2 --target rdp:8,0.1",
    "compose discrete-laplace:epsilon=0.1*20 --delta 1e-6 --compare",
    "compose skellam:variance=100,l2=4*10 --delta 1e-6 --compare",
    "compose skellam:variance=100,l2=2,neighbours=add-remove,poisson=1/100*100 --delta 1e-6",
    "compose federated:clip=1,scale=64,clients=100,local-stddev=8,dimension=9,bits=16 --order 2",
    "compose exponential:epsilon=1*5 gaussian:sigma=3*5 --delta 1e-6 --order 2",
    "compose gaussian:sigma=2*100 laplace:scale=10*50 --delta 1e-6 --order 2",
    "compose discrete-laplace:scale=3,threshold=20,keys=3 --delta 1e-6 --order 2",
    "compose guarantee:zcdp:0.1*10 discrete-laplace:epsilon=0.1*10 --delta 1e-6 --order 2",
    "profile discrete-laplace:epsilon=0.1*20",
]


def printed(command, scale):
    words = [*shlex.split(command), "--json"]
    done = subprocess.run([sys.executable, "-c", CHILD, scale, *words], capture_output=True)
    assert done.returncode in (0, 1), done.stderr
    said = json.loads(done.stdout)
    said.pop("certificate", None)  # it says when it was made
    return json.dumps(said)


@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_quick_machine_and_on_a_slow_one(command):
    assert printed(command, QUICK) == printed(command, SLOW)
