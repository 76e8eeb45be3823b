"""Every check of the list on every case; bad values of every key of every mechanism."""

import inspect
import json

import pytest
from conformance.cases import CASES, TABLES
from conformance.checks import CHECKS, QUICK, bad_values_are_refused, samples_follow_the_law

from exactdp.cli.main import main


def rows():
    """Every check on every case, but samplers only of noise; those that take seconds are slow."""
    for case in CASES:
        for check in CHECKS:
            if check is samples_follow_the_law and case.noise is None:
                continue
            marks = pytest.mark.slow if case.is_slow and check is not QUICK else ()
            yield pytest.param(case, check, marks=marks, id=f"{case}-{check.__name__}")


@pytest.mark.contract
@pytest.mark.parametrize(("case", "check"), list(rows()))
def test_every_mechanism(case, check, request):
    wanted = [name for name in inspect.signature(check).parameters if name != "case"]
    check(case, **{name: request.getfixturevalue(name) for name in wanted})


@pytest.mark.contract
def test_bad_values_of_every_key_are_refused_in_one_line(capsys):
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["mechanisms"]
    files = {"local": "local.csv", "pmf": "pair.csv", "matrix": "lower.csv", "blt": "blt.json"}
    for one in listed:
        example, file = one["example"], files.get(one["name"])
        if file is not None:
            example = example.replace(example.split("file=")[1].split(",")[0], f"{TABLES}/{file}")
        bad_values_are_refused(example, [key["key"] for key in one["keys"]], capsys)
