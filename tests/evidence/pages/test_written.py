"""Pages and pictures are written as a whole, by name; commands say where they went."""

import pytest
from pages import __main__ as written
from pages import claims

from exactdp.cli.main import main


def test_those_named_are_written_and_nothing_else(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(written, "PAGES", {"a.md": lambda: "# A", "a.svg": lambda: "<svg/>"})
    (tmp_path / "a.md").write_text("old")
    written.main(["a.md", "--out", str(tmp_path)])
    assert (tmp_path / "a.md").read_text() == "# A"
    assert [each.name for each in tmp_path.iterdir()] == ["a.md"]
    written.main(["--out", str(tmp_path)])
    assert (tmp_path / "a.svg").read_text() == "<svg/>"
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(["b.md"], SystemExit), (["claims.md", "--out", "/no/such/folder"], OSError)],
)
def test_what_cannot_be_written(monkeypatch, arguments, error):
    monkeypatch.setattr(written, "PAGES", {"claims.md": lambda: ""})
    with pytest.raises(error):
        written.main(arguments)


def test_the_page_of_claims():
    row = {"id": "D-a", "source": "Here", "statement": "a | b", "verdict": "HOLDS"}
    row |= {"scope": "proved", "correction": None, "evidence": {"x": 1}}
    corrected = row | {"id": "D-b.1", "verdict": "HOLDS_CORRECTED", "correction": "take x > 1"}
    undecided = row | {"id": "S-c", "verdict": "UNDECIDED", "scope": None}
    text = claims.text([row, corrected, undecided])
    assert "3 statements: 1 HOLDS, 1 HOLDS_CORRECTED, 1 UNDECIDED." in text
    assert "### D-b.1" in text and "**Correction:** take x > 1" in text
    assert "| [D-a](#d-a) | HOLDS | proved | a \\| b |" in text
    assert "**UNDECIDED** (open)\n\n- x: 1\n" in text


@pytest.mark.contract
@pytest.mark.parametrize("option", ["--markdown", "--figure"])
@pytest.mark.parametrize(
    "call",
    (
        *("claims", "claims D-thm5", "bugs", "deployments", "compose", "protocol"),
        *("compose gaussian:sigma=1 --json", "protocol federated"),
        "protocol theorem1:epsilon=1,batch=4,horizon=10",
    ),
)
def test_the_commands_say_where_the_pages_went(call, option, tmp_path, capsys):
    place = tmp_path / "page.md"
    for words in ([option, str(place)], [f"{option}={place}"]):
        assert main([*call.split(), *words]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert option in err and "make pages" in err
    assert [*tmp_path.iterdir()] == []
