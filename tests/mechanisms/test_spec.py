"""Every parameter of every spec, right and wrong; whatever the text, only ParameterError."""

import json
import re
from fractions import Fraction
from itertools import cycle, product

import pytest
from conformance.cases import TABLES
from typer.testing import CliRunner

import exactdp
from exactdp import ParameterError, UndecidedError
from exactdp.cli.main import app
from exactdp.mechanisms import (
    FinitePair,
)
from exactdp.mechanisms.specs.catalogue import entries
from exactdp.mechanisms.specs.spec import parse

WORDS = {"file", "mechanism", "rounding"}  # which errors show whole
PRESET = "theorem1:epsilon=0.5,batch=1024,horizon=1e6"


def keyed(example):
    return dict(part.split("=") for part in example.split(",") if part)


def spec(name, values):
    return f"{name}:" + ",".join(f"{key}={value}" for key, value in values.items())


FILES = {"local": "local.csv", "matrix": "lower.csv", "blt": "blt.json", "pmf": "pair.csv"}
LISTED = {
    one["name"]: one
    for one in json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)["mechanisms"]
    if one["name"] != "guarantee"  # its claim mostly stands without a key
}


def examples():
    """Each listed mechanism, the keys of its example, and all keys."""
    for name, one in LISTED.items():
        usual = keyed(one["example"].partition(":")[2])
        if "file" in usual:
            usual["file"] = str(TABLES / FILES[name])
        yield name, usual, [key["key"] for key in one["keys"]]


def test_errors_name_a_key_as_it_was_typed():
    values = cycle(("-1", "0", "nan", "1e400", "1e-400", "", "x", "2.5", "1e30"))
    for name, usual, keys in examples():
        for key in keys:
            for typed in (key, *entries()[name].keys[key].spelt):
                given = {k: v for k, v in usual.items() if k != key} | {typed: next(values)}
                try:
                    exactdp.mechanism(spec(name, given))
                except ParameterError as error:
                    words = set(re.findall(r"[\w-]+", str(error)))
                    assert typed in words or words & usual.keys(), (given, error)
                    assert "Fraction(" not in str(error) and "\n" not in str(error)
                    assert len(str(error)) < 400, (given, error)


@pytest.mark.contract
def test_what_is_no_number_is_refused_by_the_name_of_its_key():
    for name, usual, _ in examples():
        with pytest.raises(ParameterError, match="'colour' is not known; keys are "):
            exactdp.mechanism(spec(name, usual | {"colour": "1"}))
        for key in usual:
            with pytest.raises(ParameterError, match=f"{key}.*twice"):
                exactdp.mechanism(f"{spec(name, usual)},{key}={usual[key]}")
            for value in ("", "-inf", "1e999999999", "0x10", "1_000", "True", "1/0", "١"):
                with pytest.raises(ParameterError, match=f"(?s)^(?!.*\n).*{key}"):
                    exactdp.mechanism(spec(name, usual | {key: value}))


@pytest.mark.contract
def test_huge_numbers_neither_hang_nor_crash():
    for name, usual, keys in examples():
        for key, value in product({*keys} - WORDS, ("1e9999", "1e-9999", "9" * 999)):
            try:
                exactdp.mechanism(spec(name, usual | {key: value}))
            except (ParameterError, UndecidedError) as refused:
                assert len(str(refused)) < 1000


@pytest.mark.contract
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("discrete-laplace:epsilon=1e400", "epsilon=1e400: scale must be"),
        ("discrete-gaussian:sigma=1e15", "sigma=1e15: sigma2 must be"),
        ("theorem1:epsilon=1e400,batch=9,horizon=9", "epsilon=1e400,batch=9,horizon=9: sens"),
        ("skellam:variance=100,users=1e30", "users=1e30: variance must be"),
        ("discrete-laplace:epsilon=1,adjacency=x", "adjacency=x: neighbours must be"),
        ("gaussian:sigma=1,l2=-1", "l2 must be"),
        ("laplace:scale=1,l1=-1", "l1 must be"),
        ("unary-encoding:epsilon=1,bits=-1", "bits must be"),
        ("rappor:f=1/2,p=3/4,q=1/4,reports=2,bits=1", "bits must be"),
        ("count-mean-sketch:epsilon=1,bits=-1", "bits must be"),
        ("polya-difference:shape=0.9,scale=10,l2=2.5", "vectors .l2,.* which polya-difference is"),
        ("federated:count=9", "'count' is not known .did you mean 'clients'"),
        ("distributed-discrete-gaussian:sigma2=1", "did you mean 'discrete-gaussian-sum'"),
    ],
)
def test_errors_tell_of_what_was_typed(text, told):
    with pytest.raises(ParameterError, match=f"{told}"):
        exactdp.mechanism(text)


# -- users who drop out or collude ----------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize(
    ("text", "same"),
    [
        *(
            (f"discrete-laplace:epsilon=1/2,{keys}", f"discrete-laplace:scale={scale},{keys}")
            for keys, scale in (
                ("sensitivity=3", 6),
                ("l1=5/2", 5),
                ("l1=2,l2=1,dimension=7", 4),
                ("l1=2,neighbours=add-remove,poisson=0.1", 4),
                ("users=5,sensitivity=2", 4),
            )
        ),
        ("skellam:variance=4,modulus=none", "skellam:variance=4"),
        (
            "discrete-laplace:scale=10,sensitivity=3,users=10,dropout=2,collusion=1",
            "polya-difference:shape=0.7,scale=10,sensitivity=3",
        ),
        ("discrete-laplace:scale=10,users=10", "discrete-laplace:scale=10"),
        (
            "polya-difference:shape=0.9,scale=10,users=9,dropout=1,modulus=64",
            "polya-difference:shape=0.8,scale=10,modulus=64",
        ),
        # 3/2 of a discrete Laplace, a third missing: a discrete Laplace
        ("polya-difference:shape=1.5,scale=10,users=3,collusion=1", "discrete-laplace:scale=10"),
        ("skellam:variance=100,users=8,dropout=1", "skellam:variance=87.5"),
        (
            "discrete-gaussian-sum:count=128,sigma2=0.25,dropout=27,collusion=1",
            "discrete-gaussian-sum:count=100,sigma2=0.25",
        ),
        (
            "discrete-gaussian-sum:count=128,sigma2=0.25,users=32,dropout=1",
            "discrete-gaussian-sum:count=124,sigma2=0.25",
        ),
        ("discrete-gaussian-sum:count=3,sigma2=5,dropout=2", "discrete-gaussian:sigma2=5"),
        (
            "binomial:trials=100,probability=1/3,users=10,dropout=1,collusion=2",
            "binomial:trials=70,probability=1/3",
        ),
        (
            f"{PRESET},dropout=512",
            f"polya-difference:shape=1/2,scale=32,sensitivity=16,modulus={1024 * 16 + 2 * 465 + 1}",
        ),
        (
            f"{PRESET.replace('1:', '2:')},scaling=10,collusion=256,modulus=none",
            f"skellam:variance={320**2 * 3 // 4},sensitivity=160",
        ),
        (
            f"{PRESET.replace('1:', '4:')},scaling=10,dropout=24,modulus=none",
            "discrete-gaussian-sum:count=1000,sigma2=100,sensitivity=160",
        ),
        # nobody's share: the server's noise, and each user's own
        *(
            (
                f"{PRESET.replace('1:', f'{number}:')},{missing}=512,modulus=none",
                "discrete-laplace:scale=32,sensitivity=16",
            )
            for number, missing in ((5, "dropout"), (6, "collusion"))
        ),
        (
            "shuffle-sum:epsilon=0.5,delta=1e-6,users=1000",
            "binomial:trials=6000,probability=1/2",
        ),
        (
            "shuffle-sum:epsilon=0.5,delta=1e-6,users=1000,dropout=100,collusion=50",
            "binomial:trials=5100,probability=1/2",
        ),
        (PRESET.replace("1:", "3:"), "randomized-response:epsilon=0.5"),
        (f"{PRESET},aggregator=17315", PRESET),
    ],
)
def test_two_specs_of_the_same_mechanism(text, same):
    """Among them those of which shares are missing: they leave less noise."""
    assert exactdp.mechanism(text) == exactdp.mechanism(same)


@pytest.mark.contract
@pytest.mark.parametrize("key", ["dropout", "collusion"])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("discrete-laplace:scale=10", "need users"),
        ("binomial:trials=10,probability=1/2,users=3", "users must divide trials"),
        ("discrete-gaussian:sigma2=100,users=4", "no exact shares; discrete-gaussian-sum"),
        ("discrete-gaussian-sum:count=10,sigma2=1,users=3", "users must divide count"),
        ("randomized-response:epsilon=1", "not known"),
        ("skellam:variance=10,users=0", "users"),
        ("skellam:variance=10,users=1", "at most users - 1 = 0"),
        ("theorem1:epsilon=0.5,batch=1,horizon=10", "at most users - 1 = 0"),
        ("shuffle-sum:epsilon=0.5,delta=1e-6,users=1", "at most users - 1 = 0"),
    ],
)
def test_what_cannot_be_missing_is_refused(text, named, key):
    with pytest.raises(ParameterError, match=named):
        exactdp.mechanism(f"{text},{key}=1")


def test_what_users_send_is_told():
    shown = parse("theorem1:epsilon=0.5,batch=1024,horizon=1e6,dropout=24").to_json()
    assert shown["users"] == "1000" and shown["bits_per_user"] == "15"  # m = 17315
    relaxed = parse("theorem3:epsilon=0.5,batch=1024,horizon=1e6").to_json()
    assert relaxed["aggregation"] == "RelaxedAggregation(epsilon=0.125, failure=0.0000005)"
    assert relaxed["share"] == "PolyaDifference(shape=0.0009765625, scale=32)"
    sent = parse("shuffle-sum:epsilon=0.5,delta=1e-6,users=1000,dropout=1").to_json()
    assert sent["users"] == "999" and sent["messages_per_user"] == sent["bits_per_user"] == "7"
    assert "bits_per_user" not in parse("published:epsilon=0.1,batch=64").to_json()
    assert parse("skellam:variance=100,users=8,dropout=1").to_json()["users"] == "7"


@pytest.mark.contract
@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ("aggregator=1023", "aggregator must be the modulus.*summed mod 17315"),
        ("aggregator=34630", "aggregator must be the modulus.*summed mod 17315"),
        ("modulus=20000,aggregator=17315", "summed mod 20000"),
        ("modulus=none,aggregator=17315", "aggregator.*not reduced"),
        ("aggregator=none", "aggregator"),
    ],
)
def test_an_aggregator_in_another_modulus_is_refused(keys, named):
    with pytest.raises(ParameterError, match=named):
        exactdp.mechanism(f"{PRESET},{keys}")


@pytest.mark.contract
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no known mechanism"),
        ("gauss:sigma=1", "no known mechanism.*'gaussian'.*exactdp list"),
        ("bananas:sigma=1", "no known mechanism.*discrete-gaussian"),
        ("skellam", "variance missing"),
        ("skellam:variance", "key=value"),
        ("skellam:=1", "key=value"),
        ("skellam:variance=1,", "key=value"),
        ("skellam:variance=1\nmodulus=3", "printable"),
        ("skellam:variance=" + "1" * 5000, "4096"),
        ("discrete-laplace:sensitivity=1", "exactly one of epsilon and scale"),
        (
            "skellam:variance=1,users=9,dropout=5,collusion=4",
            "at most users - 1 = 8, got dropout 5",
        ),
        ("theorem2:epsilon=0.5,batch=64,horizon=100", "scaling missing"),
        ("pmf:slack=0", "file missing"),
        ("pmf:file=/nowhere/pair.csv", "No such file"),
        ("nowhere.toml", "No such file"),
    ],
)
def test_malformed_specs_are_refused(text, named):
    with pytest.raises(ParameterError, match=named):
        exactdp.mechanism(text)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("l2=3", "give l1 as well, or scale; l1 is at most 9"),
        ("linf=3,dimension=20", "give l1 as well, or scale; l1 is at most 60"),
        ("l2=3,dimension=3,rounding=nearest,neighbours=add-remove", "give scale.*at most 6"),
        ("l1=3,dimension=3,l2=3,rounding=nearest,neighbours=add-remove", "l1 must not be given"),
        ("l1=3,sensitivity=2", "sensitivity is of single numbers"),
        ("l1=0.5", "l1 must be an exact number at least 1"),
        ("dimension=3", "a vector needs l2, l1"),
        ("linf=3", "a vector needs l2, l1, or linf"),
    ],
)
def test_epsilon_of_other_norms_is_not_guessed(keys, told):
    with pytest.raises(ParameterError, match=told):
        exactdp.mechanism(f"discrete-laplace:epsilon=1/2,{keys}")


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.contract
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.toml", 'mechanism = "discrete-laplace"\nepsilon = 0.1\nsensitivity = 2\n'),
        ("b.toml", 'name = "discrete-laplace"\nepsilon = "1/10"\nsensitivity = "2"\n'),
        ("c.json", '{"mechanism": "discrete-laplace", "epsilon": 0.1, "sensitivity": 2}'),
        ("d.json", '{"name": "discrete-laplace", "scale": "20", "sensitivity": 2}'),
    ],
)
def test_a_file_holds_the_same_keys(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert exactdp.mechanism(str(tmp_path / name)) == exactdp.mechanism(
        "discrete-laplace:scale=20,sensitivity=2"
    )


def test_numbers_in_files_are_taken_as_written(tmp_path):
    (tmp_path / "a.json").write_text(
        '{"name": "skellam", "variance": 0.1000000000000000055511151231257827}'
    )
    law = parse(str(tmp_path / "a.json")).mechanism.law
    assert law.variance == Fraction("0.1000000000000000055511151231257827")


@pytest.mark.contract
@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("a.toml", "mechanism = ", "not TOML"),
        ("a.toml", 'epsilon = "1"', "mechanism"),
        ("a.toml", 'mechanism = "skellam"\nvariance = true', "variance"),
        ("a.toml", 'mechanism = "skellam"\nvariance = 1\nvariance = 2', "not TOML"),
        ("a.toml", 'mechanism = "skellam"\nvariance = 1979-05-27', "variance"),
        ("a.toml", 'mechanism = "skellam"\nvariance = ' + "9" * 5000, "not TOML"),
        ("a.json", "", "not JSON"),
        ("a.json", "[1]", "table"),
        ("a.json", "[" * 100_000, "not JSON"),
        ("a.json", '{"name": "skellam", "variance": NaN}', "variance"),
        ("a.json", '{"name": "skellam", "variance": 1, "variance": 1}', "twice"),
        ("a.json", '{"name": "skellam", "mechanism": "skellam", "variance": 1}', "one key"),
        ("a.json", '{"name": "skellam", "variance": null}', "variance"),
        ("a.json", '{"name": "pmf", "file": "\\u0000"}', "not a path"),
        ("a.json", b"\xff\xfe\x00", "UTF-8"),
        ("a.json", b" " * 10_000_001, "larger"),
    ],
)
def test_malformed_files_are_refused(tmp_path, name, content, named):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ParameterError, match=named):
        exactdp.mechanism(str(path))


def test_a_file_names_its_pair_relative_to_itself(tmp_path):
    (tmp_path / "pair.csv").write_text("outcome,p,q\nyes,0.6,0.4\nno,0.4,0.6\n")
    (tmp_path / "pair.toml").write_text('mechanism = "pmf"\nfile = "pair.csv"\n')
    expected = FinitePair(("yes", "no"), ("0.6", "0.4"), ("0.4", "0.6"))
    assert parse(str(tmp_path / "pair.toml")).mechanism == expected
    assert parse(f"pmf:file={tmp_path / 'pair.csv'}").mechanism == expected


# -- fuzz -----------------------------------------------------------------------------------------
