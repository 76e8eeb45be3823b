"""The precision of FLINT and mpmath is the host's: whatever is asked in threads, it stays."""

import threading

import mpmath
import pytest
from flint import ctx

import exactdp
from exactdp.exact.precision import working_digits, working_precision


@pytest.mark.parametrize(("at", "module"), [(working_precision, ctx), (working_digits, mpmath.mp)])
@pytest.mark.parametrize("first_out", ["first", "second"])
def test_threads_that_overlap_put_back_what_the_host_had(at, module, first_out):
    host, turn = module.prec, {name: threading.Event() for name in ("first", "second")}
    inside = {name: threading.Event() for name in turn}

    def compute(name, digits):
        with at(digits), at(digits + 10):
            inside[name].set()
            turn[name].wait(10)

    threads = {}
    for name, digits in (("first", 200), ("second", 300)):
        threads[name] = threading.Thread(target=compute, args=(name, digits))
        threads[name].start()
        assert inside[name].wait(10)
    for name in sorted(turn, key=lambda name: name != first_out):
        turn[name].set()
        threads[name].join(10)
    assert module.prec == host


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
