"""What can be sampled: a vectorised function, a function that draws once, or a program.

A sampler is a callable `sampler(input, size, rng)` that returns `size` numbers, integers or floats,
or vectors of one length (an array with a row each): independent draws of its output on `input`.
"""

from __future__ import annotations

import re
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen
from numpy.random import Generator
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, exact
from .event import Outputs

_LARGEST = 1 << 62
_LARGEST_FLOAT = 1 << 53  # beyond it floats skip integers
_SHOWN = 60
_MOST_NUMBERS = 2 * 10**8  # of all outputs on one input
_INTEGER = re.compile(rb"[+-]?[0-9]{1,19}")
_FLOAT = re.compile(
    rb"[+-]?([0-9]+[.][0-9]*|[.][0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]{1,4})?|[+-]?inf|nan"
)
_MOST_BYTES = 64  # of a number that a program prints, with all around it
_LONGEST_RUN = 10**6  # seconds
_CHUNK = 1 << 16
_MOST_SAID = 1 << 20  # bytes of a program's errors that are kept


class Sampler(Protocol):
    """Draws `size` independent outputs on `input`, all randomness from `rng` or its own source.

    >>> def sampler(input, size, rng):
    ...     return input + rng.geometric(0.1, size) - rng.geometric(0.1, size)
    >>> len(sampler(0, 5, np.random.default_rng(0)))
    5
    """

    def __call__(self, input: Any, size: int, rng: Generator, /) -> Any: ...


@frozen
class OneByOne:
    """A sampler from a function that draws one output a call: `function(input, rng)`.

    >>> sampler = OneByOne(lambda input, rng: input + int(rng.geometric(0.1)))
    >>> len(sampler(0, 5, np.random.default_rng(0)))
    5
    """

    function: Callable[[Any, Generator], Any]

    def __call__(self, input: Any, size: int, rng: Generator, /) -> list[Any]:
        return [self.function(input, rng) for _ in range(size)]


def _seconds(timeout: ExactInput) -> float:
    return float(exact(timeout, "timeout", above=0, at_most=_LONGEST_RUN))


@frozen
class Command:
    """A program that prints integers or floats, run without a shell.

    template: the program and its arguments, with {input}, {size} and, if wanted, {seed} in them.
    timeout: seconds for one run. The program takes its randomness from wherever it likes.

    Raises ParameterError where these are not in it, and when it is run, for what ends with an
    error, takes longer, or prints anything else.

    >>> import sys
    >>> program = "import sys; print(*range(int(sys.argv[1])))"
    >>> sampler = Command(f"{sys.executable} -c '{program}' {{size}} {{input}}")
    >>> sampler(0, 3, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """

    template: str = field()
    timeout: float = field(default=600.0, converter=_seconds)

    @template.validator
    def _names_input_and_size(self, _: object, template: str) -> None:
        try:
            words = shlex.split(template)
        except ValueError as error:
            raise ParameterError(f"command must be a program and its arguments: {error}") from error
        for placeholder in ("{input}", "{size}"):
            if not any(placeholder in word for word in words[1:]):
                raise ParameterError(f"command must have {placeholder} among its arguments")

    def __call__(self, input: Any, size: int, rng: Generator, /) -> Outputs:
        seed = str(rng.integers(1 << 63))
        given = {"{input}": str(input), "{size}": str(size), "{seed}": seed}
        words = [_filled(word, given) for word in shlex.split(self.template)]
        shown = _short(shlex.join(words))
        try:
            code, output, errors = bounded_run(words, self.timeout, _MOST_BYTES * (size + 1))
        except TimeoutError as error:
            raise ParameterError(f"command {shown} ran longer than {self.timeout:g} s") from error
        except OverflowError as error:
            raise ParameterError(f"command {shown} prints more than {size} numbers") from error
        except (OSError, ValueError) as error:
            raise ParameterError(f"command {shown} cannot be run: {error}") from error
        if code != 0:
            said = errors.decode(errors="replace").strip().splitlines() or ["no message"]
            raise ParameterError(f"command {shown} ended with code {code}: {_short(said[-1])}")
        printed = output.split()
        whole = [_is_integer(word) for word in printed]
        for word, is_whole in zip(printed, whole, strict=True):
            if not (is_whole or _FLOAT.fullmatch(word)):
                got = _short(word.decode(errors="replace"))
                raise ParameterError(
                    f"command {shown} must print integers below 2^62, or floats, got {got}"
                )
        return np.array(printed, dtype="S").astype(np.int64 if all(whole) else np.float64)


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


def draw(sampler: Sampler, input: Any, size: int, rng: Generator) -> Outputs:
    """Draw `size` outputs and check that they are that many numbers, or vectors of one length.

    Raises ParameterError where they are not, or where the sampler raises anything.
    """
    try:
        drawn = sampler(input, size, rng)
    except ParameterError:
        raise
    except (Exception, SystemExit) as error:
        raise ParameterError(
            f"the sampler raised {type(error).__name__} on input {input}: {error}"
        ) from error
    outputs = _read_outputs(drawn, f"the sampler's output on input {input}")
    if outputs.ndim not in (1, 2) or len(outputs) != size or not outputs.size:
        raise ParameterError(
            f"the sampler must return {size} numbers, or vectors of one length, on input {input}, "
            f"got shape {outputs.shape}"
        )
    if outputs.size > _MOST_NUMBERS:
        raise ParameterError(
            f"the sampler's vectors must be shorter: {size} of them are more than {_MOST_NUMBERS} "
            "numbers"
        )
    return outputs[:, 0] if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs


def alike(drawn: Sequence[Outputs]) -> list[Outputs]:
    """Outputs of neighbouring inputs: floats where any are.

    Raises ParameterError for lengths that differ.
    """
    if len({each.shape[1:] for each in drawn}) > 1:
        raise ParameterError("the sampler's outputs must have the same length on both inputs")
    if len({each.dtype for each in drawn}) == 1:
        return list(drawn)
    for each in drawn:
        if each.dtype.kind != "f" and np.abs(each).max() > _LARGEST_FLOAT:
            raise ParameterError("the sampler's integers must be at most 2^53 beside floats")
    return [each.astype(np.float64) for each in drawn]


def _read_outputs(values: Any, name: str) -> Outputs:
    """float64 where there are floats that are no integers, else int64."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be numbers, or vectors of one length") from error
    if array.dtype.kind == "f" and not np.all(array == np.rint(array)):
        if array.dtype.itemsize > 8:
            raise ParameterError(f"{name} must be floats of at most 64 bits, got {array.dtype}")
        return array.astype(np.float64)
    if array.dtype.kind not in "biufO":
        raise ParameterError(f"{name} must be numbers, got {array.dtype}")
    return read_outcomes(array, name)


def read_outcomes(values: Any, name: str) -> NDArray[np.int64]:
    """Integers as an int64 array; booleans count as 0 and 1, floats only where they are integers.

    Raises ParameterError for anything else.
    """
    try:
        array = np.asarray(values)
        if array.dtype == object and not all(isinstance(x, (int, np.integer)) for x in array.flat):
            raise TypeError
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be integers") from error
    if array.dtype.kind == "f":
        limit = float(_LARGEST_FLOAT)
        if not np.all((np.abs(array) <= limit) & (array == np.floor(array))):
            raise ParameterError(f"{name} must be integers, got other floats among them")
    elif array.dtype.kind not in "biuO":
        raise ParameterError(f"{name} must be integers, got {array.dtype}")
    if array.size and not (int(array.min()) > -_LARGEST and int(array.max()) < _LARGEST):
        raise ParameterError(f"{name} must be below 2^62 in size")
    return array.astype(np.int64, copy=False)


def _filled(word: str, given: dict[str, str]) -> str:
    for placeholder, value in given.items():
        word = word.replace(placeholder, value)
    return word


def _is_integer(word: bytes) -> bool:
    return _INTEGER.fullmatch(word) is not None and abs(int(word)) < _LARGEST


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
