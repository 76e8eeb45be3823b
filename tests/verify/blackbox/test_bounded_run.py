"""Programs that never end, or never stop printing, are ended."""

import sys

import pytest

from exactdp.verify.blackbox.sampler import bounded_run


def python(code):
    return [sys.executable, "-c", code]


def test_what_a_program_prints_is_found():
    code = "import sys; print(1); print(2, file=sys.stderr); sys.exit(3)"
    assert bounded_run(python(code), 60, 10) == (3, b"1\n", b"2\n")


def test_large_outputs_within_the_bound_are_whole():
    size = 3_000_000
    code, output, errors = bounded_run(python(f"print('1' * {size - 1})"), 60, size)
    assert (code, len(output), errors) == (0, size, b"")


@pytest.mark.parametrize("code", ["import time; time.sleep(1000)", "while True: pass"])
def test_a_program_that_does_not_end_is_ended(code):
    with pytest.raises(TimeoutError):
        bounded_run(python(code), 0.5, 10)


def test_a_program_that_closes_its_output_is_ended_as_well():
    with pytest.raises(TimeoutError):
        bounded_run(python("import os, time; os.close(1); os.close(2); time.sleep(1000)"), 0.5, 10)


def test_a_child_that_holds_on_to_the_output_is_not_waited_for():
    with pytest.raises(TimeoutError):
        bounded_run(["sh", "-c", "sleep 20 & exit 0"], 0.5, 10)


def test_endless_output_is_refused():
    with pytest.raises(OverflowError):
        bounded_run(["cat", "/dev/zero"], 60, 100_000)


def test_endless_errors_are_not_kept():
    code = "import sys\nfor _ in range(300): sys.stderr.write('x' * 10**5)\nprint(1)"
    found, output, errors = bounded_run(python(code), 60, 10)
    assert (found, output) == (0, b"1\n")
    assert len(errors) <= 1 << 20
