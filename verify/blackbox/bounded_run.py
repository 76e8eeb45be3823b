"""A program run within bounds: of time, and of what it may print."""

from __future__ import annotations

import selectors
import subprocess
import time
from collections.abc import Sequence

_CHUNK = 1 << 16
_MOST_SAID = 1 << 20  # bytes of its errors that are kept


def bounded_run(words: Sequence[str], seconds: float, size: int) -> tuple[int, bytes, bytes]:
    """Exit code, output and errors of a program, run without a shell and without input.

    It is ended, and TimeoutError raised, after these seconds; OverflowError if it prints more than
    `size` bytes; OSError or ValueError where it cannot be run. Not what it has started itself is
    waited for, even if that holds on to the output.
    """
    end = time.monotonic() + seconds
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        output, errors = bytearray(), bytearray()
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ, output)
                selector.register(process.stderr, selectors.EVENT_READ, errors)
                while selector.get_map():
                    if (left := end - time.monotonic()) <= 0:
                        raise TimeoutError
                    for key, _ in selector.select(left):
                        chunk = key.fileobj.read1(_CHUNK)  # type: ignore[union-attr]
                        if not chunk:
                            selector.unregister(key.fileobj)
                        key.data.extend(chunk)
                    if len(output) > size:
                        raise OverflowError
                    del errors[:-_MOST_SAID]
            process.wait(max(end - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        finally:
            process.kill()
    return process.returncode, bytes(output), bytes(errors)
