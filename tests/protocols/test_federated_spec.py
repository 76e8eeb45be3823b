"""`federated:` as a mechanism: what it is in the words of vectors."""

import json
import re
from pathlib import Path

import pytest

from exactdp import ParameterError
from exactdp.mechanisms import DiscreteGaussianSum, Skellam
from exactdp.mechanisms.additive.reach import RoundedReach
from exactdp.mechanisms.additive.vector import VectorNoise
from exactdp.mechanisms.specs.spec import parse
from exactdp.protocols.federated import Settings

SPEC = (
    "federated:mechanism={},clip=1/2,scale=64,clients=100,local-stddev=1/2,dimension=1000,bits=16"
)


def test_it_is_a_rounded_vector() -> None:
    spec = parse(SPEC.format("skellam") + ",rounding=conditional:0.6065,dropout=10,poisson=1/10")
    reach = RoundedReach(32, 1024, "conditional:0.6065")
    assert spec.mechanism == VectorNoise(Skellam("22.5"), reach, 2**16, "add-remove", "1/10")
    assert spec.derived == {
        "squared_sensitivity": reach.rounding.squared_bound(reach.norm, 1024),
        "modulus": 2**16,
        "coordinates": 1024,
        "shares": 90,
        "bits_per_user": 16 * 1024,
    }


def test_shares_of_a_discrete_gaussian_add_up() -> None:
    released = parse(SPEC.format("discrete-gaussian")).mechanism
    assert isinstance(released, VectorNoise)
    assert released.law == DiscreteGaussianSum(100, "1/4")


def test_a_file_names_both_mechanisms(tmp_path: Path) -> None:
    text = SPEC.format("discrete-gaussian")
    keys = dict(part.split("=") for part in text.removeprefix("federated:").split(","))
    file = tmp_path / "round.json"
    file.write_text(json.dumps({"name": "federated"} | keys))
    assert parse(str(file)).mechanism == parse(text).mechanism


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (",dropout=100", "together must be at most users - 1 = 99, got dropout 100 and"),
        (f",dropout=1{'0' * 20}", "got dropout 1e20 or more and collusion 0"),
        (",poisson=0", "poisson"),
        (",neighbours=replace", "'neighbours' is not known"),
        (",clip=1", "'clip' is given twice"),
    ],
)
def test_what_is_refused(more: str, said: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        parse(SPEC.format("skellam") + more)
    with pytest.raises(ParameterError, match="l2"):
        parse(SPEC.format("skellam").replace("scale=64", "scale=1/2") + ",rounding=nearest")


def test_what_is_missing_is_named() -> None:
    given = dict(part.split("=") for part in SPEC.format("skellam").partition(":")[2].split(","))
    assert Settings.read(given).clients == 100
    for key in ("clip", "clients"):
        with pytest.raises(ParameterError, match=f"federated needs {key}"):
            Settings.read({name: text for name, text in given.items() if name != key})
