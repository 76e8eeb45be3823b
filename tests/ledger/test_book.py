"""What a ledger accepts, refuses and remembers, on both databases."""

import os
import resource
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, cast

import pytest

import exactdp
from exactdp import Ledger
from exactdp.ledger import (
    KeyConflictError,
    Limit,
    RefusedError,
    StateError,
    UnavailableError,
    UnknownKeyError,
    UsedKeyError,
    rows,
)
from exactdp.ledger.head import locked_head

ONE = "discrete-gaussian:sigma2=100,sensitivity=1"  # rho is exactly 1/200


@pytest.mark.slow_cases("postgresql")
def test_a_limit_that_is_met_exactly_is_met_and_not_a_unit_more(url: str) -> None:
    with Ledger.create(url, "zcdp:0.1") as ledger:
        for number in range(20):
            assert ledger.charge(ONE, "ada", f"release {number}").new
        balance = ledger.balance("ada")
        assert balance.charged == (Fraction(1, 10),)
        assert (balance.spent.upper, balance.left.lower) == (Fraction(1, 10), 0)
        with pytest.raises(RefusedError, match=r"user 'ada'.*left 0; .* fits is 0") as refused:
            ledger.charge(ONE, "ada", "one too many")
        assert (refused.value.user, refused.value.fits) == ("ada", 0)
        assert len(list(ledger.entries())) == 20
        assert ledger.check().valid


def test_a_refusal_says_how_many_uses_fit_and_they_do(url: str) -> None:
    with Ledger.create(url, "zcdp:0.1") as ledger:
        ledger.charge(f"{ONE}*7", ["ada", "bob"], "first")
        ledger.charge(f"{ONE}*3", ["bob"], "second")
        with pytest.raises(RefusedError) as refused:
            ledger.charge(f"{ONE}*11", ["ada", "bob", "eve"], "too much")
        assert (refused.value.user, refused.value.fits, refused.value.refused) == ("bob", 10, 1)
        assert refused.value.left.upper == Fraction(1, 20)
        assert [balance.user for balance in ledger.balances()] == ["ada", "bob"]  # eve: nothing
        ledger.charge(f"{ONE}*10", ["ada", "bob", "eve"], "what fits")
        assert ledger.balance("bob").left.upper == 0
        assert ledger.check().valid


def test_a_refusal_names_who_has_least_left(tmp_path) -> None:
    """As often fits the charge for both; a little less is left to the second."""
    with Ledger.create(str(tmp_path / "a.db"), "pure:2") as ledger:
        ledger.charge("randomized-response:epsilon=1e-400", "bob", "little")
        ledger.charge("randomized-response:epsilon=1/2*3", ["ada", "bob"], "much")
        with pytest.raises(RefusedError) as refused:
            ledger.charge("randomized-response:epsilon=1/3*2", ["ada", "bob"], "more")
        assert (refused.value.user, refused.value.fits) == ("bob", 1)
        assert refused.value.left.upper == Fraction(1, 2) - Fraction(1, 10**400)


@pytest.mark.parametrize("order", [1, -1])
def test_a_refusal_names_the_limit_of_which_least_fits(tmp_path, order) -> None:
    """Two limits are exceeded by one user, one of them by another; one day's by nobody."""
    limits = [Limit.of("zcdp:0.1", "tight"), Limit.of("zcdp:0.2", "wide"), Limit.of("zcdp:9")]
    with Ledger.create(str(tmp_path / "a.db"), limits[::order]) as ledger:
        ledger.charge(f"{ONE}*15", "zoe", "first")
        ledger.charge(f"{ONE}*4", "ada", "second")
        with pytest.raises(RefusedError) as refused:
            ledger.charge(f"{ONE}*37", ["ada", "eve", "zoe"], "third")
        found = refused.value
        assert (found.user, found.limit, found.fits) == ("zoe", "tight (zcdp:0.1)", 5)
        assert (found.left.lower, found.left.upper) == (Fraction(1, 40),) * 2
        assert found.refused == 3
        with pytest.raises(RefusedError) as refused:
            ledger.charge(f"{ONE}*37", "ada", "fourth")
        assert (refused.value.limit, refused.value.fits) == ("tight (zcdp:0.1)", 16)
        ledger.charge(f"{ONE}*5", ["ada", "eve", "zoe"], "what fits")
        assert ledger.check().valid


def test_a_key_is_charged_once(url: str) -> None:
    with Ledger.create(url, "pure:1") as ledger:
        first = ledger.charge("randomized-response:epsilon=0.5", ["ada", "bob"], "k")
        again = ledger.charge("randomized-response:epsilon=1/2", ["bob", "ada"], "k")
        assert (first.new, again.new, again.hash, again.at) == (True, False, first.hash, first.at)
        assert ledger.balance("ada").charged == (Fraction(1, 2),)
        for released, users in [
            ("randomized-response:epsilon=0.4", ["ada", "bob"]),
            ("randomized-response:epsilon=0.5*2", ["ada", "bob"]),
            ("randomized-response:epsilon=0.5", ["ada"]),
            ("randomized-response:epsilon=0.5", ["ada", "bob", "eve"]),
        ]:
            with pytest.raises(KeyConflictError, match="'k' is of another charge"):
                ledger.charge(released, users, "k")
        with pytest.raises(KeyConflictError, match="action"):
            ledger.reserve("randomized-response:epsilon=0.5", ["ada", "bob"], "k")
        assert len(list(ledger.entries())) == 2
        assert ledger.check().valid


def test_a_reservation_counts_until_it_is_cancelled(url: str) -> None:
    with Ledger.create(url, "pure:1") as ledger:
        permit = ledger.reserve("randomized-response:epsilon=1", "ada", "k")
        assert ledger.balance("ada").left.upper == 0
        with pytest.raises(RefusedError):
            ledger.charge("randomized-response:epsilon=0.1", "ada", "other")
        permit.cancel()
        permit.cancel()
        assert ledger.balance("ada").spent.upper == 0
        with pytest.raises(StateError, match="cancelled"):
            permit.settle()
        with pytest.raises(UsedKeyError):
            ledger.reserve("randomized-response:epsilon=1", "ada", "k")
        ledger.charge("randomized-response:epsilon=1", "ada", "other")
        assert [entry.state for entry in ledger.entries()] == ["cancelled", "charged"]
        assert ledger.check().valid


def test_a_permit_is_given_once_and_its_fate_counts_as_spent(url: str) -> None:
    with Ledger.create(url, "pure:1") as ledger:
        with ledger.permit("randomized-response:epsilon=0.25", "ada", "good"):
            assert ledger.balance("ada").charged == (Fraction(1, 4),)
        with (
            pytest.raises(ZeroDivisionError),
            ledger.permit("randomized-response:epsilon=0.25", "ada", "bad"),
        ):
            _ = 1 / 0
        with ledger.permit("randomized-response:epsilon=0.25", "ada", "not after all") as permit:
            permit.cancel()
        assert [entry.state for entry in ledger.entries()] == ["settled", "reserved", "cancelled"]
        assert ledger.balance("ada").charged == (Fraction(1, 2),)
        for key in ("good", "bad", "not after all"):
            with pytest.raises(UsedKeyError, match="take a new key"):
                ledger.reserve("randomized-response:epsilon=0.25", "ada", key)
        with pytest.raises(StateError, match="settled"):
            ledger.cancel("good")
        with pytest.raises(UnknownKeyError, match="no charge with the key 'none'"):
            ledger.settle("none")
        ledger.charge("randomized-response:epsilon=0.1", "ada", "charge")
        ledger.settle("charge")
        with pytest.raises(StateError, match="charged"):
            ledger.cancel("charge")
        assert ledger.check().valid


@pytest.mark.parametrize("most", [50, pytest.param(5_000, marks=pytest.mark.slow)])
def test_all_of_a_group_is_charged_or_nobody(
    url: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_MANY", most)
    users = [f"user {number}" for number in range(6 * most // 5)]  # more than one statement takes
    late = f"user {most}"
    with Ledger.create(url, "pure:1") as ledger:
        ledger.charge("randomized-response:epsilon=0.5", late, "before")
        ledger.charge("randomized-response:epsilon=0.5", users, "all")
        with pytest.raises(RefusedError, match=f"'{late}'") as refused:
            ledger.charge("randomized-response:epsilon=0.5", users, "again")
        assert refused.value.refused == 1
        assert {balance.charged for balance in ledger.balances(users[:5])} == {(Fraction(1, 2),)}
        assert ledger.check().valid


def test_subnormal_and_huge_spends_are_exact(url: str) -> None:
    tiny = Fraction(1, 10**400)
    with Ledger.create(url, [Limit.of("pure:1e-399", "tiny"), Limit.of("pure:2e6", "huge")]) as it:
        for number in range(10):
            it.charge("randomized-response:epsilon=1e-400", "ada", f"{number}")
        assert it.balance("ada", "tiny").charged == (10 * tiny,)
        assert it.balance("ada", "huge").charged == (10 * tiny,)
        with pytest.raises(RefusedError, match="tiny"):
            it.charge("randomized-response:epsilon=1e-400", "ada", "more")
        with pytest.raises(RefusedError):
            it.charge("randomized-response:epsilon=10000*1000000000", "bob", "huge")
        with pytest.raises(RefusedError):  # infinitely much
            it.charge("randomized-response:epsilon=1,delta=0.1", "bob", "infinite")
        assert it.check().valid


@pytest.mark.contract
def test_costs_that_are_not_rational_are_rounded_up(url: str) -> None:
    one = "skellam:variance=100,sensitivity=1"
    rho = exactdp.mechanism(one).zcdp()
    with Ledger.create(url, "zcdp:1") as ledger:
        ledger.charge(f"{one}*3", "ada", "k")
        [entry] = ledger.entries()
        [(charged,)] = [balance.charged for balance in ledger.balances()]
        assert charged is not None
        assert 3 * Fraction(rho.lower) <= charged < 3 * (Fraction(rho.upper) + Fraction(1, 2**64))
        assert (charged * 2**64).denominator == 1
        assert entry.costs[0]["rho"].upper == charged
        assert ledger.balance("ada").spent.lower <= 3 * Fraction(rho.upper)
        assert ledger.check().valid


def test_several_limits_must_all_hold(url: str) -> None:
    limits = [
        Limit.of("zcdp:1", "life"),
        Limit.of("zcdp:0.1", "year", days=365),
        Limit.of("approx:1,1e-6", "study", project="study"),
    ]
    with Ledger.create(url, limits) as ledger:
        ledger.charge(f"{ONE}*19", "ada", "1")
        assert [ledger.balance("ada", each.name).spent.upper for each in limits] == [
            Fraction(19, 200),
            Fraction(19, 200),
            0,
        ]
        with pytest.raises(RefusedError, match=r"limit year \(zcdp:0.1\): left 0.005; .* is 1$"):
            ledger.charge(f"{ONE}*2", "ada", "2", project="study")
        ledger.charge(ONE, "ada", "2", project="study")
        epsilon = ledger.balance("ada", "study").spent
        assert epsilon.lower > 0 and epsilon.upper < 1
        assert ledger.check().valid


def test_a_window_forgets_what_is_older(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(time: str) -> None:
        for module in ("book", "reading"):
            monkeypatch.setattr(f"exactdp.ledger.{module}.now", lambda: time)

    at("2026-01-01T00:00:00.000000Z")
    with Ledger.create(url, Limit.of("pure:1", days=10)) as ledger:
        ledger.charge("randomized-response:epsilon=0.5", "ada", "first")
        at("2026-01-05T00:00:00.000000Z")
        ledger.charge("randomized-response:epsilon=0.5", "ada", "second")
        at("2026-01-10T23:59:59.999999Z")
        with pytest.raises(RefusedError):
            ledger.charge("randomized-response:epsilon=0.5", "ada", "third")
        at("2026-01-11T00:00:00.000000Z")
        assert ledger.balance("ada").spent.upper == Fraction(1, 2)
        ledger.charge("randomized-response:epsilon=0.5", "ada", "third")
        at("2025-01-01T00:00:00.000000Z")  # a clock that was set back forgets nothing
        with pytest.raises(RefusedError):
            ledger.charge("randomized-response:epsilon=0.5", "ada", "fourth")
        assert ledger.check().valid


@pytest.mark.contract
def test_neighbours_are_the_same_in_all_charges(url: str) -> None:
    with Ledger.create(url, "zcdp:1") as ledger:
        ledger.charge("gaussian:sigma=10,neighbours=add-remove", "ada", "1")
        with pytest.raises(exactdp.ParameterError, match="neighbours must be add-remove"):
            ledger.charge("gaussian:sigma=10", "bob", "2")
        assert ledger.check().valid


@pytest.mark.contract
@pytest.mark.parametrize(
    ("released", "users", "key", "message"),
    [
        ("nothing", "ada", "k", "SPEC"),
        (ONE, [], "k", "users must be"),
        (ONE, None, "k", "users must be"),
        (ONE, [5], "k", "user must be printable"),
        (ONE, ["ada", "ada"], "k", "distinct"),
        (ONE, "a\nb", "k", "user must be printable"),
        (ONE, "\ud800", "k", "user must be printable"),
        (ONE, "ada", "", "key must be printable"),
        (ONE, "ada", "k" * 256, "key must be printable"),
        ([], "ada", "k", "at least one mechanism"),
        (3, "ada", "k", "not a mechanism"),
    ],
)
def test_bad_input_is_named_and_writes_nothing(
    tmp_path, released: object, users: object, key: str, message: str
) -> None:
    with Ledger.create(str(tmp_path / "a.db"), "zcdp:1") as ledger:
        before = ledger.head()
        with pytest.raises(exactdp.ParameterError, match=message):
            ledger.charge(released, users, key)  # type: ignore[arg-type]
        assert ledger.head() == before


@pytest.mark.contract
def test_what_is_asked_in_bad_words_is_named(tmp_path) -> None:
    path, five, loop = str(tmp_path / "a.db"), cast(Any, 5), cast(Any, [])
    loop.append(loop)
    with Ledger.create(path, "zcdp:1") as ledger:
        asked: list[tuple[str, Callable[[], object]]] = [
            ("certificate", lambda: ledger.charge(ONE, "ada", "k", certificate=five)),
            ("list", lambda: ledger.charge(loop, "ada", "k")),
            ("key", lambda: ledger.settle(five)),
            ("key", lambda: ledger.cancel("\ud800")),
            ("user", lambda: ledger.balance("\ud800")),
            ("user", lambda: ledger.balances([five])),
            ("users", lambda: ledger.balances(five)),
            ("limit", lambda: ledger.balance("ada", five)),
            ("user", lambda: list(ledger.entries("\ud800"))),
            ("user", lambda: ledger.summary("\ud800")),
            ("URL", lambda: Ledger.open(five)),
            ("URL", lambda: Ledger.create(":memory:", "zcdp:1")),
            *(
                ("timeout", partial(Ledger.open, path, timeout=timeout))
                for timeout in cast(Any, ("x", None, float("nan"), float("inf"), -1))
            ),
        ]
        for message, ask in asked:
            with pytest.raises(exactdp.ParameterError, match=message):
                ask()
        assert ledger.balances("ada")[0].user == "ada"


@pytest.mark.contract
@pytest.mark.parametrize(
    "limit", ["zcdp", "zcdp:-1", "approx:1,1", "speed:3", "gdp:1e", [], None, 5, ["zcdp:1"]]
)
def test_a_bad_limit_makes_no_file(tmp_path, limit: object) -> None:
    with pytest.raises(exactdp.ParameterError):
        Ledger.create(str(tmp_path / "a.db"), limit)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_ledger_is_not_opened(tmp_path) -> None:
    for text in ("mysql://host/name", "", "a\nb"):
        with pytest.raises(exactdp.ParameterError, match="URL must be"):
            Ledger.open(text)
    with pytest.raises(exactdp.ParameterError, match="no ledger"):
        Ledger.open(str(tmp_path / "none.db"))
    (tmp_path / "text").write_text("not a database, whatever it may look like")
    with pytest.raises(UnavailableError, match="not a database"):
        Ledger.open(str(tmp_path / "text"))
    with pytest.raises(UnavailableError, match="No such file"):
        Ledger.create(str(tmp_path / "none" / "a.db"), "zcdp:1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text"]


@pytest.mark.contract
def test_there_is_one_ledger_at_a_place(url: str) -> None:
    with Ledger.create(url, "zcdp:1") as first:
        head = first.head()
        with pytest.raises(exactdp.ParameterError, match="a ledger already"):
            Ledger.create(url, "zcdp:2")
        assert first.head() == head


def test_who_only_reads_cannot_write(url: str) -> None:
    Ledger.create(url, "zcdp:1").close()
    with Ledger.open(url, read_only=True) as ledger:
        assert ledger.check().valid
        with pytest.raises(exactdp.ledger.LedgerError, match="read only"):
            ledger.charge(ONE, "ada", "k")


def test_a_lost_connection_and_a_full_disk_are_told_and_leave_it_whole(
    tmp_path, postgresql
) -> None:
    import psycopg

    url = postgresql.url()
    with Ledger.create(url, "zcdp:1") as ledger:
        ledger.charge(ONE, "ada", "before")
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ledger.charge(ONE, "ada", "after")  # on a new connection
        assert ledger.check().valid
    with Ledger.create(str(tmp_path / "a.db"), "zcdp:1") as ledger:
        with ledger._database.engine.connect() as connection:  # of the same pool
            connection.exec_driver_sql("PRAGMA max_page_count=40")
        with pytest.raises(UnavailableError, match="full"):
            ledger.charge(ONE, [f"user {number}" for number in range(2_000)], "much")
        assert ledger.balances() == []
        ledger.charge(ONE, "ada", "little")
        assert ledger.check().valid


def test_a_disk_that_takes_no_more_is_told_and_leaves_it_whole(tmp_path) -> None:
    """Files of a child process may not grow: as on a full disk, what it writes is refused."""
    path = str(tmp_path / "a.db")
    with Ledger.create(path, "zcdp:1") as ledger:
        ledger.charge(ONE, "ada", "before")
    if (child := os.fork()) == 0:
        code = 1
        try:
            with Ledger.open(path) as ledger:
                resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
                ledger.charge(ONE, [f"user {number}" for number in range(5_000)], "much")
        except UnavailableError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    with Ledger.open(path) as ledger:
        assert [each.user for each in ledger.balances()] == ["ada"]
        assert ledger.check().valid
        ledger.charge(ONE, [f"user {number}" for number in range(50)], "much")
        assert ledger.check().valid


@pytest.mark.contract
def test_a_mechanism_is_the_same_however_it_is_given(tmp_path) -> None:
    one = exactdp.mechanism(ONE)
    with Ledger.create(str(tmp_path / "a.db"), "zcdp:1") as ledger:
        first = ledger.charge("discrete-gaussian:sigma=10", "ada", "k")
        for same in (ONE, one, [ONE], one.uses[0].mechanism, (ONE, 1)):
            assert ledger.charge(same, "ada", "k").hash == first.hash
        ledger.charge([one, f"{ONE}*2", "gaussian:sigma=10"], "ada", "list")
        assert [(entry.mechanism, entry.times) for entry in ledger.entries("ada")] == [
            (ONE, 1),
            (ONE, 3),
            ("gaussian:sigma=10,sensitivity=1", 1),
        ]
        assert ledger.check().valid


def test_who_waits_too_long_is_told_and_writes_nothing(url: str) -> None:
    with (
        Ledger.create(url, "zcdp:1") as first,
        Ledger.open(url, timeout=0.2) as second,
        first._database.write() as connection,
    ):
        locked_head(connection, first._seen)
        with pytest.raises(UnavailableError, match="lock"):
            second.charge(ONE, "ada", "k")
        assert second.balances() == []  # readers do not wait
