"""Without `cryptography` the plain sum works, and masks say what to install."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["cryptography"] = None
from exactdp.protocols.aggregation import PlainSum
assert PlainSum(5).aggregate({1: 4, 2: 3}) == 2
try:
    import exactdp.protocols.aggregation.masked
except ImportError as error:
    print(error)
"""


def test_the_error_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == 'masks need cryptography: pip install "exactdp[masks]"\n', done.stderr
