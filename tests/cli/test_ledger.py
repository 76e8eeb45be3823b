"""`exactdp ledger`: what it prints, and its exit codes."""

import csv
import io
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from commands import refused

from exactdp.cli.main import main

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"
FOURTH = "discrete-gaussian:sigma2=20,sensitivity=1"  # of a limit of zcdp:0.1


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with nothing in it, made once."""
    path = tmp_path_factory.mktemp("new") / "a.db"
    assert main(["ledger", "init", str(path), "--limit", "zcdp:0.1"]) == 0
    return path


@pytest.fixture
def url(new: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    return shutil.copy(new, str(tmp_path / "a.db"))


def called(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["ledger", *words])
    return code, *capsys.readouterr()


def _dumped(url: str) -> list[str]:
    """All that is in the database, as statements."""
    with sqlite3.connect(url) as connection:
        return list(connection.iterdump())


@pytest.mark.contract
def test_uses_fit_to_the_limit_and_the_next_is_refused(url, capsys) -> None:
    for number in range(4):
        words = ("charge", url, FOURTH, "--user", "ada", "--key", f"k{number}")
        assert called(capsys, *words) == (0, f"recorded: key k{number}, 1 users\n", "")
    code, out, err = called(capsys, "charge", url, FOURTH, "--user", "ada", "--key", "k4", "--json")
    assert code == 1
    assert json.loads(out)["refused"] == {
        "user": "ada",
        "limit": "limit (zcdp:0.1)",
        "left": {"lower": "0", "upper": "0"},
        "fits": 0,
    }
    assert err.startswith("exactdp: refused: user 'ada' would exceed the limit")
    assert err.count("\n") == 1
    code, out, _ = called(capsys, "show", url, "--user", "ada", "--json")
    shown = json.loads(out)
    assert (code, shown["limit"], len(shown["entries"])) == (0, "zcdp:0.1", 4)
    assert shown["spent"] == {"lower": "0.1", "upper": "0.1"}
    assert shown["left"] == {"lower": "0", "upper": "0"}
    first = shown["entries"][0]
    assert {name: first[name] for name in ("key", "user", "mechanism", "times", "cost")} == {
        "key": "k0",
        "user": "ada",
        "mechanism": FOURTH,
        "times": 1,
        "cost": {"lower": "0.025", "upper": "0.025"},
    }
    assert len(first["hash"]) == 64
    assert first["at"].endswith("Z")
    assert called(capsys, "check", url)[0] == 0


@pytest.mark.contract
def test_a_group_is_charged_or_nobody(url, capsys, tmp_path) -> None:
    (tmp_path / "users").write_text("bob\n\neve\n")
    words = ("charge", url, f"{ONE}*15", "--key", "1", "--user")
    more = ("--users-from", str(tmp_path / "users"))
    assert called(capsys, *words, "ada", *more)[:2] == (0, "recorded: key 1, 3 users\n")
    words = ("charge", url, f"{ONE}*6", "--key", "2", "--user", "new", "--user")
    code, _, err = called(capsys, *words, "bob")
    assert (code, "'bob'" in err, "left 0.025" in err, "fits is 5" in err) == (1, *(True,) * 3)
    shown = json.loads(called(capsys, "show", url, "--json")[1])
    assert [each["user"] for each in shown["users"]] == ["ada", "bob", "eve"]
    assert shown["left"] == {"lower": "0.025", "upper": "0.025"}


@pytest.mark.contract
def test_a_key_is_charged_once(url, capsys) -> None:
    words = ["charge", url, ONE, "--user", "ada", "--key", "k"]
    assert called(capsys, *words)[0] == 0
    before = Path(url).read_bytes(), called(capsys, "export", url)
    assert called(capsys, *words)[:2] == (0, "recorded already: key k, 1 users\n")
    code, out, err = called(capsys, "charge", url, f"{ONE}*2", "--user", "ada", "--key", "k")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "another charge" in err
    assert before[1] == called(capsys, "export", url)


@pytest.mark.contract
def test_reserved_settled_and_cancelled(url, capsys) -> None:
    for key in ("1", "2", "3"):
        words = ("charge", url, ONE, "--user", "ada", "--key", key, "--reserve")
        assert called(capsys, *words)[0] == 0
        assert called(capsys, *words)[0] == 2  # its permit is given once
    assert called(capsys, "settle", url, "--key", "1")[0] == 0
    assert called(capsys, "cancel", url, "--key", "2")[0] == 0
    assert called(capsys, "cancel", url, "--key", "1")[0] == 2
    assert called(capsys, "settle", url, "--key", "none")[0] == 2
    code, out, _ = called(capsys, "export", url, "--format", "json")
    assert code == 0
    assert [each["state"] for each in json.loads(out)] == ["settled", "cancelled", "reserved"]
    rows = list(csv.DictReader(io.StringIO(called(capsys, "export", url)[1])))
    assert [row["state"] for row in rows] == ["settled", "cancelled", "reserved"]
    assert json.loads(rows[0]["cost"]) == {"lower": "0.005", "upper": "0.005"}
    assert "0.01" in called(capsys, "show", url)[1]


@pytest.mark.contract
def test_an_empty_ledger_is_shown(url, capsys) -> None:
    shown = json.loads(called(capsys, "show", url, "--json")[1])
    assert (shown["users"], shown["entries"]) == ([], [])
    assert shown["spent"] == {"lower": "0", "upper": "0"}
    assert shown["left"] == {"lower": "0.1", "upper": "0.1"}
    assert called(capsys, "export", url, "--format", "json")[1] == "[]\n"
    assert called(capsys, "show", url)[0] == 0


@pytest.mark.contract
def test_check_takes_ledgers_as_it_takes_certificates(url, capsys) -> None:
    def check(*words: str) -> tuple[int, str, str]:
        return main(["check", *words]), *capsys.readouterr()

    called(capsys, "charge", url, ONE, "--user", "ada", "--key", "1")
    code, out, _ = check(url, "--json")
    found = json.loads(out)
    assert (code, found["valid"], found["rows"]) == (0, True, 2)
    called(capsys, "charge", url, ONE, "--user", "ada", "--key", "2")
    code, out, _ = check(url, "--head", found["head"].upper())
    assert code == 0 and out.startswith("valid: ") and "  head: " in out
    code, out, _ = check(url, "--head", "0" * 64)
    assert code == 1 and out.startswith("not valid: ")
    code, out, _ = check(url, url)
    assert code == 0 and [line for line in out.splitlines() if line.startswith(f"{url}: valid")]
    with sqlite3.connect(url) as connection:
        connection.execute("UPDATE uses SET times = 2 WHERE charge = 1")
    assert check(url)[0] == 1


@pytest.mark.contract
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--claim", "zcdp:1"], "are not of ledgers"),
        (["--neighbours", "replace"], "are not of ledgers"),
        (["--head", "0"], "--head must be 64 hexadecimal digits"),
    ],
)
def test_check_refuses_what_is_not_of_ledgers(url, capsys, words, told) -> None:
    refused(capsys, ["check", url, *words], told)


@pytest.mark.contract
def test_check_hides_the_password_of_a_url(capsys) -> None:
    url = "postgresql://ada:secret@localhost:1/none"
    assert main(["check", url, "--time", "20"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1) and "secret" not in err


@pytest.mark.contract
def test_the_check_says_where_it_breaks(url, capsys) -> None:
    for key in "12":
        called(capsys, "charge", url, ONE, "--user", "ada", "--key", key)
    kept = json.loads(called(capsys, "check", url, "--json")[1])["head"]
    called(capsys, "charge", url, ONE, "--user", "ada", "--key", "3")
    assert called(capsys, "check", url, "--head", kept)[0] == 0
    assert called(capsys, "check", url, "--head", "0" * 64)[0] == 1
    with sqlite3.connect(url) as connection:
        connection.execute("UPDATE uses SET times = 2 WHERE charge = 2")
    code, out, _ = called(capsys, "check", url)
    assert code == 1
    assert "row 2 (key '2'): its hash is not that of what it says" in out
    with sqlite3.connect(url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'other'")
    assert called(capsys, "check", url)[0] == 1
    code, out, err = called(capsys, "show", url)
    assert (code, out, "revision 'other'" in err) == (2, "", True)


ENDLESS = [
    "UPDATE balances SET spent = '1e1000000000'",
    "UPDATE balances SET spent = '1/1' || printf('%.*c', 1000000, '0')",
    "UPDATE balances SET spent = 1e308",
    "UPDATE balances SET spent = x'00ff'",
    "UPDATE uses SET costs = '[[\"1e1000000000\"]]'",
    "UPDATE uses SET costs = printf('%.*c', 1000000, '[')",
    "UPDATE uses SET times = 0.5",
    "UPDATE uses SET mechanism = 1",
    "UPDATE charges SET at = 'x'",
    "UPDATE charges SET hash = x'00'",
    "UPDATE users SET name = x'00'",
    "UPDATE limits SET claim = 'zcdp:1e1000000000'",
    "UPDATE limits SET levels = 'rho:1e1000000000'",
    "UPDATE limits SET levels = 1",
    "UPDATE limits SET days = 1e300",
    "UPDATE limits SET claim = 'zcdp:9'",
    "UPDATE head SET at = '6026-01-01T00:00:00.000000Z'",
    "UPDATE head SET at = 'x'",
    "UPDATE head SET charges = 1e300",
    "UPDATE head SET charges = 'x'",
    "UPDATE head SET users = -1",
    "UPDATE head SET users = 7",
    "UPDATE head SET neighbours = 'x'",
    "UPDATE head SET hash = 7",
    "DELETE FROM head",
]


@pytest.mark.quick_cases(10)
@pytest.mark.contract
@pytest.mark.parametrize("change", ENDLESS)
def test_what_nobody_wrote_is_told_at_once(change, url, capsys) -> None:
    called(capsys, "charge", url, ONE, "--user", "ada", "--key", "1")
    called(capsys, "charge", url, ONE, "--user", "ada", "--key", "2", "--reserve")
    with sqlite3.connect(url) as connection:
        connection.execute(change)
    before = _dumped(url)
    code, out, _ = called(capsys, "check", url)
    assert (code, out.startswith("not valid")) == (1, True)
    if "head" in change or "balances" in change or "limits" in change:
        code, out, err = called(capsys, "charge", url, ONE, "--user", "ada", "--key", "3")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert _dumped(url) == before
    more = ("charge", ONE, "--user", "ada", "--key"), ("show",), ("export",), ("cancel", "--key")
    for name, *words in more:
        code, out, err = called(capsys, name, url, *words, *(["2"] if "--key" in words else []))
        assert code in (0, 2) and err.count("\n") == (code == 2), (name, err)


@pytest.mark.contract
def test_costs_are_proved_by_the_checker_of_certificates(url, capsys) -> None:
    called(capsys, "charge", url, f"{ONE}*3", "--user", "ada", "--key", "1")
    called(capsys, "charge", url, "gaussian:sigma=10", "--user", "ada", "--key", "2")
    assert called(capsys, "check", url, "--prove", "10")[0] == 0
    batches = "laplace:scale=30,sensitivity=1,fixed-size=1/10"  # there are no certificates of it
    assert called(capsys, "charge", url, batches, "--user", "ada", "--key", "3")[0] == 0
    assert called(capsys, "check", url)[0] == 0
    code, out, _ = called(capsys, "check", url, "--prove", "1", "--json")
    found = json.loads(out)
    assert (code, found["valid"], len(found["unproved"])) == (3, True, 1)
    assert found["unproved"][0].startswith(f"{batches} rho: ")


@pytest.mark.contract
def test_migrations_go_back_and_forward(url, capsys) -> None:
    called(capsys, "charge", url, ONE, "--user", "ada", "--key", "1")
    before = called(capsys, "export", url)
    assert called(capsys, "migrate", url, "--to", "0001")[0] == 0
    assert called(capsys, "charge", url, ONE, "--user", "ada", "--key", "2")[0] == 2
    assert called(capsys, "migrate", url)[0] == 0
    assert called(capsys, "export", url) == before
    assert called(capsys, "check", url)[0] == 0


@pytest.mark.contract
@pytest.mark.parametrize(
    "words",
    [
        "init NEW --limit zcdp",
        "init NEW --limit zcdp:-1",
        "init NEW",
        "init NEW --limit zcdp:1 --limit zcdp:1",
        "init NEW --limit zcdp:1 --days 0",
        "init none/NEW --limit zcdp:1",
        "init URL --limit zcdp:1",
        "init mysql://host/name --limit zcdp:1",
        "charge NEW SPEC --user ada --key k",
        "charge URL SPEC --key k",
        "charge URL SPEC --user ada",
        "charge URL nothing:a=1 --user ada --key k",
        "charge URL SPEC*0 --user ada --key k",
        "charge URL SPEC --user ada --user ada --key k",
        "charge URL SPEC --user ada --key k --users-from none",
        "charge URL SPEC --user ada --key k --certificate none",
        "charge URL SPEC --user ada --key k --wait x",
        "charge URL SPEC --user ada --key",
        "show NEW",
        "check NEW",
        "check .",
        "export URL --format xml",
        "migrate URL --to 9",
        "settle URL --key none",
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(words, url, capsys, tmp_path) -> None:
    before = _dumped(url)
    named = {"NEW": str(tmp_path / "new.db"), "URL": url, "SPEC": ONE}
    given = [named.get(word, word.replace("SPEC", ONE)) for word in words.split()]
    code, out, err = called(capsys, *given)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert _dumped(url) == before
    assert not (tmp_path / "new.db").exists()


def test_nothing_is_drawn_without_a_permit(url, capsys, monkeypatch) -> None:
    def sample(*more: str) -> tuple[int, str, str]:
        code = main(["sample", ONE, *more, "--ledger", url])
        return code, *capsys.readouterr()

    whose = ("--user", "ada", "--key")
    code, out, _ = sample("--size", "15", *whose, "1")
    assert (code, out.count("\n")) == (0, 15)
    from exactdp.mechanisms.samplers import SystemBits

    drawn = []
    monkeypatch.setattr(SystemBits, "__init__", lambda self: drawn.append(self))
    code, out, err = sample("--size", "6", *whose, "2")
    assert (code, out, "fits is 5" in err) == (1, "", True)
    code, out, err = sample("--size", "15", *whose, "1")  # its key has had its permit
    assert (code, out, "new key" in err) == (2, "", True)
    for more in (("--user", "ada"), ("--key", "3"), ("--seed", "1", *whose, "3")):
        assert sample("--size", "1", *more)[:2] == (2, "")
    assert sample("--size", "0", *whose, "3")[:2] == (2, "")
    assert drawn == []
    assert main(["sample", ONE, "--size", "1", "--user", "ada"]) == 2
    capsys.readouterr()
    exported = json.loads(called(capsys, "export", url, "--format", "json")[1])
    assert [(each["key"], each["times"], each["state"]) for each in exported] == [
        ("1", 15, "settled")
    ]


@pytest.mark.contract
def test_no_cell_of_a_table_is_a_formula(url, capsys) -> None:
    names = ["=1+1", "+1", "-1", "@SUM(1)", "=cmd|' /C calc'!A0", "a=1", '"=1"', "'=1"]
    users = [word for name in names for word in ("--user", name)]
    words = ("charge", url, ONE, *users, "--key", "\uff1d1", "--project=-1")
    assert called(capsys, *words)[0] == 0
    rows = list(csv.DictReader(io.StringIO(called(capsys, "export", url)[1])))
    cells = {cell for row in rows for cell in row.values()}
    assert not any(cell.startswith(("=", "+", "-", "@", "\uff1d")) for cell in cells)
    assert {row["user"].removeprefix("'") for row in rows} == {*names, "=1"} - {"'=1"}
    exact = json.loads(called(capsys, "export", url, "--format", "json")[1])
    assert {each["user"] for each in exact} == set(names)
    assert {(each["key"], each["project"]) for each in exact} == {("\uff1d1", "-1")}


@pytest.mark.contract
def test_a_plan_fixes_all_uses(tmp_path, capsys) -> None:
    url, uses = str(tmp_path / "a.db"), tmp_path / "uses.txt"
    uses.write_text(
        "# a study\nrandomized-response:epsilon=0.1*10\nbinomial:trials=62,probability=1/2*1\n"
    )
    words = ("init", url, "--limit", "approx:2,1e-4", "--plan", f"@{uses}")
    code, out, err = called(capsys, *words)
    assert (code, err) == (0, "") and "approx:2,0.0001 by its plan" in out
    charge = ("charge", url, "--user", "ada", "--key")
    assert called(capsys, *charge, "1", "randomized-response:epsilon=0.1*9")[0] == 0
    code, out, err = called(capsys, *charge, "2", "randomized-response:epsilon=0.1*2")
    assert code == 1 and "still fits is 1" in err
    assert called(capsys, "check", url)[0] == 0
    for limits in (("zcdp:1",), ("approx:2,1e-4", "approx:3,1e-4")):
        given = [word for each in limits for word in ("--limit", each)]
        code, out, err = called(capsys, "init", f"{url}2", *given, "--plan", f"@{uses}")
        assert code == 2 and "--plan" in err and err.count("\n") == 1
    code, out, err = called(
        capsys,
        "init",
        f"{url}2",
        "--limit",
        "approx:0.1,1e-4",
        "--plan",
        "binomial:trials=62,probability=1/2",
    )
    assert code == 2 and "REFUTED" in err and not (tmp_path / "a.db2").exists()


@pytest.mark.contract
def test_another_table_by_the_same_path_is_another_charge(
    url, tmp_path, capsys, monkeypatch
) -> None:
    table = tmp_path / "table.csv"
    words = ("charge", url, f"local:file={table}", "--user", "ada", "--key", "k")
    table.write_text(",x,y\na,3/5,2/5\nb,2/5,3/5\n")
    assert called(capsys, *words) == (0, "recorded: key k, 1 users\n", "")
    assert called(capsys, *words) == (0, "recorded already: key k, 1 users\n", "")
    table.write_text(",x,y\na,0.51,0.49\nb,0.49,0.51\n")
    code, _, err = called(capsys, *words)
    assert code == 2
    assert "another mechanism" in err
    table.unlink()
    monkeypatch.chdir(tmp_path.parent)
    assert called(capsys, "check", url)[0] == 0


@pytest.mark.contract
def test_what_is_sampled_is_what_is_charged(url, tmp_path, capsys) -> None:
    """A file whose name ends like a count of releases."""
    file, other = tmp_path / "t.csv*3", tmp_path / "t.csv"
    file.write_text("outcome,p,q\nyes,1,1\n")
    other.write_text("outcome,p,q\nno,1,1\n")
    words = ["--ledger", url, "--user", "ada", "--key", "k"]
    assert main(["sample", f"pmf:file={file}", "--size", "2", *words]) == 0
    assert capsys.readouterr().out == "yes\nyes\n"
    [entry] = json.loads(called(capsys, "export", url, "--format", "json")[1])
    assert '"yes"' in entry["mechanism"]
    assert entry["times"] == 2


@pytest.mark.contract
@pytest.mark.parametrize("form", ["table", "csv", "html", "json"])
def test_what_acts_on_a_terminal_is_shown_by_its_escape(form, url, capsys) -> None:
    """Names of a ledger that somebody else has written."""
    assert called(capsys, "charge", url, ONE, "--user", "ada", "--key", "k")[0] == 0
    with sqlite3.connect(url) as connection:
        connection.execute("UPDATE users SET name = ?", ("eve\u202eada\x1b[31m",))
    connection.close()
    said = [called(capsys, "show", url, "--format", form), called(capsys, "export", url)]
    for code, out, err in said:
        assert code == 0
        assert err == ""
        assert "\\u202e" in out
        assert not {"\u202e", "\x1b"} & set(out)


def test_every_limit_is_shown_and_which_binds(tmp_path, capsys):
    url = f"{tmp_path}/a.db"
    assert main(["ledger", "init", url, "--limit", "pure:1", "--limit", "zcdp:0.001"]) == 0
    charge = ["discrete-laplace:epsilon=0.04", "--user", "ada", "--key", "one"]
    assert main(["ledger", "charge", url, *charge]) == 0
    capsys.readouterr()
    assert main(["ledger", "show", url]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line[:5] == " ada "]
    assert rows[0] == ["ada", "pure:1", "0.04", "0.96"]
    assert rows[1][1] == "zcdp:0.001" and rows[1][-1] == "binds"
