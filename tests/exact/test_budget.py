"""Limits of work and of time: the earliest counts, and what is quick is known."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import exactdp
from exactdp import OutOfTimeError, ParameterError, time_limit
from exactdp.exact import spend, time_left
from exactdp.exact.budget import backstop, in_time, quickly, share, unhurried, within


def test_work_ends_at_the_same_step_whatever_the_clock_says():
    steps = []
    with pytest.raises(OutOfTimeError, match="work"), within(1000):
        while True:
            spend(100)
            steps.append(1)
            time.sleep(0.001)
    assert len(steps) == 10
    spend()


def test_an_allowance_inside_another_can_only_have_less():
    with pytest.raises(OutOfTimeError), within(100), within(1000):
        spend(101)
    with within(100):
        with pytest.raises(OutOfTimeError), within(10):
            spend(11)
        spend(89)
        with pytest.raises(OutOfTimeError):
            spend(1)


def test_a_share_is_of_what_is_left_and_leaves_the_rest():
    with within(1000):
        with pytest.raises(OutOfTimeError), share(1 / 4):
            spend(250)
            spend(1)
        with time_limit(100), share(1 / 2):
            assert 40 < time_left() <= 50
            spend(374)
            with pytest.raises(OutOfTimeError):
                spend(1)
        spend(374)
        with pytest.raises(OutOfTimeError):
            spend(1)
    with share(1 / 2):
        assert time_left() == float("inf")
        spend(10**9)


def test_a_backstop_ends_a_block_but_is_not_shared_out():
    with backstop(100):
        with share(1 / 10):
            assert 90 < time_left() <= 100
        with unhurried():
            assert time_left() == float("inf")
    with pytest.raises(OutOfTimeError, match="time"), backstop(0):
        spend()


def test_the_earliest_limit_counts():
    with time_limit(100):
        with time_limit(1000):
            assert time_left() <= 100
        with pytest.raises(OutOfTimeError, match="time"), time_limit(0.01):
            while True:
                spend(1)
        assert 90 < time_left() <= 100
        spend()
    assert time_left() == float("inf")


def test_what_is_quick_is_known_when_the_time_is_over():
    with time_limit(0):
        assert in_time(lambda: (spend(), 1), None) is None
        assert quickly(lambda: (spend(100), 1)[1], None) == 1
        assert quickly(lambda: spend(10**9), "nothing") == "nothing"
        with unhurried():
            spend()


@pytest.mark.contract
@pytest.mark.parametrize("seconds", [-1, -0.5, float("nan"), float("-inf"), "-1", None, [], "soon"])
def test_a_limit_is_a_number_of_seconds_from_0_on(seconds):
    with pytest.raises(ParameterError, match="seconds must be"), time_limit(seconds):
        pass


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 10**400, "1e400", "1e19"])
def test_what_no_clock_counts_is_no_limit(seconds):
    with time_limit(seconds):
        assert time_left() == float("inf")


@pytest.mark.contract
def test_an_alarm_of_the_program_around_it_rings():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with time_limit(5):
            exactdp.mechanism("skellam:variance=100").epsilon("1e-6")
            while not rung:
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rung == [1]


@pytest.mark.contract
def test_digits_are_the_same_in_threads_at_once():
    specs = ["polya-difference:shape=3/2,scale=4", "skellam:variance=9,sensitivity=2"]
    asked = [(spec, delta) for spec in specs for delta in ("1e-5", "1e-7")]

    def ask(spec, delta):
        return str((7 * exactdp.mechanism(spec)).epsilon(delta))

    alone = [ask(*each) for each in asked]
    with ThreadPoolExecutor(len(asked)) as crew:
        assert list(crew.map(lambda each: ask(*each), asked)) == alone
