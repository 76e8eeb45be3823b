"""Names that users of other libraries type: one line, and what stands for them here."""

import pytest
from commands import refused

from exactdp.cli.main import main

MECHANISMS = """
laplace_mechanism:epsilon=1 -> 'laplace'
LaplaceTruncated:epsilon=1 -> 'laplace'
LaplaceBoundedDomain:epsilon=1 -> not covered
Staircase:epsilon=1 -> not covered
Vector:epsilon=1 -> not covered
GaussianAnalytic:epsilon=1 -> 'gaussian'
GaussianDiscrete:epsilon=1 -> 'discrete-gaussian'
Geometric:epsilon=1 -> 'discrete-laplace'
ExponentialHierarchical:epsilon=1 -> 'exponential'
PermuteAndFlip:epsilon=1 -> 'permute-and-flip'
Binary:epsilon=1 -> 'randomized-response'
dpsgd:noise_multiplier=1.1 -> poisson=BATCH/USERS*STEPS
GaussianDpEvent:noise_multiplier=1 -> 'gaussian'
RandomizedResponseDpEvent:epsilon=1 -> 'randomized-response'
make_laplace:scale=1 -> 'laplace'
make_randomized_response_bool:prob=0.75 -> 'randomized-response'
then_gaussian:scale=1 -> 'gaussian'
MST:epsilon=1 -> not covered
PATE:epsilon=1 -> not covered
histogram:epsilon=1 -> 'discrete-laplace'
mean:epsilon=1 -> a sum and a count
randomised-response:epsilon=1 -> 'randomized-response'
k-rr:epsilon=1 -> 'randomized-response'
above_threshold:epsilon=1 -> 'sparse-vector'
report_noisy_max:epsilon=1 -> 'noisy-max'
skelam:variance=1 -> 'skellam'
shuffle:epsilon=1 -> shuffled=USERS
secure-aggregation:clients=10 -> 'federated'
dp-ftrl:sigma=1 -> 'tree'
zcdp:0.5 -> guarantee:zcdp:RHO
approx:1,1e-6 -> guarantee:approx:EPSILON,DELTA
Gaussian:sigma=1 -> 'gaussian'
gaussian:noise_multiplier=1 -> 'sigma'
gaussian:sigma=1,sample_rate=0.1 -> 'poisson'
gaussian:sigma=1,batch_size=10 -> 'fixed-size'
gaussian:sigma=1,steps=10 -> SPEC*K
gaussian:sigma=1,delta=1e-6 -> --delta
gaussian:epsilon=1,delta=1e-6 -> calibrate
gaussian:stddev=1 -> 'sigma'
laplace:b=1 -> 'scale'
skellam:sigma=10 -> 'variance'
gaussian:sigma=1,max_grad_norm=1 -> 'sensitivity'
federated:noise_multiplier=1 -> 'local-stddev'
discrete-laplace:epsilon=1,l1_sensitivity=2 -> 'l1'
randomized-response:p=0.75 -> log(p/(1-p))
""".strip().splitlines()
CLAIMS = """
1 -> 'pure:1'
(1,1e-6) -> 'approx:1,1e-6'
eps=1 -> 'pure'
dp:1,1e-6 -> 'approx'
renyi:2,1 -> 'rdp'
zCDP:0.1 -> 'zcdp'
rho:0.1 -> 'zcdp'
approx:1 -> approx:EPSILON,DELTA
""".strip().splitlines()
OPTIONS = """
calibrate gaussian --epsilon 1 -> --target
calibrate gaussian --sigma 1 -> in the spec
calibrate gaussian --steps 10 -> --times
audit laplace:scale=1 --epsilon 1 -> --claim
audit laplace:scale=1 --delta 1e-6 -> --claim
audit laplace:scale=1 pure:1 -> a claim stands after --claim
compose gaussian:sigma=1 --steps 10 -> SPEC*K
calibrate federated --target pure:1 -> protocol federated:... --target
compose gaussian:sigma=1 --sample-rate 0.1 -> poisson=BATCH/USERS
audit --mechanism laplace:scale=1 -> the spec stands alone
bandit identify --csv file.csv -> --instance
bandit run --epsilon 1 --horizon 10 --algorithm dp-ucb -> 'dp-klucb'
claims D-thm1 -> 'D-thm1-privacy'
sample laplace:scale=1 --value 3 -> --query
blackbox sampler.py --claim pure:1 -> sampler:FUNCTION
""".strip().splitlines()


def cases(lines, *front):
    for line in lines:
        typed, _, said = line.rpartition(" -> ")
        yield pytest.param([*front, *typed.split()], said, id=typed)


@pytest.mark.contract
@pytest.mark.parametrize(
    ("words", "said"),
    [
        *cases(MECHANISMS, "audit"),
        *cases(CLAIMS, "audit", "laplace:scale=1", "--claim"),
        *cases(OPTIONS),
    ],
)
def test_one_line_says_what_stands_for_it(words, said, capsys):
    refused(capsys, words, said)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("adjacency=replace-one", "neighbours=replace"),
        ("neighbors=add-remove", "neighbours=add-remove"),
        ("adjacency=add-or-remove-one", "neighbours=add-remove"),
    ],
)
def test_adjacency_is_read_in_the_fields_words(theirs, ours, tmp_path):
    from exactdp.mechanisms.specs.spec import parse

    meant = parse(f"laplace:scale=2,{ours}").mechanism
    assert parse(f"laplace:scale=2,{theirs}").mechanism == meant
    key, _, value = theirs.partition("=")
    file = tmp_path / "spec.toml"
    file.write_text(f'mechanism = "laplace"\nscale = 2\n{key} = "{value}"\n')
    assert parse(str(file)).mechanism == meant


@pytest.mark.contract
def test_adjacency_is_given_once(capsys):
    assert main(["audit", "laplace:scale=2,neighbours=replace,adjacency=replace"]) == 2
    assert "'neighbours' is given twice" in capsys.readouterr().err
