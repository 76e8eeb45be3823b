"""Protocols as they are played, by command line and JSON: sums, masks, graphs, rounds of vectors.

Truth goes through every sum of encodings and every noise that counts, or is a closed form.
"""

import json
import math
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb

import mpmath
import oracles
import pytest
from commands import answer, refused

from exactdp import Enclosure
from exactdp.cli.main import main

pytestmark = pytest.mark.contract

_REACH, _SLACK = 70, Fraction(1, 10**9)
_SMALL = "theorem1:epsilon=2,batch=3,horizon=10"
# the share of n, and the noise of n d-fold shares over n: as text of the key that says so
SUMS = {
    _SMALL: lambda n, more: oracles.polya_difference(more, 2),
    "theorem2:epsilon=2,batch=3,horizon=10,scaling=2": lambda n, more: oracles.skellam(
        Fraction(49, 4) * more
    ),
    "theorem3:epsilon=2,batch=3,horizon=10": lambda n, more: oracles.polya_difference(more, 2),
    "theorem5:epsilon=1/2,batch=4,horizon=10": lambda n, more: oracles.discrete_laplace(2),
}


def ends(found: dict[str, str]) -> tuple[Fraction, Fraction]:
    return Fraction(found["lower"]), Fraction(found["upper"])


def holds(found: dict[str, str], truth: object, slack: Fraction = _SLACK) -> bool:
    low, high = ends(found)
    exact = truth if isinstance(truth, Fraction) else Fraction(str(truth))
    return low * (1 - slack) <= exact * (1 + slack) and exact * (1 - slack) <= high * (1 + slack)


class Sum:
    """Of n users on a grid g, decoded to -tau, ..., m - 1 - tau, with this noise."""

    def __init__(self, n: int, g: int, pmf: object) -> None:
        self.n, self.g = n, g
        self.table = [(x, pmf(x)) for x in range(-_REACH, _REACH + 1)]

    def off(self, tau: int, m: int, t: int) -> mpmath.mpf:
        """The largest P(|D - s| > t) of all sums s of encodings."""
        return max(
            mpmath.fsum(p for x, p in self.table if abs((s + x + tau) % m - tau - s) > t)
            for s in range(self.n * self.g + 1)
        )

    def wraps(self, tau: int, m: int) -> mpmath.mpf:
        return max(
            mpmath.fsum(p for x, p in self.table if not -tau <= s + x < m - tau)
            for s in range(self.n * self.g + 1)
        )

    def beyond(self, tau: int, m: int, t: Fraction) -> mpmath.mpf:
        """A lower bound of the largest P(|A - sum of rewards| > t/g): all fractions alike."""
        worst = mpmath.mpf(0)
        for f in (Fraction(0), Fraction(1, 3), Fraction(1, 2)):
            for base in (0, self.n * (self.g - 1)):
                found = mpmath.mpf(0)
                for up in range(self.n + 1):
                    chance = comb(self.n, up) * f**up * (1 - f) ** (self.n - up)
                    hit = (p for x, p in self.table
                           if abs((base + up + x + tau) % m - tau - base - self.n * f)
                           > t)  # fmt: skip
                    found += oracles.real(chance) * mpmath.fsum(hit) if chance else 0
                worst = max(worst, found)
        return worst


def rounding(n: int, t: int) -> Fraction:
    """sup over data of P(|rounding| > t/g): Hoeffding, all fractions alike, at their ends."""
    if not t:
        return Fraction(1)
    chances = [Fraction(0)]
    for k in range(1, n):
        p = Fraction(k, n)
        law = [comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)]
        chances.append(sum(q for x, q in enumerate(law) if x <= k - t or x >= k + t + 1))
    return max(chances)


@pytest.mark.slow_cases(
    *(spec for spec in SUMS if "theorem2" in spec or "theorem3" in spec),
    "theorem1:epsilon=2,batch=3,horizon=10",
)
@pytest.mark.parametrize("spec", SUMS)
def test_failures_of_sums_are_those_of_all_encodings(spec: str, capsys: object) -> None:
    central = "theorem5" in spec
    found = answer(capsys, "protocol", spec, "--dropout", "1")
    n, g, failure = found["users"], found["precision"], Fraction(found["failure"])
    played = Sum(n, g, SUMS[spec](n, Fraction(1)))
    paper = found["paper"]
    tau, m = paper["accuracy"], paper["modulus"]
    assert m == n * g + 2 * tau + 1 and paper["bits_per_user"] == (m - 1).bit_length()
    assert holds(paper["failure"], played.off(tau, m, tau))
    assert ends(paper["failure"])[1] <= Fraction(paper["claimed_failure"])
    if "theorem2" in spec:  # (2g/epsilon) sqrt(log 2T) + sqrt(2) log 2T, rounded up
        assert tau == math.ceil(7 * math.sqrt(math.log(20)) + math.sqrt(2) * math.log(20))
    assert holds(paper["wrap"], played.wraps(tau, m)) and paper["overflow"] == paper["wrap"]
    _least(found["least_accuracy"], played, failure)
    least = found["least_modulus"]
    assert holds(least["failure"], played.wraps(least["accuracy"], least["modulus"]))
    assert ends(least["failure"])[1] <= failure < ends(least["neighbour"]["failure"])[0]
    smaller = least["modulus"] - 1
    assert all(oracles.exactly(played.wraps(tau, smaller)) > failure for tau in range(smaller))
    for level in found["quantiles"]:
        p = Fraction(level["failure"])
        t = next(t for t in range(_REACH) if oracles.exactly(played.off(tau, m, t)) <= p)
        assert holds(level["noise"], Fraction(t, g))
        low, high = (end * g for end in ends(level["rounding"]))
        least_t = next(t for t in range(n + 1) if rounding(n, t) <= p)
        assert high - least_t < _SLACK > abs(low - max(least_t - 1, 0))
        low, high = (round(end * g) for end in ends(level["total"]))
        assert oracles.exactly(played.beyond(tau, m, Fraction(high - 1))) > p or high - low > 1
        assert low == 0 or oracles.exactly(played.beyond(tau, m, Fraction(low) - 1)) > p
        assert oracles.exactly(played.beyond(tau, m, Fraction(high))) <= p
    (share,) = found["dropout"]
    if central:
        assert share["changed"] == "nothing" and holds(share["variance_ratio"], Fraction(1))
        return
    assert holds(share["variance_ratio"], Fraction(n, n - 1))
    _least(share["least_accuracy"], Sum(n, g, SUMS[spec](n, Fraction(n, n - 1))), failure)
    if (other := share["alternative"]) is not None:
        _raised(other, Fraction(n - 1, n), g, 2)


def _least(found: dict, played: Sum, failure: Fraction) -> None:
    """It is met, and one below is not."""
    n, g, tau = played.n, played.g, found["accuracy"]
    assert found["modulus"] == n * g + 2 * tau + 1
    assert holds(found["failure"], played.off(tau, found["modulus"], tau))
    below = played.off(tau - 1, found["modulus"] - 2, tau - 1)
    assert holds(found["neighbour"]["failure"], below)
    assert ends(found["failure"])[1] <= failure < ends(found["neighbour"]["failure"])[0]


def _raised(found: dict, share: Fraction, g: int, scale: int) -> None:
    """Of a larger scale this part of the noise loses as little as all did, barely."""
    raised = Fraction(found["raised_to"])

    def largest(at: Fraction) -> mpmath.mpf:
        pmf = oracles.polya_difference(share, at)
        return mpmath.log(pmf(0) / pmf(g))

    target = mpmath.mpf(g) / scale
    unit = Fraction(10) ** (math.floor(math.log10(scale)) - 8)
    assert (
        largest(raised) <= target * (1 + mpmath.mpf(10) ** -30) and largest(raised - unit) > target
    )
    variance = (
        2 * b / (1 - b) ** 2 for b in (mpmath.exp(-1 / oracles.real(s)) for s in (raised, scale))
    )
    more, before = variance
    assert found["changed"] == "scale" and holds(found["variance_ratio"], more / before)


def test_a_larger_scale_is_not_looked_for_in_vain(capsys: pytest.CaptureFixture[str]) -> None:
    """Two of three shares gone: one will do; twelve of sixteen: the peak at 0 is too high."""
    (share,) = answer(capsys, "protocol", _SMALL, "--dropout", "2")["dropout"]
    _raised(share["alternative"], Fraction(1, 3), 4, 2)
    spec = "theorem1:epsilon=1/2,batch=16,horizon=10"
    (share,) = answer(capsys, "protocol", spec, "--dropout", "12")["dropout"]
    assert share["changed"] == "shape" and share["alternative"] is None
    for dropout in ("3", "-1"):
        refused(capsys, ["protocol", _SMALL, f"--dropout={dropout}"], "dropout")


@pytest.mark.parametrize(("spec", "scale"), [("theorem3:epsilon=2,batch=3,horizon=10", 2)])
def test_a_relaxed_aggregation_adds_twice_its_leak(spec: str, scale: int, capsys: object) -> None:
    """Pure epsilon 1 of the noise and twice 1/2; with a share gone log p(0)/p(g), g = 2."""
    (told,) = answer(capsys, "compose", spec, "--pure")["results"]
    assert ends(told) == (2, 2)
    (told,) = answer(capsys, "compose", f"{spec},dropout=1", "--pure")["results"]
    pmf = oracles.polya_difference(Fraction(2, 3), scale)
    assert holds(told, 1 + mpmath.log(pmf(0) / pmf(2)), Fraction(1, 10**18))


# -- rounds over masks ----------------------------------------------------------------------------


@pytest.fixture
def rewards(tmp_path: object) -> str:
    path = tmp_path / "rewards"
    path.write_text("\n".join(["1"] * 7 + ["0"] * 5))
    return str(path)


def play(capsys: object, spec: str, *words: str) -> dict:
    return answer(capsys, "protocol", "--play", spec, *words)


@pytest.mark.parametrize("spec", ["theorem1", "theorem5"])
@pytest.mark.parametrize("way", [(), ("--plain",)])
def test_masks_cancel_whoever_drops_out(
    spec: str, way: tuple[str, ...], rewards: str, capsys: object
) -> None:
    """With hardly any noise what is found is the sum of those who are in it, to a thousandth."""
    epsilon = "1000" if spec == "theorem1" else "0.999"
    spec = f"{spec}:epsilon={epsilon},batch=12,horizon=1000"
    for seed in range(1, 4):
        found = play(
            capsys, spec, "--rewards", rewards, "--dropout", "2", "--seed", str(seed), *way
        )
        truth, error = Fraction(found["truth"]), Fraction(found["error"])
        assert truth.denominator == 1 and error == Fraction(found["found"]) - truth
        assert abs(error) <= Fraction(found["bound"]) and found["within"]
        assert abs(error) < Fraction(1, 10) or "0.999" in spec
        assert found["summed"] + found["missing"] == 12 and found["dropped_out"] == 2
        counts = list(found["present"].values())
        assert counts == sorted(counts, reverse=True) and counts[-1] >= 10
        assert 7 - found["missing"] <= truth <= 7
    everybody = play(capsys, spec, "--rewards", rewards, "--seed", "1", *way)
    assert everybody["truth"] == "7" and everybody["missing"] == 0


@pytest.mark.parametrize("spec", ["theorem1:epsilon=1/2", "theorem5:epsilon=1/2"])
def test_each_trust_has_its_noise_once(spec: str, capsys: object) -> None:
    """The squared errors of a few rounds, over the variance of one discrete Laplace variable."""
    total, spec = Fraction(0), f"{spec},batch=100,horizon=1000"
    for seed in range(8):
        found = play(capsys, spec, "--mean", "0", "--seed", str(seed), "--plain")
        total += Fraction(found["error"]) ** 2
    g = Fraction(found["error"]).denominator if total else 0
    assert total > 0
    grid = next(k for k in range(1, 10**4) if k >= 0.5 * math.sqrt(100))
    mean, b = float(total) / 8, math.exp(-1 / (2 * grid))
    variance = 2 * b / (1 - b) ** 2 / grid**2
    assert variance / 6 < mean < 6 * variance, (g, grid)


def bad_graph(n: int, k: int, t: int, corrupt: int, gone: int) -> dict[str, Fraction]:
    """Over all sets of corrupt users on the circle, and of those who vanish of the others."""
    half = k // 2
    near = [[(i + s) % n for s in (*range(-half, 0), *range(1, half + 1))] for i in range(n)]
    exposed = both = 0
    sets = list(combinations(range(n), corrupt))
    for held in map(set, sets):
        counts = [len(held.intersection(near[i])) for i in range(n) if i not in held]
        exposed += any(count >= t for count in counts)
        both += any(count >= 2 * t - k for count in counts)
    aborted = sum(
        any(k - len(set(near[i]).intersection(left)) < t for i in range(n))
        for left in combinations(range(n), gone)
    )
    return {
        "exposed": Fraction(exposed, len(sets)),
        "both": Fraction(both, len(sets)),
        "aborted": Fraction(aborted, comb(n, gone)),
    }


@cache
def at_least(population: int, marked: int, drawn: int, least: int) -> Fraction:
    """Hypergeometric, by its terms."""
    ways = sum(comb(marked, x) * comb(population - marked, drawn - x)
               for x in range(max(least, 0), min(marked, drawn) + 1) if drawn >= x)  # fmt: skip
    return Fraction(ways, comb(population, drawn))


def union_bound(n: int, k: int, t: int, c: int) -> Fraction:
    """What the documentation bounds a lying server by: both shares, two runs, and a split list."""
    half = k // 2
    both = (n - c) * at_least(n - 1, c, k, 2 * t - k)
    run = at_least(n, c, half, t - half)
    isolated = Fraction(n * (n - 2 * half + 1) // 2) * run * run
    near, between = Fraction(0), run
    for d in range(1, half + 2):
        one, other = (
            at_least(n, c, k + 1 - d, 2 * t - k + 1 - d),
            at_least(n, c, d - 1, t - k + d - 1),
        )
        if one <= n * other * other:
            near += one
        else:
            between += other
    split = n * near + (n * between) ** 2 / 2
    return min(Fraction(1), sum(min(Fraction(1), each) for each in (both, isolated, split)))


@pytest.mark.slow_cases("40-16-4", "40-12-2")
@pytest.mark.parametrize(("users", "neighbours", "corrupt"), [(40, 12, 2), (40, 16, 4), (14, 6, 1)])
def test_how_likely_a_graph_fails(
    users: int, neighbours: int, corrupt: int, capsys: object
) -> None:
    spec = f"theorem1:epsilon=1/2,batch={users},horizon=1000"
    words = ("--mask-degree", str(neighbours), "--colluding", str(corrupt), "--dropout", "1")
    graph = play(capsys, spec, *words, "--seed", "3", "--failure", "0.9", "--floor", str(users - 1))
    graph = graph["graph"]
    t = graph["threshold"]
    assert graph["corrupt"] >= corrupt == int(words[3])
    corrupt = graph["corrupt"]
    risk = union_bound(users, neighbours, t, corrupt)
    assert abs(ends(graph["lying_server"])[1] - risk) <= risk * _SLACK and risk <= Fraction(9, 10)
    assert t == neighbours // 2 + 1 or union_bound(users, neighbours, t - 1, corrupt) > Fraction(
        9, 10
    )
    truth = bad_graph(users, neighbours, t, corrupt, 1)
    assert ends(graph["lying_server"])[0] <= truth["both"] or not truth["both"]
    low, high = ends(graph["aborted"])
    assert low <= truth["aborted"] <= high
    assert truth["exposed"] <= ends(graph["honest_server"])[1]


def test_bits_that_a_user_sends_are_those_of_the_messages(capsys: object) -> None:
    """Two keys, k sealed shares and their checks and a commitment, the sum, k tags, k shares."""
    spec = "theorem1:epsilon=1/2,batch=14,horizon=1000"
    sent = {}
    for neighbours in (4, 6, 8):
        words = ("--mask-degree", str(neighbours), "--failure", "1", "--seed", "1")
        found = play(capsys, spec, *words, "--colluding", "0")
        sent[neighbours] = found["bits_sent"] - found["bits_per_user"]
    each = (sent[6] - sent[4]) / 2
    assert sent[8] - sent[6] == sent[6] - sent[4]  # so much for each neighbour
    assert sent[4] - 4 * each == BITS_OF_KEYS, sent


BITS_OF_KEYS = 8 * (32 + 32) + 256


def test_what_no_round_allows_is_refused(rewards: str, capsys: pytest.CaptureFixture[str]) -> None:
    spec = "theorem1:epsilon=1/2,batch=14,horizon=1000"
    for words in (
        ["--mask-degree", "6", "--colluding", "5", "--failure", "1e-9"],
        ["--colluding", "7", "--dropout", "7"],
        ["--dropout", "14"],
        ["--dropout", "15"],
        ["--rewards", rewards],  # of twelve
        ["--mask-degree", "5"],
        ["--floor", "1"],
    ):
        refused(capsys, ["protocol", "--play", spec, *words], "")
    refused(capsys, ["protocol", "--play", spec.replace("batch=14", "batch=1")], "")
    refused(capsys, ["protocol", "--play", spec, "--colluding", "5", "--dropout", "6"], "dropout")


def test_ten_of_forty_colluding_need_a_larger_graph(capsys: object) -> None:
    """Chosen graphs are good enough, and two neighbours fewer are not at any threshold."""
    spec = "theorem1:epsilon=1/2,batch=60,horizon=1000"
    graph = play(capsys, spec, "--colluding", "3", "--seed", "1", "--failure", "1e-4")["graph"]
    k, t, c = (graph[key] for key in ("neighbours", "threshold", "corrupt"))
    assert union_bound(60, k, t, c) <= Fraction(1, 10**4) and c >= 3
    assert all(
        union_bound(60, k - 2, less, c) > Fraction(1, 10**4) for less in range(k // 2, k - 1)
    )


# -- federated rounds -----------------------------------------------------------------------------

_FEDERATED = (
    "federated:mechanism={},clip=1,scale=4,clients=5,local-stddev=1,dimension=4,bits=6,rounding={}"
)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["skellam", "discrete-gaussian"])
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_bounds_of_rounds_of_vectors(law: str, rounding: str, capsys: object) -> None:
    """Errors and wrapping are at least what the moments and the mean 0 have."""
    told = answer(capsys, "protocol", _FEDERATED.format(law, rounding))
    error, wrap = ends(told["error"]["l2"])[1], ends(told["wrap"]["any"])[1]
    deviation = math.sqrt(4 * 5 * 16) / (4 * 5)  # of the mean's norm: four coordinates, five shares
    assert deviation < error < 12 * deviation
    pmf = oracles.skellam(5 * 16) if law == "skellam" else oracles.discrete_gaussian(5 * 16)
    tail = mpmath.fsum(pmf(x) for x in range(32, 400))
    assert oracles.exactly(tail) < wrap <= 1
    (one, *_) = told["dropout"]
    more = Fraction(one["local-stddev"])
    assert one["missing"] == 1
    assert Fraction(5, 4) <= more**2 < Fraction(5, 4) * (1 + Fraction(1, 10**4))
    assert ends(told["epsilon"])[0] <= ends(one["epsilon"])[1]


@pytest.mark.parametrize("way", [(), ("--plain",)])
@pytest.mark.parametrize(("gone", "rounding"), [("0", "nearest"), ("1", "stochastic")])
def test_rounds_of_vectors_keep_their_bounds(
    gone: str, rounding: str, way: tuple[str, ...], capsys: object
) -> None:
    spec = _FEDERATED.format("skellam", rounding)
    found = play(capsys, spec, "--seed", "2", "--dropout", gone, *way)
    assert not way or found["missing"] == int(gone)
    assert found["dropped_out"] == int(gone) and found["summed"] + found["missing"] == 5
    assert found["within"] and Fraction(found["error"]) <= ends(found["bound"])[1]
    assert found["bits_per_user"] == 4 * 6 and found["coordinates"] == 4


def test_what_no_round_of_vectors_allows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    spec = _FEDERATED.format("skellam", "nearest")
    for words in ([spec, "--clients", "6"], [spec, "--dimension", "5"], [spec, "--dropout", "5"],
                  [spec.replace("stddev=1", "stddev=0")], [spec.replace("stddev=1", "stddev=-1")],
                  [spec, "--dropout", "4", "--floor", "3"],
                  [spec, "--dropout", "5", "--plain"]):  # fmt: skip
        refused(capsys, ["protocol", "--play", *words], "")


# -- streams --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_streams_of_sums_say_what_their_shares_are(capsys: object) -> None:
    spec = "tree:steps=4,sigma=3,noise=discrete-gaussian,clients=9,l2=1"
    assert main(["protocol", spec, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    whole = answer(capsys, "compose", spec.replace(",clients=9", ""), "--delta", "1e-6")
    (told,) = whole["results"]
    assert Enclosure.from_json(found["epsilon"]).upper >= Fraction(told["lower"])
    deviation = Fraction(found["mechanism"]["prefix_stddev"])  # the first three: two nodes
    assert abs(deviation**2 - 2 * 9) < _SLACK and found["share"] == "DiscreteGaussian(sigma2=1)"
    for each in found["dropout"]:
        left = Fraction(9 - each["missing"], 9)
        assert Fraction(each["variance_left"]) == left
        assert 9 <= left * Fraction(each["sigma"]) ** 2 < 9 * (1 + Fraction(1, 10**4))
