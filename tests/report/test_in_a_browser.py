"""A page in a real browser: asks for nothing, complains of nothing, fits every width and theme."""

import json
import os
from pathlib import Path

import pytest
from browser import CHROMIUM, browser

from exactdp.cli.main import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
]

SAMPLED = "gaussian:sigma=1.1,sensitivity=1,neighbours=add-remove,poisson=256/60000*14062"
VECTOR = "skellam:variance=400,l2=4,neighbours=add-remove*300"
FEDERATED = (
    "federated:mechanism=skellam,clip=1,scale=64,clients=100,local-stddev=8,dimension=1000,"
    "bits=16,rounding=conditional:0.6065"
)
REPORTS = {
    "scalar": ("skellam:variance=100", "--claim", "approx:1,1e-6"),
    "sampled": (SAMPLED, "--claim", "approx:3,1e-5"),
    "vector": (VECTOR, "--claim", "approx:22,1e-6"),
    "federated": (FEDERATED, "--claim", "approx:8,1e-6"),
    "transcript": ("run.jsonl",),
}
RUN = (
    "bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 1e4 --runs 1 --transcript run.jsonl"
)
WIDTHS = (320, 768, 1600)

CELLS = """JSON.stringify([...document.querySelectorAll('section')].map(section => [
  section.id, [...section.querySelectorAll('table')].map(table => [
    ...table.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => {
      const held = cell.querySelector('[data-lower]');
      return held ? {lower: held.dataset.lower, upper: held.dataset.upper}
                  : cell.textContent.trim().replace(/\\s+/g, ' ');
    })))]))"""
FIGURES = "document.getElementById('figures').textContent"
OVERFLOW = """[...document.querySelectorAll('body *')].filter(each => {
  const inside = each.closest('.scroll, .picture, pre, svg, .skip');
  return !inside && each.getBoundingClientRect().right > innerWidth + 1}).length"""


@pytest.fixture(scope="module", params=REPORTS)
def page(request, tmp_path_factory):
    """Kept, with its pictures, in the folder that EXACTDP_SHOTS names."""
    folder = Path(os.environ.get("EXACTDP_SHOTS") or tmp_path_factory.mktemp("shots"))
    folder.mkdir(exist_ok=True)
    file = folder / f"{request.param}.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        if request.param == "transcript":
            assert main(RUN.split()) == 0
        assert main(["report", *REPORTS[request.param], "--out", str(file)]) == 0
    return file


@pytest.mark.contract
def test_it_is_shown_as_it_should_be(page):
    with browser() as tab:
        tab.open(page)
        figures = json.loads(tab.ask(FIGURES))
        due = {
            each["key"]: [
                [[said(cell) for cell in row] for row in table["rows"]]
                for table in each.get("tables", [])
            ]
            for each in figures["sections"]
        }
        assert dict(json.loads(tab.ask(CELLS))) == due
        papers = set()
        for theme in ("light", "dark"):
            for width in WIDTHS:
                tab.show(width, theme)
                assert tab.ask("document.documentElement.scrollWidth") <= width
                assert tab.ask(OVERFLOW) == 0
                tab.shot(page.with_name(f"{page.stem}-{width}-{theme}.png"))
            papers.add(tab.ask("getComputedStyle(document.body).backgroundColor"))
        assert len(papers) == 2
        tab.show(800, "dark", "print")
        assert tab.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert tab.asked_for() == [page.as_uri()]
        assert tab.complaints() == []


def said(cell):
    return cell if isinstance(cell, dict) else " ".join(cell.split())
