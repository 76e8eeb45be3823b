"""The page that checks certificates, in a real browser: without network once it is loaded."""

import json
import os
import re
import shutil
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import CHROMIUM, browser

import exactdp
from exactdp.cli.main import main

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "browser"))
from browser_checker import build  # noqa: E402

RESULTS = """JSON.stringify([...document.querySelectorAll('article')].map(each => [
  each.querySelector('h2').textContent, each.querySelector('p')?.textContent ?? '',
  each.innerText]))"""
GOOD = (
    ("discrete-laplace:epsilon=0.1", "pure:0.1"),
    ("skellam:variance=100", "approx:1,1e-6"),
    ("discrete-gaussian:sigma2=100*20", "zcdp:0.1"),
    ("randomized-response:epsilon=1", "approx:0.9,0.05"),
    ("gaussian:sigma=2", "gdp:0.5"),
    ("gaussian:sigma=1.1,neighbours=add-remove,poisson=1/100*3", "rdp:4,1"),
    ("skellam:variance=400,l2=4", "approx:1,1e-5"),
    ("laplace:scale=2*2", "pure:0.9"),
    ("binomial:trials=1000,probability=1/2", "approx:1,1e-5"),
    ("discrete-gaussian-sum:count=4,sigma2=25", "rdp:4,0.05"),
    ("discrete-laplace:epsilon=0.1,modulus=1001", "pure:0.1"),
    ("discrete-laplace:epsilon=0.1*100", "approx:5,1e-6"),
    ("randomized-response:epsilon=1,categories=10", "pure:1"),
    ("randomized-response:epsilon=2,shuffled=1000", "approx:0.5,1e-5"),
    ("unary-encoding:epsilon=1", "pure:1"),
    ("hadamard-response:epsilon=1,categories=3", "pure:1"),
    ("subset-selection:epsilon=1,categories=4", "pure:1"),
    ("gaussian:sigma=4,fixed-size=10/1000", "approx:1,1e-5"),
    ("gaussian:sigma=2,neighbours=add-remove,allocation=1/10", "approx:3,1e-5"),
    ("laplace:scale=2,neighbours=add-remove,poisson=1/10*2", "approx:1,1e-5"),
    ("gaussian:rho=0.1", "approx:2.5,1e-6"),
    ("exponential:epsilon=1", "pure:1"),
    ("noisy-max:scale=2,candidates=3", "pure:1"),
    ("sparse-vector:epsilon=1", "pure:1"),
    ("discrete-laplace:scale=1,threshold=20", "approx:1,1e-6"),
    ("partition-selection:epsilon=1,delta=1e-6", "approx:1.1,1e-5"),
    ("tree:steps=8,sigma=5", "zcdp:0.1"),
    ("sqrt-toeplitz:steps=8,sigma=5", "gdp:1"),
    ("guarantee:pure:0.5", "approx:0.5,1e-9"),
    ("discrete-gaussian:sigma2=100,l2=3", "zcdp:0.05"),
    ("skellam:variance=100,modulus=2001", "rdp:2,0.02"),
    ("theorem1:epsilon=0.5,batch=64,horizon=1000", "pure:0.5"),
)
BAD = (
    ("discrete-laplace:epsilon=0.1", "pure:0.09"),
    ("skellam:variance=9", "approx:1,1e-6"),
    ("polya-difference:shape=1/2,scale=10", "pure:0.5"),
)


def test_without_pyodide_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not build(tmp_path / "check", tmp_path / "nothing")
    page = (tmp_path / "check" / "index.html").read_text(encoding="utf-8")
    assert "<script" not in page and "without Python for the browser" in page
    assert (tmp_path / "check" / "exactdp-check.pyz").stat().st_size > 100_000
    for file in (tmp_path / "check").glob("*.*"):
        if file.suffix != ".pyz":
            assert not re.search(r"https?:", file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Of every kind, by name: what the page is to say of them."""
    folder = tmp_path_factory.mktemp("certificates")
    due = {}
    for k, (spec, claim) in enumerate((*GOOD, *BAD)):
        exactdp.certify(spec, claim).write(folder / f"held-{k}.json")
        due[f"held-{k}.json"] = "valid"
    content = json.loads((folder / "held-0.json").read_text())
    forged = content | {"verdict": "REFUTED"}
    (folder / "forged.json").write_text(json.dumps(forged))
    due["forged.json"] = "not valid"
    texts = {
        "empty.json": "",
        "deep.json": "[" * 1_000_000,
        "number.json": json.dumps(content).replace('"0.1"', '"1e999999999"'),
        "digits.json": '{"format": ' + "9" * 5_000_000 + "}",
        "markup.json": '{"format": "<img src=x onerror=alert(1)>"}',
        "<img src=x onerror=alert(1)>.json": "{}",
        "huge.json": " " * 20_000_001,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
        due[name] = None  # as the command says
    (folder / "bytes.json").write_bytes(bytes(range(256)) * 100)
    due["bytes.json"] = None
    for name in due:
        code = main(["check", str(folder / name)])
        said = {0: "valid", 1: "not valid", 2: "not a certificate", 3: "undecided"}[code]
        assert due[name] in (None, said)
        due[name] = said
    return folder, due


@pytest.mark.contract
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_it_says_what_the_command_says_and_asks_nobody(tmp_path, certificates):
    if not build(tmp_path / "check", ROOT / "build" / "pyodide"):
        pytest.skip("npm does not bring pyodide here")
    folder, due = certificates
    asked = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shots = Path(os.environ.get("EXACTDP_SHOTS") or tmp_path)
    with browser() as tab:
        tab.open(f"http://127.0.0.1:{server.server_port}/check/index.html")
        tab.wait("!document.getElementById('files').disabled", 90)
        loaded = len(asked)
        server.shutdown()
        server.server_close()

        began = time.monotonic()
        assert put(tab, folder, due, 300) == due
        print(f"{len(due)} files in {time.monotonic() - began:.1f} s")
        text = {name: told for name, _, told in json.loads(tab.ask(RESULTS))}
        assert "What is proved:" in text["held-0.json"]
        assert "REFUTED" in text[f"held-{len(GOOD)}.json"]
        assert "nothing proves" in text["forged.json"]
        assert tab.ask("document.querySelectorAll('main img').length") == 0

        tab.ask("document.getElementById('claim').value = 'pure:0.05'")
        assert put(tab, folder, ["held-0.json"], 60) == {"held-0.json": "not valid"}
        tab.ask("document.getElementById('claim').value = 'nothing:1'")
        assert put(tab, folder, ["held-0.json"], 60) == {"held-0.json": "not checked"}

        fetched = "fetch('http://127.0.0.1:9/').catch(error => String(error))"
        tab.send("Runtime.evaluate", expression=fetched, awaitPromise=True)
        complaints = json.dumps(tab.complaints())
        assert "Content Security Policy" in complaints  # of our own try alone
        assert "Uncaught" not in complaints
        assert len(asked) == loaded
        for width in (390, 820, 1440):
            for theme in ("light", "dark"):
                tab.show(width, theme)
                assert tab.ask("document.documentElement.scrollWidth") <= width
                tab.shot(shots / f"checker-{width}-{theme}.png")


def put(tab, folder, names, seconds):
    """Choose these files; what is said of each in the end."""
    tab.ask("document.getElementById('results').replaceChildren()")
    found = tab.send("Runtime.evaluate", expression="document.getElementById('files')")
    files = [str(folder / name) for name in names]
    tab.send("DOM.setFileInputFiles", files=files, objectId=found["result"]["objectId"])
    tab.wait(f"document.querySelectorAll('article').length === {len(files)}")
    tab.wait(
        "[...document.querySelectorAll('article')].every(each => each.querySelector('p'))", seconds
    )
    return {name: state for name, state, _ in json.loads(tab.ask(RESULTS))}
