"""URLs: read, never dropped in part, and never shown with a password."""

import pytest

from exactdp import Ledger, ParameterError
from exactdp.cli.main import main
from exactdp.ledger import UnavailableError
from exactdp.ledger.address import read_address, shown

PASSWORD = "s3cret-p@ss:w/rd"
SECRET = [
    f"postgresql://ada:{PASSWORD}@host:5432/spent",
    f"postgresql://ada:{PASSWORD}@host/spent?sslmode=require",
    f"postgresql://:{PASSWORD}@host/spent",
    f"postgresql://ada:{PASSWORD[:11]}@127.0.0.1:1/spent",
    f"postgresql+psycopg2://ada:{PASSWORD}@[::1]/spent",
    f"postgresql://ada@host/spent?password={PASSWORD}",
    f"postgresql://ada@host/spent?sslmode=require&sslPassword={PASSWORD}&x=1",
    f"postgres://ada:{PASSWORD}@host:port/spent",
    f"postgresql:/ada:{PASSWORD}@host/spent",
    f"mysql://ada:{PASSWORD}@host/spent",
    f"postgresql://{'a' * 90}:{PASSWORD}@host/spent",
]


@pytest.mark.parametrize("url", SECRET)
def test_passwords_are_not_shown(url, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    secrets = PASSWORD[:6], "ss:w", "ss@1"
    assert not any(part in shown(url) for part in secrets)
    limit = ["--limit", "zcdp:1"]
    charge = ["randomized-response:epsilon=1", "--user", "ada", "--key", "k"]
    calls = [["init", *limit], ["show"], ["migrate"], ["check"], ["export"], ["charge", *charge]]
    for name, *more in calls:
        assert main(["ledger", name, url, *more, "--wait", "0"]) == 2
        said = "".join(capsys.readouterr())
        assert not any(part in said for part in secrets) and said.count("\n") == 1
    assert main(["report", "--ledger", url, "--out", "a.html"]) == 2
    said = "".join(capsys.readouterr())
    assert not any(part in said for part in secrets)


def test_what_has_none_is_shown_as_it_is() -> None:
    for url in ("spent.db", "a:b@c.db", "/tmp/a?password=x", "postgresql://ada@host/spent"):
        assert shown(url) == url
    assert len(shown("x" * 10_000)) < 200


@pytest.mark.contract
@pytest.mark.parametrize(
    "url", ["sqlite:///a.db?mode=ro", "sqlite://host/a.db", "sqlite://", "postgresql:/x://"]
)
def test_what_would_be_dropped_is_refused(url, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="URL"):
        Ledger.create(url, "zcdp:1")
    assert list(tmp_path.iterdir()) == []


def test_sqlite_is_a_path(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_address("sqlite:///a.db").database == str(tmp_path / "a.db")
    assert read_address("a?b.db").database == str(tmp_path / "a?b.db")


def test_options_of_a_url_hold(postgresql, capsys) -> None:
    """A schema of its own, and two ledgers in one database; what we need ourselves stays ours."""
    import psycopg

    url = postgresql.url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA own")
    other = f"{url}&options=-csearch_path%3Down%20-csynchronous_commit%3Doff&connect_timeout=7"
    with Ledger.create(url, "zcdp:1") as one, Ledger.create(other, "zcdp:2") as two:
        one.charge("randomized-response:epsilon=1", "ada", "1")
        assert two.balances() == []
        with two._database.read() as connection:
            for name, value in (("search_path", "own"), ("synchronous_commit", "on")):
                assert connection.exec_driver_sql(f"SHOW {name}").scalar_one() == value
        assert one.check().valid and two.check().valid
    assert main(["ledger", "check", other]) == 0
    with pytest.raises(UnavailableError, match="nosuch"):
        Ledger.open(f"{url}&options=-cnosuch.thing.%3D1")


@pytest.mark.contract
def test_a_password_in_a_message_of_the_server_is_hidden(postgresql, capsys) -> None:
    url = postgresql.url().replace(
        "tests@", f"nobody:{PASSWORD.replace('@', '%40').replace('/', '%2F')}@"
    )
    assert main(["ledger", "show", url, "--wait", "1"]) == 2
    error = capsys.readouterr().err
    assert "nobody" in error and "s3cret" not in error
    Ledger.create(url.replace("nobody:", "tests:"), "zcdp:1").close()
    for name in ("show", "migrate"):
        assert main(["ledger", name, url.replace("nobody:", "tests:")]) == 0
        said = capsys.readouterr().out
        assert "***" in said and "s3cret" not in said


@pytest.mark.contract
def test_a_path_may_begin_with_two_slashes(tmp_path, capsys) -> None:
    for url in (f"/{tmp_path}/a.db", f"sqlite:////{tmp_path}/b.db"):
        assert main(["ledger", "init", url, "--limit", "zcdp:1"]) == 0
        charge = ["randomized-response:epsilon=1", "--user", "ada", "--key", "k"]
        assert main(["ledger", "charge", url, *charge]) == 0
        assert main(["ledger", "check", url]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"a.db", "b.db"} <= names
