"""Every relative link of the documentation leads somewhere: to a file, and to a heading in it."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:")


def prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> set[str]:
    """The names that a code host, and the site, give to the headings of a page."""
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def broken(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / unquote(name)).resolve() if name else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return True
    if target.suffix == ".md" and page.is_relative_to(DOCS) and not target.is_relative_to(DOCS):
        return True  # no page of the site
    return bool(anchor) and anchor not in anchors(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(prose(page)) if not OUTSIDE.match(link)]
    assert [link for link in links if broken(page, link)] == []


def test_a_broken_link_is_seen():
    page = ROOT / "README.md"
    assert not broken(page, "docs/commands.md#auditing")
    assert broken(page, "docs/commands.md#no-such-heading")
    assert broken(page, "docs/no-such-page.md")
    assert broken(DOCS / "layout.md", "../README.md")
    assert LINK.findall(prose(page))
