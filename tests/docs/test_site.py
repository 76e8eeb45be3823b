"""The site: what is in it, and that it builds without a warning, its notebooks run."""

import importlib
import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import CHROMIUM, browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.md"))
SOUGHT = ("exponential mechanism", "moments accountant", "add-remove", "noise multiplier z")
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_a_notebook_is_short_and_has_a_picture(page):
    cells = CELL.findall(page.read_text(encoding="utf-8"))
    assert 4 <= len(cells) < 15
    assert any("plt." in cell for cell in cells)
    for cell in cells:
        compile(cell, page.name, "exec")


def test_every_module_that_pages_show_is_there():
    pages = (page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    named = re.findall(r"automodule:: (\S+)", "\n".join(pages))
    assert len(named) > 50
    for name in named:
        importlib.import_module(name)


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    out = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d"]
    command += [str(tmp_path / "doctrees"), str(DOCS), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr

    pages = list(out.rglob("*.html"))
    for source in DOCS.rglob("*.md"):
        assert out / source.relative_to(DOCS).with_suffix(".html") in pages
    for notebook in NOTEBOOKS:
        text = (out / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        assert "cell_output" in text and "image/png" not in text
        assert re.search(r'<img [^>]*src="\.\./_images/', text)
        assert "Traceback" not in text

    index = (out / "searchindex.js").read_text(encoding="utf-8")
    words = json.loads(index.partition("(")[2].rstrip(")"))
    for word in SOUGHT:
        ((page, *_),) = words["indexentries"][word]
        assert words["docnames"][page] == "notions/glossary"

    for page in pages:  # nothing is loaded from elsewhere
        loaded = re.findall(
            r'<(?:script|img|iframe)[^>]* src="([^"]*)"|<link[^>]*stylesheet[^>]* href="([^"]*)"',
            page.read_text(encoding="utf-8"),
        )
        assert not [url for pair in loaded for url in pair if re.match(r"(https?:)?//", url)]
    if CHROMIUM is not None:
        _looks_right(out)


def _looks_right(site):
    """No page is wider than it is shown; words of the field are found first where they stand."""
    with browser() as shown:
        for width, theme in product((390, 820, 1440), ("light", "dark")):
            shown.show(width, theme)
            shown.open(site / "index.html")
            assert shown.ask("document.documentElement.scrollWidth") <= width
            assert shown.ask("document.querySelectorAll('#what-do-you-have > section').length") == 5
            assert not shown.complaints()
        for words in SOUGHT:
            shown.open(f"{(site / 'search.html').as_uri()}?q={quote(words.removesuffix(' z'))}")
            found = shown.wait("document.querySelector('#search-results li a')?.outerHTML")
            assert "notions/glossary.html#word-" in found, words
