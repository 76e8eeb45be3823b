"""Entries for the registry fit its form, and what they state is certainly true."""

import json
import re
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from exactdp.exact import time_limit
from exactdp.mechanisms.spec import parse_use
from exactdp.report import evidence
from exactdp.report.registry import TO_FILL_IN, entry, record
from exactdp.report.subject import Subject
from exactdp.verify import parse_claim

FORM = json.loads(Path(__file__).with_name("registry_form.json").read_text())["form"]
TYPES = {"text": str, "number": (int, float), "whole": int}


def fits(form, held, where="entry"):
    """Raise AssertionError where it does not, naming the place."""
    if isinstance(form, list):
        assert held in form and not isinstance(held, bool), where
    elif isinstance(form, dict):
        assert isinstance(held, dict), where
        assert {name[:-1] for name in form if name.endswith("!")} <= held.keys(), where
        allowed = {name.rstrip("!"): inner for name, inner in form.items()}
        for name, value in held.items():
            assert name in allowed, f"{where}.{name}"
            fits(allowed[name], value, f"{where}.{name}")
    elif form == "texts":
        assert held and all(isinstance(each, str) for each in held), where
    elif form == "date":
        assert isinstance(held, str) and date.fromisoformat(held), where
    else:
        kinds = tuple(TYPES[kind] for kind in form.split(" | "))
        assert any(isinstance(held, kind) for kind in kinds) and not isinstance(held, bool), where


def made(*uses, claims=()):
    found = Subject([*map(parse_use, uses)], [*map(parse_claim, claims)], [Fraction(1, 10**6)])
    with time_limit(8, rings=False):
        return found, evidence.decided(found)


@pytest.mark.parametrize(
    ("uses", "claims", "variant", "model"),
    [
        (["discrete-laplace:epsilon=0.5"], ["pure:0.5"], "Pure DP", None),
        (["discrete-laplace:epsilon=0.5*3"], ["approx:2,1e-6"], "Approximate DP", None),
        (["discrete-laplace:epsilon=0.5"], ["zcdp:1"], "Zero-concentrated DP", None),
        (["discrete-laplace:epsilon=0.5"], ["rdp:2,1"], "Renyi DP", None),
        (["randomized-response:epsilon=1"], ["gdp:2"], "Custom", None),
        (["theorem5:epsilon=0.5,batch=64,horizon=1e4"], [], "Approximate DP", "Central"),
        (["theorem6:epsilon=0.5,batch=64,horizon=1e4"], [], "Approximate DP", "Local"),
        (["theorem1:epsilon=0.5,batch=64,horizon=1e4"], [], "Approximate DP", "Federated"),
    ],
)
def test_an_entry_fits_the_form(uses, claims, variant, model):
    text = entry(*made(*uses, claims=claims))
    held = yaml.safe_load(text)
    fits(FORM, held)
    assert held["status"] == "Draft"
    assert held["deployment"]["dp_variant"]["variant_name"] == variant
    assert held["deployment"]["deployment_model"].get("model_name") == model
    assert held["deployment"]["basic"]["name"].startswith(TO_FILL_IN)


def test_the_form_is_one_that_something_fails():
    held = yaml.safe_load(entry(*made("randomized-response:epsilon=1")))
    for broken in (
        {**held, "surprise": 1},
        {**held, "tier": 4},
        {key: value for key, value in held.items() if key != "status"},
    ):
        with pytest.raises(AssertionError):
            fits(FORM, broken)


def test_numbers_are_upper_ends_as_yaml_reads_them():
    about, found = made("discrete-gaussian:sigma2=50*7", claims=["approx:9,1e-6"])
    text = entry(about, found)
    numbers = yaml.safe_load(text)["deployment"]["privacy_loss"]["privacy_parameters"]
    assert isinstance(numbers["epsilon"], float) and isinstance(numbers["delta"], float)
    exact = record(about, found)["deployment"]["privacy_loss"]["privacy_parameters"]
    assert exact["delta"] == Fraction(1, 10**6)
    upper = Fraction(found[0][0].measured.upper)
    assert upper <= exact["epsilon"] <= upper * Fraction(100_001, 100_000)
    written = re.search(r"epsilon: (.*)", text)
    assert written is not None and Fraction(written[1]) == exact["epsilon"]


def test_what_is_infinite_is_no_number():
    about, found = made("skellam:variance=100", claims=["pure:1"])
    parameters = record(about, found)["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters == {}
    fits(FORM, yaml.safe_load(entry(about, found)))


def test_text_is_quoted_as_the_registry_wants_it():
    tokens = yaml.scan(entry(*made("discrete-laplace:epsilon=0.5", claims=["pure:1"])))
    assert {token.style for token in tokens if hasattr(token, "style")} <= {None, '"'}
