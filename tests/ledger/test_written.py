"""What ledgers and certificates have written of mechanisms, they write byte for byte."""

import json
from pathlib import Path

import pytest

from exactdp.ledger import canonical
from exactdp.mechanisms.specs.catalogue import EXAMPLE_FILES, entries
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify.fields import mechanism_fields

# spec: its canonical text, and the text of its fields in a certificate (null: there was none)
WRITTEN = json.loads(Path(__file__).with_name("written.json").read_text())


def test_every_name_is_there() -> None:
    assert {spec.partition(":")[0] for spec in WRITTEN} == set(entries())


@pytest.mark.parametrize("spec", WRITTEN)
def test_it_is_written_as_it_was(spec: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, held in EXAMPLE_FILES.items():
        file = entries()[name].example.partition(",")[0].removeprefix("file=")
        (tmp_path / file).write_text(held)
    text, fields = WRITTEN[spec]
    mechanism = parse(spec).mechanism
    assert list(canonical.uses_of(spec)) == [text]
    assert canonical.read(text) == mechanism
    assert fields is None or json.dumps(mechanism_fields(mechanism)) == fields
