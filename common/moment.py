"""The present, or the time that `SOURCE_DATE_EPOCH` sets, for files that come out the same again.

https://reproducible-builds.org/specs/source-date-epoch/: seconds since 1970 in UTC.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from ..exact.number import ParameterError

_VARIABLE = "SOURCE_DATE_EPOCH"
_LAST = 253_402_300_799  # the last second of the year 9999


def now() -> datetime:
    """The time in UTC, to the second. Raises ParameterError for an odd `SOURCE_DATE_EPOCH`."""
    text = os.environ.get(_VARIABLE)
    if text is None:
        return datetime.now(UTC).replace(microsecond=0)
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LAST):
        raise ParameterError(f"{_VARIABLE} must be whole seconds from 0 to {_LAST}, got {text!r}")
    return datetime.fromtimestamp(int(text), UTC)
