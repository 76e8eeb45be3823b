"""A page: its figures are those of its JSON, it asks nobody for anything, and it can be read."""

import base64
import hashlib
import re
import shlex
from decimal import Decimal
from fractions import Fraction
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from report_reading import Shown, cell

import exactdp
from exactdp import Audit, Enclosure, ParameterError, Verdict, time_limit
from exactdp.accounting.figure import Figure
from exactdp.cli.main import main
from exactdp.common.table import Table
from exactdp.mechanisms.specs.spec import parse_use
from exactdp.report import evidence, make
from exactdp.report.costs import groups
from exactdp.report.page import File, Page, Section
from exactdp.report.shares import missing_shares
from exactdp.report.subject import Subject
from exactdp.verify import parse_claim
from exactdp.verify.checker.implied import Expected, difference
from exactdp.verify.fields import use_fields
from exactdp.verify.kernel.forms import recognise
from exactdp.verify.kernel.stated import stated

SPEC = "discrete-laplace:epsilon=0.5"
CLAIMS = ("pure:0.5", "approx:0.4,1e-6")


def reported(folder, *words, code=0):
    """The page that the command writes."""
    file = folder / "page.html"
    assert main(["report", *words, "--out", str(file)]) == code
    return file.read_text(encoding="utf-8")


def sections_of(html):
    return {each["key"]: each for each in Shown(html).figures["sections"]}


def subject(*uses, claims=(), deltas=("1e-6", "1e-9")):
    levels = [Fraction(each) for each in deltas]
    return Subject([parse_use(use) for use in uses], [*map(parse_claim, claims)], levels)


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    asked = [word for claim in CLAIMS for word in ("--claim", claim)]
    return reported(tmp_path_factory.mktemp("page"), SPEC, *asked, code=1)  # one is refuted


@pytest.mark.contract
def test_every_figure_of_the_page_is_in_its_json_and_the_other_way_round(html):
    shown = Shown(html)
    sections = shown.figures["sections"]
    assert [section["key"] for section in sections] == list(shown.tables)
    figures = 0
    for section in sections:
        tables = shown.tables[section["key"]]
        due = [table["rows"] for table in section.get("tables", [])]
        assert [len(table) - 1 for table in tables] == [len(rows) for rows in due]  # a head each
        for table, rows in zip(tables, due, strict=True):
            for line, row in zip(table[1:], rows, strict=True):
                figures += compared(line, row)
        facts = [*section.get("facts", {}).values()]
        figures += compared(shown.facts[section["key"]][: len(facts)], facts)
    assert figures > 60


def compared(line, row):
    """How many enclosures there are; all cells are the same."""
    for (text, *ends), (said, *due) in zip(line, map(cell, row), strict=True):
        assert ends == due
        if said is None:
            low, high = ends
            value = Enclosure.from_json({"lower": low, "upper": high})
            rounded = len(text) < 15 and Decimal(text) >= value.upper  # no digits besides
            assert text == str(value) or rounded
        else:
            assert text == " ".join(said.split())
    return sum(isinstance(each, dict) for each in row)


@pytest.mark.contract
def test_figures_are_those_of_the_library(html):
    sections, one = sections_of(html), exactdp.mechanism(SPEC)
    notions = dict(sections["notions"]["tables"][0]["rows"])
    truth = one.epsilon("1e-6")
    held = Enclosure.from_json(notions["ε at δ = 1e-6"])
    assert held.lower <= truth.upper and truth.lower <= held.upper
    assert notions["pure ε (δ = 0)"] == {"lower": "0.5", "upper": "0.5"}
    for at, ends in sections["profile"]["tables"][0]["rows"]:
        truth = one.delta(at)
        assert Decimal(ends["lower"]) <= truth.upper and truth.lower <= Decimal(ends["upper"])
    for users, ends in sections["groups"]["tables"][0]["rows"]:
        assert Fraction(ends["lower"]) <= int(users) * Fraction(1, 2)  # of the pure epsilon


@pytest.mark.contract
def test_verdicts_are_those_of_the_audit(html):
    rows = Shown(html).tables["verdicts"][0][1:]
    assert [line[1][0] for line in rows] == ["VERIFIED", "REFUTED"]
    assert "event" in rows[1][4][0] or "outcome" in rows[1][4][0]


@pytest.mark.contract
def test_what_proves_the_verdicts_is_inside_and_has_its_digest(html, tmp_path, monkeypatch):
    """Each verdict's certificate, which is valid, and its theorem; the commands end with 0."""
    monkeypatch.chdir(tmp_path)
    files = sections_of(html)["certificates"]["files"]
    links = [link for link in Shown(html).links if link.startswith("data:") and ";base64," in link]
    links = [link for link in links if "json" in link or "text/plain" in link]
    names = [held["name"] for held in files]
    assert names == ["certificate-1.json", "theorem-1.v", "certificate-2.json", "theorem-2.v"]
    for held, link in zip(files, links, strict=True):
        content = base64.b64decode(link.partition(",")[2])
        assert content.decode() == held["content"]
        assert hashlib.sha256(content).hexdigest() == held["sha256"]
        assert held["sha256"] in html
    said = [re.findall(rf"exactdp (check {name}[^<]*)", html) for name in names[::2]]
    for held, claim, verdict, (command,) in zip(
        files[::2], CLAIMS, ("VERIFIED", "REFUTED"), said, strict=True
    ):
        Path(held["name"]).write_text(held["content"], encoding="utf-8")
        assert main(shlex.split(unescape(command))) == 0  # also of what is refuted
        expected = ["--expect", SPEC, "--claim", claim, "--verdict", verdict]
        assert main(["check", held["name"], *expected]) == 0


def test_theorems_of_the_page_are_of_its_claims(html):
    files = sections_of(html)["certificates"]["files"]
    uses = [use_fields(use) for use in exactdp.mechanism(SPEC).uses]
    for held, claim, verdict in zip(files[1::2], CLAIMS, ("VERIFIED", "REFUTED"), strict=True):
        form, numbers = recognise(held["content"])
        expected = Expected(uses, parse_claim(claim).fields(), verdict=verdict)
        assert difference(stated(form, numbers), expected) is None
        assert form.verified == (verdict == "VERIFIED")


@pytest.mark.contract
def test_it_says_how_to_make_it_again(html):
    words = shlex.split(sections_of(html)["again"]["text"][0])
    given = {name: [b for a, b in pairwise(words) if a == name] for name in ("--claim", "--delta")}
    assert words[:3] == ["exactdp", "report", SPEC]
    assert given == {"--claim": [*CLAIMS], "--delta": ["1e-6", "1e-9", "1e-5"]}


@pytest.mark.contract
def test_nothing_is_fetched_from_anywhere(html):
    for link in Shown(html).links:
        assert link.startswith(("#", "data:"))
    assert not re.findall(r"@import|url\((?!#)", html)
    assert "default-src 'none'" in html
    scripts = [held for tag, held in Shown(html).tags if tag == "script"]
    assert [held["type"] for held in scripts] == ["application/json"]


@pytest.mark.contract
def test_it_can_be_read_aloud(html):
    shown = Shown(html)
    ids = [held["id"] for _, held in shown.tags if "id" in held]
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in shown.links if link.startswith("#")} <= set(ids)
    assert ("html", {"lang": "en"}) in shown.tags
    levels = [int(tag[1]) for tag, _ in shown.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert all(held.get("scope") == "col" for tag, held in shown.tags if tag == "th")
    pictures = [held for tag, held in shown.tags if held.get("role") == "img"]
    assert len(pictures) == 3 and all(len(held["aria-label"]) > 40 for held in pictures)
    regions = [held for _, held in shown.tags if held.get("role") == "region"]
    assert all(held["aria-label"] and held["tabindex"] == "0" for held in regions)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.contract
def test_text_has_enough_contrast_in_both_themes(html):
    """WCAG 2.1, success criterion 1.4.3: 4.5 to 1."""
    themes = re.findall(r":root \{(.*?)\}", html, re.DOTALL)[:2]
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#\w{6})", theme))
        for ink in ("ink", "soft", "curve", "link", "good", "bad", "open"):
            for paper in ("paper", "panel"):
                low, high = sorted((luminance(colours[ink]), luminance(colours[paper])))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)


def test_what_is_shown_is_text_and_never_markup():
    nasty = "</script><script>alert(1)</script>&<b>"
    table = Table((nasty,), ((nasty,),), nasty)
    section = Section("one", nasty, (nasty,), {nasty: nasty}, (nasty,), (table,))
    held = File("a.json", nasty, nasty)
    page = Page(nasty, nasty, make.made(), [section, Section("two", "two", files=(held,))])
    shown = Shown(page.html())
    assert [tag for tag, _ in shown.tags if tag in ("script", "b")] == ["script"]
    assert shown.figures["sections"][0]["text"] == [nasty]
    assert shown.figures["sections"][1]["files"][0]["content"] == nasty


@pytest.mark.contract
@pytest.mark.slow
def test_the_same_date_gives_the_same_bytes(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    pages = {reported(tmp_path, SPEC) for _ in range(2)}
    assert len(pages) == 1
    assert "2001-09-09 01:46 UTC" in pages.pop()


@pytest.mark.slow
def test_it_ends_in_time_and_says_what_is_missing():
    late = subject("skellam:variance=1e6*1000", claims=("approx:0.115928412,1e-6",))
    with time_limit(0.5):
        found = evidence.decided(late)
        page = make.report(late, found)
    assert found[0][0].verdict is Verdict.UNDECIDED and isinstance(found[0][1], str)
    shown = Shown(page.html())
    assert shown.tables["verdicts"][0][1][1][0] == "UNDECIDED"


def test_a_missing_share_costs_what_the_audit_says():
    text = "binomial:trials=60,probability=1/2,users=20"
    (section,) = missing_shares(subject(text))
    rows = section.tables[0].rows
    assert [row[0] for row in rows] == ["0", "1", "2", "5", "10"]
    for missing, ends in rows:  # what is left has three tosses less for each share
        left = f"binomial:trials={60 - 3 * int(missing)},probability=1/2"
        truth = subject(left).composition
        found = truth.epsilon("1e-6", Fraction(1, 10**6))
        assert ends.lower <= found.upper and found.lower <= ends.upper


def test_a_claim_left_open_follows_from_what_else_is_on_the_page(monkeypatch):
    """Verdict and figures are of the same enclosure, wherever that was found."""
    about = subject("skellam:variance=100*20", claims=("approx:2.2,1e-6", "approx:0.3,1e-6"))
    monkeypatch.setattr(
        evidence,
        "audit",
        lambda of, claim: Audit(of, claim, Verdict.UNDECIDED, Enclosure.unknown()),
    )
    monkeypatch.setattr(Subject, "find", lambda _: None)
    (low, _), (high, _) = evidence.decided(about)
    assert low.verdict is Verdict.VERIFIED  # by Rényi divergences of a few orders alone
    assert high.verdict is Verdict.UNDECIDED
    about.known.learn(Figure("epsilon", Fraction(1, 10**6)), Enclosure(Fraction(1), Fraction(3)))
    (_, _), (high, _) = evidence.decided(about)
    assert high.verdict is Verdict.REFUTED and high.measured == low.measured.intersection(
        Enclosure(Fraction(1), Fraction(3))
    )


def test_groups_are_shown_only_where_the_claim_is_of_them(tmp_path):
    (tmp_path / "pair.csv").write_text("outcome,p,q\nyes,0.6,0.4\nno,0.4,0.6\n")
    local = "theorem6:epsilon=0.5,batch=64,horizon=1e4"
    assert groups(subject("randomized-response:epsilon=1"))
    assert groups(subject(local)) == groups(subject(f"pmf:file={tmp_path / 'pair.csv'}")) == []


def test_of_different_neighbours_no_page_is_made():
    both = ("discrete-laplace:epsilon=1", "discrete-laplace:epsilon=1,neighbours=add-remove")
    with pytest.raises(ParameterError, match="neighbours"):
        make.report(subject(*both), [])
