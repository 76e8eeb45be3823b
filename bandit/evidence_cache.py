"""Evidence kept in a folder, since proving it again takes seconds for some mechanisms.

    prepare(algorithm, setting, prove=cached_evidence(folder))

Files are named by all that they depend on: protocol, claim, relaxation and the version of the
package. They are believed, as the code is: who can write to the folder can write to either. A
transcript does not believe them: `exactdp check` proves everything again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from decimal import DecimalException
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..exact.atomic_write import write_atomically
from ..exact.enclosure import Enclosure
from ..exact.number import ParameterError
from ..exact.regular_file import read_at_most
from ..mechanisms.protocols.protocol import SumProtocol
from ..verify.certificate import Certificate, MismatchError
from ..verify.fields import protocol_fields
from .algorithms.algorithm import Demand
from .evidence import Audited, Evidence, admit, evidence, to_json
from .prepare import Proof

__all__ = ["cached_evidence"]

_LARGEST = 20_000_000  # bytes of a file
# what reading a file that holds something else may raise
_OTHER = (OSError, ValueError, LookupError, TypeError, AttributeError, DecimalException)


def cached_evidence(folder: Path) -> Proof:
    """Evidence from this folder; where it is not there it is made, and kept if possible."""

    def prove(protocol: SumProtocol, demand: Demand) -> Evidence:
        asked = {
            "version": _version(),
            "claim": demand.claim.fields(),
            "protocol": protocol_fields(protocol, 0, 0, demand.relaxation),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        path = folder / f"{digest[:32]}.json"
        with contextlib.suppress(*_OTHER, RecursionError):
            found = _read(json.loads(read_at_most(path, _LARGEST)), protocol, demand)
            if found is not None:
                return found
        made = evidence(protocol, demand)
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(to_json(made)))
        return made

    return prove


def _read(entry: dict[str, Any], protocol: SumProtocol, demand: Demand) -> Evidence | None:
    """The evidence that a file holds, if it is of this very protocol and claim."""
    if "audit" in entry:
        held: Evidence = Audited(protocol, demand, Enclosure.from_json(entry["audit"]["measured"]))
        return held if to_json(held) == entry else None
    held = Certificate(json.dumps(entry["certificate"]))
    with contextlib.suppress(MismatchError, ParameterError):
        admit(protocol, demand, held)
        return held
    return None


def _version() -> str:
    try:
        return version("exactdp")
    except PackageNotFoundError:
        return "unknown"
