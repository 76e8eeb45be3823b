"""`exactdp report`: pages of mechanisms, certificates and transcripts; exit codes; bad input."""

import sqlite3

import pytest
import yaml
from report_reading import Shown

from exactdp import Ledger
from exactdp.cli.main import main

pytestmark = pytest.mark.contract

LAPLACE = "discrete-laplace:epsilon=0.5"


@pytest.mark.slow
def test_a_page_and_a_record_are_written(tmp_path, capsys):
    page, entry = tmp_path / "page.html", tmp_path / "entry.yaml"
    claims = ("--claim", "pure:0.5", "--claim", "pure:0.4", "--delta", "1e-7")
    call = ["report", LAPLACE, *claims, "--out", str(page), "--record", str(entry)]
    assert main(call) == 1  # one is refuted
    shown = Shown(page.read_text(encoding="utf-8"))
    assert [line[1][0] for line in shown.tables["verdicts"][0][1:]] == ["VERIFIED", "REFUTED"]
    assert shown.tables["notions"][0][1][0][0] == "ε at δ = 1e-7"
    held = yaml.safe_load(entry.read_text(encoding="utf-8"))["deployment"]
    assert held["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    said = capsys.readouterr().out
    assert "pure:0.5 VERIFIED" in said and "pure:0.4 REFUTED" in said


def certificate(folder, claim="pure:0.5"):
    file = folder / "laplace.json"
    assert main(["audit", LAPLACE, "--claim", claim, "--certificate", str(file)]) == 0
    return file


def test_a_certificate_is_checked_and_shown(tmp_path):
    file, page = certificate(tmp_path), tmp_path / "page.html"
    assert main(["report", str(file), "--out", str(page)]) == 0
    shown = Shown(page.read_text(encoding="utf-8"))
    assert shown.facts["checked"][0][0] == "valid"
    (held,) = [each for each in shown.figures["sections"] if each["key"] == "certificates"]
    assert held["files"][0]["content"] == file.read_text(encoding="utf-8")


def test_a_false_certificate_is_shown_as_such(tmp_path):
    file, page = certificate(tmp_path), tmp_path / "page.html"
    file.write_text(file.read_text().replace('"epsilon": "0.5"', '"epsilon": "0.4"'))
    assert main(["report", str(file), "--out", str(page)]) == 1
    assert Shown(page.read_text(encoding="utf-8")).facts["checked"][0][0] == "not valid"


def test_a_transcript_is_checked_and_shown(tmp_path):
    file, page = tmp_path / "run.jsonl", tmp_path / "page.html"
    run = "bandit run --algorithm ldp-se --epsilon 1 --horizon 500 --runs 1 --arms 2"
    assert main([*run.split(), "--transcript", str(file)]) == 0
    assert main(["report", str(file), "--out", str(page)]) == 0
    shown = Shown(page.read_text(encoding="utf-8"))
    assert shown.facts["checked"][0][0] == "valid"
    lines = file.read_text().splitlines()
    assert len(shown.tables["batches"][0][1:]) >= 1
    file.write_text("\n".join([*lines[:1], lines[1].replace('"stays"', '"goes"'), *lines[2:]]))
    assert main(["report", str(file), "--out", str(page)]) == 1
    assert Shown(page.read_text(encoding="utf-8")).facts["checked"][0][0] == "not valid"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((LAPLACE,), "--out"),
        ((LAPLACE, "--out", "nowhere/page.html"), "--out"),
        ((LAPLACE, "--out", "."), "--out"),
        ((LAPLACE, "--out", "p.html", "--record", "nowhere/r.yaml"), "--record"),
        ((LAPLACE, "--out", "p.html", "--record", "p.html"), "--record"),
        ((LAPLACE, "--out", "p.html", "--claim", "pure:x"), "epsilon"),
        ((LAPLACE, "--out", "p.html", "--delta", "0"), "--delta"),
        ((LAPLACE, "--out", "p.html", "--delta", "1"), "--delta"),
        ((LAPLACE, "--out", "p.html", "--time", "-1"), "--time"),
        (("nothing:a=1", "--out", "p.html"), "nothing"),
        (("missing.jsonl", "--out", "p.html"), "missing.jsonl"),
        (("missing.json", "--out", "p.html"), "missing.json"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_written(
    arguments, named, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *arguments]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and named in said.err and said.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("besides", [(LAPLACE,), ("--claim", "pure:1"), ("--record", "r.yaml")])
def test_a_file_is_reported_by_itself(besides, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    file = certificate(tmp_path)
    assert main(["report", file.name, *besides, "--out", "page.html"]) == 2
    assert "a certificate is reported by itself" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", ["other.json", "other.jsonl"])
def test_a_file_that_is_neither_is_refused(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text('{"format": "exactdp certificate"}\n')
    assert main(["report", name, "--out", "page.html"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_a_ledger_is_checked_and_shown_without_names(tmp_path, capsys):
    url, page = str(tmp_path / "a.db"), tmp_path / "page.html"
    one = "discrete-gaussian:sigma2=100,sensitivity=1"
    with Ledger.create(url, "zcdp:0.1") as ledger:
        ledger.charge(f"{one}*20", ["ursula", "boris"], "1")
        ledger.charge(f"{one}*9", ["yves"], "2")
        ledger.reserve(one, ["yves", "zoltan"], "3").cancel()
    assert main(["report", "--ledger", url, "--out", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    shown = Shown(html)
    assert shown.facts["checked"][0][0] == "valid"
    assert shown.facts["checked"][2][0] in html
    assert shown.tables["limits"][0][1][3][1:] == ("0.1", "0.1")
    steps = [int(row[1][0]) for row in shown.tables["spent-0"][0][1:]]
    assert (steps[0], steps[9], steps[19], sum(steps)) == (1, 1, 2, 4)
    rows = [[cell[0] for cell in row] for row in shown.tables["charged"][0][1:]]
    assert rows == [[one, "cancelled", "2", "2"], [one, "charged", "3", "49"]]
    assert "<svg" in html
    assert not any(name in html for name in ("ursula", "boris", "yves", "zoltan"))
    with sqlite3.connect(url) as connection:
        connection.execute("UPDATE uses SET times = 2 WHERE charge = 1")
    capsys.readouterr()
    assert main(["report", "--ledger", url, "--out", str(page)]) == 1
    assert Shown(page.read_text(encoding="utf-8")).facts["checked"][0][0] == "not valid"
    for more in (["pure:1"], [LAPLACE], ["--delta", "1e-6"]):
        assert main(["report", *more, "--ledger", url, "--out", str(page)]) == 2
    assert main(["report", "--out", str(page)]) == 2
    assert main(["report", "--ledger", str(tmp_path / "none"), "--out", str(page)]) == 2


def test_a_page_has_a_title_an_owner_and_plain_words(tmp_path, capsys):
    out = tmp_path / "r.html"
    spec = "randomized-response:epsilon=1"
    named = ["--title", "Counts & more", "--owner", "An office", "--time", "20"]
    assert main(["report", spec, *named, "--out", str(out)]) == 0
    page = out.read_text()
    assert "<h1>Counts &amp; more</h1>" in page and "· An office ·" in page
    # 0.05 e = 0.1359 and 1 - 0.95/e = 0.6505; delta adds a millionth
    assert "notices the other one in at most 13.6 cases of 100." in page
    assert main(["report", spec, "--title", "", "--out", str(out)]) == 2
    assert "--title must be 1 to 200 printable characters" in capsys.readouterr().err
