"""`exactdp check` says what protocol a certificate is of."""

import json

from certificates import resealed
from typer.testing import CliRunner

from exactdp import PureDP
from exactdp.cli.main import app
from exactdp.mechanisms import PolyaDifference
from exactdp.mechanisms.protocols import SumProtocol
from exactdp.verify import certify

PROTOCOL = SumProtocol(4, 2, 10, 19, PolyaDifference("1/4", 2))


def test_names_the_protocol(tmp_path):
    path = tmp_path / "a.json"
    certify(PROTOCOL, PureDP(1)).write(path)
    told = CliRunner().invoke(app, ["check", str(path)])
    assert told.exit_code == 0
    assert "valid: pure:1 VERIFIED" in told.output
    assert "reduced mod 19" in told.output
    assert "4 users, each with a share of the noise, polya difference noise" in told.output
    assert "(shape 0.25, scale 2)" in told.output
    found = CliRunner().invoke(app, ["check", str(path), "--json"])
    assert json.loads(found.output)["protocol"]["modulus"] == "19"


def test_another_modulus_is_not_valid(tmp_path):
    path = tmp_path / "a.json"
    content = certify(PROTOCOL, PureDP(1)).content
    content["protocol"]["modulus"] = "32"
    path.write_text(json.dumps(resealed(content)))
    told = CliRunner().invoke(app, ["check", str(path)])
    assert told.exit_code == 1 and "modulus" in told.output
