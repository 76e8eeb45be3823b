"""The JSON of certificates: read strictly, and written in one way, whose SHA-256 is the digest.

The canonical form is that of RFC 8785 (JSON Canonicalization Scheme) for what certificates hold:
objects with ASCII names, lists, texts, whole numbers and null, and no floats. UTF-8 without blanks,
the fields of every object in alphabetical order, in texts no escapes but those that JSON demands.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .shape import CertificateError, shown

DIGEST = "digest"  # the field that the digest leaves out


def loaded(raw: bytes) -> object:
    """What a file holds, every field of an object once. Raises CertificateError for other files."""
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_once)
    except CertificateError:
        raise
    except RecursionError:
        raise CertificateError("not JSON: it is nested too deeply") from None
    except ValueError as error:
        raise CertificateError(f"not JSON: {error}") from error


def canonical(data: object) -> bytes:
    """The one way to write it."""
    try:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CertificateError("a text holds half of a surrogate pair") from error


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256, in hexadecimal digits, of the canonical form of all but the digest itself."""
    return hashlib.sha256(
        canonical({name: held for name, held in content.items() if name != DIGEST})
    ).hexdigest()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, held in pairs:
        if name in found:
            raise CertificateError(f"a field is given twice: {shown(name)}")
        found[name] = held
    return found
