"""Limits of time: any loop ends, the earliest limit counts, and nothing stays armed."""

import gc
import signal
import sys
import threading
import time
import types
from contextlib import suppress

import pytest

import exactdp
from exactdp import OutOfTimeError, ParameterError, time_limit
from exactdp.exact import check_time, time_left
from exactdp.exact.deadline import grace


def ours(function):
    """The same as if this package computed it."""
    named = {**function.__globals__, "__name__": "exactdp.looping"}
    return types.FunctionType(function.__code__, named, closure=function.__closure__)


@ours
def spin():
    while True:
        pass


@pytest.mark.contract
def test_a_loop_that_never_asks_ends():
    started = time.monotonic()
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        spin()
    assert time.monotonic() - started < 5


@pytest.mark.contract
def test_whoever_goes_on_is_stopped_again():
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        try:
            spin()
        except OutOfTimeError:
            spin()


def test_the_earliest_limit_counts():
    with time_limit(100):
        with time_limit(1000):
            assert time_left() <= 100
        with pytest.raises(OutOfTimeError), time_limit(0.01):
            spin()
        assert 90 < time_left() <= 100
        check_time()


@pytest.mark.contract
def test_an_outer_limit_still_rings_after_an_inner_one():
    with pytest.raises(OutOfTimeError), time_limit(0.1):
        with time_limit(0.05), pytest.raises(OutOfTimeError):
            spin()
        spin()


@pytest.mark.contract
@pytest.mark.parametrize("seconds", [-1, -0.5, float("nan"), float("-inf"), "-1", None, [], "soon"])
def test_a_limit_is_a_number_of_seconds_from_0_on(seconds):
    with pytest.raises(ParameterError, match="seconds must be"), time_limit(seconds):
        pass


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 10**400, "1e400", "1e19"])
def test_what_no_timer_counts_is_no_limit(seconds):
    with time_limit(seconds):
        assert time_left() == float("inf")


def test_nothing_stays_armed():
    with time_limit(50):
        pass
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert time_left() == float("inf")
    check_time()


def test_in_other_threads_asking_is_enough():
    seen = []

    def work():
        try:
            with time_limit(0.02):
                while True:
                    check_time()
        except OutOfTimeError as error:
            seen.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert len(seen) == 1


def test_one_that_does_not_ring_is_shared_out():
    with time_limit(0.05, rings=False):
        with pytest.raises(OutOfTimeError), time_limit(time_left() / 2):
            spin()
        started = time.monotonic()
        while time.monotonic() - started < 0.1:
            pass  # nothing interrupts
        assert time_left() == 0
        with pytest.raises(OutOfTimeError):
            check_time()


@pytest.mark.contract
def test_a_handler_of_somebody_else_is_restored():
    def theirs(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGALRM, theirs)
    try:
        with time_limit(50):
            pass
        assert signal.getsignal(signal.SIGALRM) is theirs
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.contract
@pytest.mark.parametrize("computed", [lambda: None, lambda: suppressed_spin(0.05)])
def test_a_timer_of_somebody_else_goes_on(computed):
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(time.monotonic()))
    started = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0.4, 0.1)
    try:
        with time_limit(50):
            computed()
        left, again = signal.getitimer(signal.ITIMER_REAL)
        assert 0 < left <= 0.4 and again == pytest.approx(0.1, abs=1e-3)
        assert not rung
        while len(rung) < 2 and time.monotonic() < started + 10:
            time.sleep(0.01)
        assert len(rung) >= 2 and rung[0] - started >= 0.39
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def suppressed_spin(seconds):
    with suppress(OutOfTimeError), time_limit(seconds):
        spin()


@pytest.mark.contract
def test_a_timer_of_somebody_else_that_ended_meanwhile_rings_afterwards():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        suppressed_spin(0.1)
        time.sleep(0.05)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_code_of_whoever_calls_is_not_interrupted():
    started = time.monotonic()
    with time_limit(0.05):
        while time.monotonic() - started < 0.7:
            pass  # the caller's, between two figures
        assert time_left() == 0
        found = exactdp.mechanism("discrete-gaussian-sum:count=40,sigma2=1/4").epsilon("1e-6")
    assert found.lower <= found.upper


@pytest.mark.contract
def test_a_figure_leaves_no_handler_behind():
    (10 * exactdp.mechanism("discrete-laplace:epsilon=0.1")).gdp()
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.contract
def test_no_time_at_all():
    for _ in range(200):
        with pytest.raises(OutOfTimeError), time_limit(0):
            spin()
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_import_is_not_cut_short(tmp_path, monkeypatch):
    slow = "import time\nend = time.monotonic() + 0.2\nwhile time.monotonic() < end:\n    pass\n"
    (tmp_path / "imported_late.py").write_text(slow)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OutOfTimeError), time_limit(0.05):
        import imported_late  # noqa: F401

        check_time()
    assert sys.modules.pop("imported_late").end


def test_a_limit_that_ends_while_others_are_set_leaves_none_behind(monkeypatch):
    """The timer rings anywhere, also where a limit begins or ends, which is taken back anyhow."""
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)

    @ours
    def nested():
        while True:
            with time_limit(1), grace(0.0004), time_limit(5):
                sum(range(10))

    for k in range(300):
        with pytest.raises(OutOfTimeError), time_limit(k % 20 * 1e-4):
            nested()
        assert time_left() == float("inf")
    assert not lost


@pytest.mark.contract
def test_it_does_not_ring_where_an_error_is_lost():
    rung = []

    def slowly(phase, info):
        end = time.monotonic() + 0.05
        try:
            while time.monotonic() < end:
                pass
        except OutOfTimeError:
            rung.append(phase)

    gc.callbacks.append(slowly)
    try:
        with pytest.raises(OutOfTimeError), time_limit(0.02):
            gc.collect()
            spin()
    finally:
        gc.callbacks.remove(slowly)
    assert not rung
