"""FLINT's precision is the host's: whatever is asked in threads, it stays."""

import os
import signal
import threading
import time

import mpmath
import pytest
from flint import ctx

import exactdp
from exactdp.exact.precision import working_precision


def test_threads_take_turns():
    host, seen = ctx.prec, []

    def compute(bits):
        with working_precision(bits):
            before = ctx.prec
            time.sleep(0.05)
            seen.append(before == ctx.prec != host)

    threads = [threading.Thread(target=compute, args=(bits,)) for bits in (200, 300)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert seen == [True, True] and ctx.prec == host


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_a_thread_computes_does_not_wait_for_it():
    inside, out = threading.Event(), threading.Event()

    def compute():
        with working_precision(200):
            inside.set()
            out.wait(10)

    thread = threading.Thread(target=compute)
    thread.start()
    inside.wait(10)
    child = os.fork()
    if not child:
        with working_precision(100):
            os._exit(0)
    for _ in range(500):
        if (ended := os.waitpid(child, os.WNOHANG))[0]:
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
    out.set()
    thread.join(10)
    assert ended == (child, 0)


def test_blocks_inside_each_other_put_back_what_they_found():
    host = ctx.prec
    with working_precision(200):
        with pytest.raises(ZeroDivisionError), working_precision(300):
            raise ZeroDivisionError
        assert ctx.prec == 200
    assert ctx.prec == host


@pytest.mark.contract
def test_figures_in_threads_leave_the_precision_of_the_host():
    before = ctx.prec, mpmath.mp.prec
    figures = [
        lambda: exactdp.mechanism("skellam:variance=100").epsilon("1e-6"),
        lambda: (3 * exactdp.mechanism("discrete-laplace:epsilon=1")).epsilon("1e-6"),
        lambda: exactdp.mechanism("discrete-gaussian:sigma2=100").delta("1/2", width="1e-30"),
    ]
    threads = [threading.Thread(target=figure) for figure in figures * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (ctx.prec, mpmath.mp.prec) == before
