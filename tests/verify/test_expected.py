"""What the checker alone reads of SPEC: the same uses as the package, or an error, soon."""

import pytest

from exactdp import CertificateError, NotCertifiedError, ParameterError
from exactdp.accounting.composition.composed import Use
from exactdp.cli.main import main
from exactdp.mechanisms.specs.catalogue import entries
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify.checker.kinds import read_use
from exactdp.verify.checker.specs import spec_fields
from exactdp.verify.fields import use_fields


@pytest.mark.parametrize(
    "text",
    [
        "discrete-laplace:epsilon=0.1",
        "discrete-laplace:epsilon=0.1,l1=3,dimension=2",
        "gaussian:sigma=4.8448/10,l2=1e2/40,neighbours=add-remove,poisson=1.5/100",
        "discrete-gaussian:sigma=2,fixed-size=100/10000",
        "discrete-gaussian:sigma=1.5/0.5",
        "discrete-gaussian:rho=0.005,sensitivity=3",
        "discrete-gaussian:rho=0.1,l2=4,dimension=9",
        "gaussian:sigma2=9/4,neighbours=add-remove,poisson=0.1",
        "gaussian:rho=1/2,sensitivity=3",
        "gaussian:rho=2,l2=3",
    ],
)
def test_as_the_package_reads_it(text):
    held = read_use(use_fields(Use(parse(text).mechanism, 1)))
    assert read_use(spec_fields(text)) == held


@pytest.mark.parametrize(
    "text",
    [
        "discrete-laplace:epsilon=0.1,scale=10",
        "discrete-laplace:epsilon=0.1,l2=3",
        "discrete-laplace:epsilon=0",
        "discrete-laplace:epsilon=1e999999999",
        "discrete-laplace:epsilon=١",
        "discrete-laplace:epsilon=1_0",
        "discrete-laplace:epsilon=nan",
        "discrete-laplace:epsilon=1.5/0",
        "discrete-laplace:epsilon=1.5/2/3",
        "discrete-gaussian:sigma=1e999999999",
        "discrete-gaussian:sigma=1e-9999",
        "laplace:l1=2,sensitivity=1,scale=3",
        "gaussian:sigma=2,scale=3",
        "gaussian:sigma=2,rho=3",
        "gaussian:rho=0",
        "discrete-gaussian:rho=1,linf=2,dimension=3",
        "discrete-gaussian:rho=1,l2=4,dimension=4,rounding=stochastic,neighbours=add-remove",
        "discrete-gaussian-sum:count=2,rho=1",
        "skellam:rho=1",
        "geometric:scale=1",
        "skellam",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(CertificateError):
        spec_fields(text)


VALUES = [
    "2", "3", "4", "5", "8", "16", "64", "100", "1000", "1/2", "1/3", "1/4", "1/8", "0.01",
    "1e-7", "2/10", "20/100",
    "none", "yes", "no", "replace", "add-remove", "stochastic", "nearest",
    "conditional:0.6065", "skellam", "discrete-gaussian", "gaussian", "pure:1", "gdp:1",
]  # fmt: skip
BESIDE = {  # other specs of the catalogue's names than its examples
    "randomized-response": ["epsilon=1,shuffled=2"],
    "unary-encoding": ["epsilon=1,bits=16,shuffled=2", "p=3/4,q=1/4,bits=8"],
    "rappor": ["f=1/2,bits=16,shuffled=2", "f=1/2,p=3/4,q=1/4,reports=2,bits=8"],
    "count-mean-sketch": ["epsilon=4,bits=16,shuffled=2"],
    "subset-selection": ["epsilon=1,categories=10,shuffled=2"],
    "hadamard-response": ["epsilon=1,categories=10,shuffled=2"],
    "one-bit-mean": ["epsilon=1,shuffled=2"],
    "skellam": ["variance=9,threshold=50,keys=3", "variance=9,l2=4,dimension=16"],
    "discrete-gaussian": ["sigma2=9,l2=4,neighbours=add-remove,rounding=stochastic,dimension=16"],
    "laplace": ["scale=2,threshold=50,names=yes"],
    "tree": ["steps=16,sigma=10", "steps=16,sigma=10,noise=skellam,separation=4,clients=4,bits=12"],
}
SAME = {  # keys whose values change nothing of what is certified, and why
    "users": "so many equal shares add up to the same noise",
    "clients": "the same of streams",
    "tree bits": "certificates of streams are of sums before they are reduced",
    "tree dimension": "Gaussian noise is bounded alike in any dimension",
    "theorem3": "what is known is the guarantee of its aggregation, however many users there are",
    "theorem5 dropout": "the analyzer adds all of the noise",
    "theorem5 collusion": "the analyzer adds all of the noise",
    "theorem6 dropout": "every user adds all of the noise",
    "theorem6 collusion": "every user adds all of the noise",
}
FILES = {"local", "matrix", "blt", "pmf"}  # whose content is compared


def certified(text):
    """The mechanism, and what the checker compares of it; None where there is no certificate."""
    try:
        mechanism = parse(text).mechanism
        return mechanism, read_use(use_fields(Use(mechanism, 1)))
    except (ParameterError, NotCertifiedError, CertificateError):
        return None


def specs():
    for name, entry in entries().items():
        if name not in FILES:
            for values in (entry.example, *BESIDE.get(name, [])):
                for key in entry.keys:
                    yield pytest.param(name, values, key, id=f"{name}:{values} {key}")


@pytest.mark.slow_cases("tree:steps=1024,sigma=10,noise=skellam bits")
@pytest.mark.quick_cases(40)
@pytest.mark.parametrize(("name", "values", "key"), list(specs()))
def test_a_key_that_changes_what_is_released_changes_what_is_compared(name, values, key):
    given = dict(each.split("=", 1) for each in values.split(","))
    given |= {name: few for name, few in (("batch", "16"), ("horizon", "1000")) if name in given}

    def read(values):
        return certified(f"{name}:{','.join(f'{k}={v}' for k, v in values.items())}")

    if (one := read(given)) is None:
        return
    others = list(filter(None, (read(given | {key: v}) for v in VALUES if v != given.get(key))))
    alike = [mechanism for mechanism, held in others if held == one[1]]
    if name != "sparse-vector":  # which tells a share that is given from one that is meant
        assert all(mechanism == one[0] for mechanism in alike)
    if len(alike) > 1 and len(alike) == len(others):
        assert SAME.keys() & {key, f"{name} {key}", name}, "the certificate does not tell it"


@pytest.mark.contract
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "unary-encoding:epsilon=1,bits=3,shuffled=2",
            "unary-encoding:epsilon=1,bits=4,shuffled=2",
        ),
        ("rappor:f=1/2,bits=8", "rappor:f=1/2,bits=16"),
        ("unary-encoding:p=1/4,q=3/4", "unary-encoding:p=3/4,q=1/4"),
    ],
)
def test_what_was_not_expected_is_not_valid(capsys, tmp_path, one, other):
    file = str(tmp_path / "certificate.json")
    assert main(["audit", one, "--claim", "approx:3,1e-6", "--certificate", file]) == 0
    assert main(["check", file, "--expect", one]) == 0
    assert main(["check", file, "--expect", other]) == 1
    assert "it is of other releases than expected" in capsys.readouterr().out
