"""The published shape of certificates: JSON Schema, draft 2020-12."""

from __future__ import annotations

import pkgutil


def schema_text() -> str:
    """`certificate.schema.json`, as it is; also from inside the archive of `make checker`."""
    found = pkgutil.get_data(__package__, "certificate.schema.json")
    assert found is not None
    return found.decode("utf-8")
