"""`exactdp check --time`: undecided is neither valid nor not."""

from typer.testing import CliRunner

from exactdp import PureDP
from exactdp.cli.main import app
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of


def test_out_of_time_exits_3_and_says_so(tmp_path):
    from certificates import MECHANISMS

    file = tmp_path / "certificate.json"
    certificate_of(audit(MECHANISMS["laplace"], PureDP(1))).write(file)
    short = CliRunner().invoke(app, ["check", str(file), "--time", "1e-9"])
    assert short.exit_code == 3 and "undecided" in short.stdout
    assert CliRunner().invoke(app, ["check", str(file), "--time", "60"]).exit_code == 0
