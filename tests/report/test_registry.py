"""Entries for the registry fit its form, and what they state is certainly true."""

import json
import re
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

import exactdp
from exactdp.cli.main import main

pytestmark = pytest.mark.contract

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


def entry(folder, *words):
    """The draft as the command writes it."""
    file = folder / "entry.yaml"
    assert main(["report", *words, "--out", str(folder / "p.html"), "--record", str(file)]) in (
        0,
        1,
    )
    return file.read_text(encoding="utf-8")


@pytest.mark.slow_cases(
    "words5-Approximate DP-Central",
    "words7-Approximate DP-Federated",
    "words1-Approximate DP-None",
    "words6-Approximate DP-Local",
)
@pytest.mark.parametrize(
    ("words", "variant", "model"),
    [
        (["discrete-laplace:epsilon=0.5", "--claim", "pure:0.5"], "Pure DP", None),
        (["discrete-laplace:epsilon=0.5*3", "--claim", "approx:2,1e-6"], "Approximate DP", None),
        (["discrete-laplace:epsilon=0.5", "--claim", "zcdp:1"], "Zero-concentrated DP", None),
        (["discrete-laplace:epsilon=0.5", "--claim", "rdp:2,1"], "Renyi DP", None),
        (["randomized-response:epsilon=1", "--claim", "gdp:2"], "Custom", None),
        (["theorem5:epsilon=0.5,batch=64,horizon=1e4"], "Approximate DP", "Central"),
        (["theorem6:epsilon=0.5,batch=64,horizon=1e4"], "Approximate DP", "Local"),
        (["theorem1:epsilon=0.5,batch=64,horizon=1e4"], "Approximate DP", "Federated"),
    ],
)
def test_an_entry_fits_the_form(words, variant, model, tmp_path):
    text = entry(tmp_path, *words)
    held = yaml.safe_load(text)
    fits(FORM, held)
    assert held["status"] == "Draft"
    assert held["deployment"]["dp_variant"]["variant_name"] == variant
    assert held["deployment"]["deployment_model"].get("model_name") == model
    assert held["deployment"]["basic"]["name"].startswith("To be filled in:")
    styles = {token.style for token in yaml.scan(text) if hasattr(token, "style")}
    assert styles <= {None, '"'}  # quoted as the registry wants it


def test_the_form_is_one_that_something_fails(tmp_path):
    held = yaml.safe_load(entry(tmp_path, "randomized-response:epsilon=1"))
    for broken in (
        {**held, "surprise": 1},
        {**held, "tier": 4},
        {key: value for key, value in held.items() if key != "status"},
    ):
        with pytest.raises(AssertionError):
            fits(FORM, broken)


@pytest.mark.slow
def test_numbers_are_upper_ends_as_yaml_reads_them(tmp_path):
    spec = "discrete-gaussian:sigma2=50*7"
    text = entry(tmp_path, spec, "--claim", "approx:9,1e-6")
    numbers = yaml.safe_load(text)["deployment"]["privacy_loss"]["privacy_parameters"]
    assert isinstance(numbers["epsilon"], float) and isinstance(numbers["delta"], float)
    upper = Fraction(exactdp.audit(spec, "approx:9,1e-6").measured.lower)
    for name, least, most in (("delta", Fraction(1, 10**6), 1), ("epsilon", upper, 1 + 1e-5)):
        written = Fraction(re.search(rf"{name}: ([\d.e+-]+)$", text, re.MULTILINE)[1])
        assert least <= written <= least * Fraction(most)


@pytest.mark.slow
def test_what_is_infinite_is_no_number(tmp_path):
    held = yaml.safe_load(entry(tmp_path, "skellam:variance=100", "--claim", "pure:1"))
    assert held["deployment"]["privacy_loss"]["privacy_parameters"] == {}
    fits(FORM, held)
