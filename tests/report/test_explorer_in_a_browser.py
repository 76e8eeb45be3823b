"""The explorer in a real browser: figures follow the inputs, by keyboard, at every width."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import CHROMIUM, browser

from exactdp import Enclosure
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms.specs.spec import parse

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
]

OVERFLOW = """[...document.querySelectorAll('body *')].filter(each =>
  !each.closest('svg, .skip') && each.getBoundingClientRect().right > innerWidth + 1).length"""
ENDS = """JSON.stringify({...document.querySelector('.figures dd').dataset})"""
SETTLED = "document.getElementById('status').textContent.includes('computing') ? '' : 'settled'"


@pytest.fixture(scope="module")
def address():
    command = [sys.executable, "-m", "exactdp.cli", "explore", "--port", "0", "--time", "3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield re.search(r"http://\S+/", process.stdout.readline())[0]
        process.kill()


@pytest.fixture
def tab(address):
    with browser() as opened:
        opened.show(1440, "light")
        opened.open(f"{address}?name=discrete-laplace&epsilon=0.1")
        yield opened


def typed(tab, key, text):
    """Put text into an input as a user does, and wait for what follows."""
    tab.ask(f"document.getElementById('{key}').focus()")
    tab.ask(f"document.getElementById('{key}').select()")
    tab.send("Input.insertText", text=text)
    settled(tab)


def settled(tab):
    """Wait until what was typed is answered."""
    time.sleep(0.4)  # longer than the page waits for more
    tab.wait(SETTLED)


def pressed(tab, key, **more):
    for kind in ("keyDown", "keyUp"):
        tab.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, **more)


def test_figures_follow_what_is_typed(tab, address):
    typed(tab, "epsilon", "0.25")
    shown = Enclosure.from_json(json.loads(tab.ask(ENDS)))
    truth = compose(parse("discrete-laplace:epsilon=0.25").mechanism).epsilon("1e-6")
    shown.intersection(truth)
    assert "epsilon=0.25" in tab.ask("location.search")
    kept = tab.ask("location.href")
    tab.ask("document.getElementById('epsilon').focus()")
    pressed(tab, "ArrowUp")
    settled(tab)
    assert tab.ask("document.getElementById('epsilon').value") == "0.26"
    assert tab.ask("document.activeElement.id") == "epsilon"
    assert "epsilon=0.26" in tab.ask("location.search")
    typed(tab, "epsilon", "-1")
    assert "above 0" in tab.ask("document.getElementById('epsilon-error').textContent")
    assert "epsilon=0.26" in tab.ask("location.search")  # the address is of what is shown
    typed(tab, "epsilon", "1")
    assert tab.ask("document.getElementById('epsilon-error').textContent") == ""
    tab.open(kept)
    assert Enclosure.from_json(json.loads(tab.ask(ENDS))) == shown
    assert all(each.startswith((address, "data:,")) for each in tab.asked_for())
    assert tab.complaints() == []


@pytest.mark.contract
def test_another_mechanism_brings_its_keys(tab):
    tab.ask("document.getElementById('name').focus()")
    tab.ask("document.getElementById('name').value = 'skellam'")
    tab.ask("document.getElementById('name').dispatchEvent(new Event('input', {bubbles: true}))")
    tab.wait("document.getElementById('variance') !== null")
    assert tab.ask("document.getElementById('variance').value") == "100"
    assert tab.ask("document.activeElement.id") == "name"
    settled(tab)
    assert tab.ask("location.search").startswith("?name=skellam&variance=100")
    assert tab.complaints() == []


@pytest.mark.contract
def test_digits_are_stepped_exactly(tab):
    steps = (
        ("0.1", "ArrowDown", 0, "0.09"),
        ("1e-6", "ArrowDown", 0, "0.9e-6"),
        ("9", "ArrowUp", 0, "10"),
        ("0.10", "ArrowUp", 8, "0.101"),
        ("1/3", "ArrowUp", 0, "1/3"),
        ("9007199254740993", "ArrowUp", 0, "9007199254740994"),
    )
    for text, key, modifiers, due in steps:
        tab.ask("document.getElementById('epsilon').focus()")
        tab.ask(f"document.getElementById('epsilon').value = '{text}'")
        pressed(tab, key, modifiers=modifiers)
        assert tab.ask("document.getElementById('epsilon').value") == due


@pytest.mark.contract
def test_it_fits_every_width_in_both_themes(tab, address, tmp_path):
    folder = Path(os.environ.get("EXACTDP_SHOTS") or tmp_path)
    query = "name=gaussian&sigma=1.1&neighbours=add-remove&poisson=256/60000&times=1000&target=2"
    tab.open(f"{address}?{query}")
    papers = set()
    for theme in ("light", "dark"):
        for width in (390, 820, 1440):
            tab.show(width, theme)
            assert tab.ask("document.documentElement.scrollWidth") <= width
            assert tab.ask(OVERFLOW) == 0
            tab.shot(folder / f"explorer-{width}-{theme}.png")
            letters = tab.ask(
                "Math.min(...[...document.querySelectorAll('svg text')].map(each => "
                "each.getBoundingClientRect().height))"
            )
            assert letters >= 7  # of exponents
        papers.add(tab.ask("getComputedStyle(document.body).backgroundColor"))
    assert len(papers) == 2
    for key in ("sigma", "name", "times"):  # every input is reached by Tab, and has a name
        assert tab.ask(f"document.getElementById('{key}').tabIndex") == 0
        assert tab.ask(f"document.getElementById('{key}').labels.length") == 1
