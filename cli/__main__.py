"""`python -m exactdp.cli` is the command `exactdp`."""

from .main import run

run()
