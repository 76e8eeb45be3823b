"""Selection and sparse vectors, against brute force over the noise and over candidates."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from exactdp import ZCDP, ParameterError, PureDP, Verdict
from exactdp.accounting import compose
from exactdp.mechanisms.above import mean_above
from exactdp.mechanisms.selection import Flipped, OneAgainstAll, Raised, TwoLosses
from exactdp.mechanisms.sparse_vector import Run
from exactdp.mechanisms.spec import parse
from exactdp.verify import audit

REACH = 120


def _law(scale: float) -> dict[int, float]:
    decay = math.exp(-1 / scale)
    return {x: (1 - decay) / (1 + decay) * decay ** abs(x) for x in range(-REACH, REACH + 1)}


def _of(text: str):
    return parse(text).mechanism


@pytest.mark.parametrize(
    ("below", "above"),
    [({}, {}), ({0: 1}, {}), ({0: 2}, {0: 1}), ({1: 3}, {-1: 2}), ({-2: 1, 3: 1}, {5: 2})],
)
def test_sums_over_one_noise(below, above):
    outer, inner = _law(2), _law(3)
    truth = 0.0
    for t, mass in outer.items():
        less = {q: sum(m for x, m in inner.items() if q + x < t) for q in {*below, *above}}
        for q, times in below.items():
            mass *= less[q] ** times
        for q, times in above.items():
            mass *= (1 - less[q]) ** times
        truth += mass
    found = mean_above(Fraction(2), Fraction(3), below, above)
    assert float(found.mid()) == pytest.approx(truth, rel=1e-9)
    assert float(found.rad()) < 1e-12


@pytest.mark.parametrize("part", [1, 3, 8, 16])
def test_two_losses_are_a_pair_of_laws(part):
    pair = TwoLosses(Fraction(2), part, 16, 17)
    p, q = pair.masses()
    assert sum(p).contains(1) and sum(q).contains(1)
    unit, multiples = pair.steps()
    for a, b, k in zip(p, q, multiples, strict=True):
        assert math.log(float(a.mid()) / float(b.mid())) == pytest.approx(float(unit) * k)


@pytest.mark.parametrize("level", ["0", "0.3", "0.9"])
def test_the_exponential_mechanism_of_few_candidates(level):
    """Scores of three candidates on a grid; neighbours move each by -1, 0 or 1."""
    found = compose(_of("exponential:epsilon=1")).delta(level)
    gamma, worst = math.exp(float(level)), 0.0
    for scores in itertools.product((-3.0, -1.0, 0.0, 0.5, 2.0), repeat=2):
        for moves in itertools.product((-1, 0, 1), repeat=3):
            weights = [math.exp(s / 2) for s in (0.0, *scores)]
            moved = [w * math.exp(m / 2) for w, m in zip(weights, moves, strict=True)]
            p = [w / sum(weights) for w in weights]
            q = [w / sum(moved) for w in moved]
            worst = max(worst, sum(max(a - gamma * b, 0) for a, b in zip(p, q, strict=True)))
    best = (1 - math.exp((float(level) - 1) / 2)) ** 2 / (1 - math.exp(-1))
    assert worst <= float(found) and float(found) == pytest.approx(best, rel=1e-12)
    assert found.is_within(Fraction(1, 10**12))


def _worst(span: float, measure) -> float:
    """The largest over all t of what two losses t and t - span cost, by trying many."""
    found, low, high = 0.0, 0.0, span
    for _ in range(5):
        places = [low + (high - low) * k / 400 for k in range(401)]

        def cost(t: float) -> float:
            p = (1 - math.exp(t - span)) / (1 - math.exp(-span))
            return measure(((p, t), (1 - p, t - span)))

        found, best = max((cost(t), t) for t in places)
        reach = (high - low) / 100
        low, high = max(best - reach, 0.0), min(best + reach, span)
    return found


@pytest.mark.parametrize("span", [0.01, 1.0, 8.0])
def test_one_exponential_mechanism_costs_what_its_worst_scores_do(span):
    one = compose(_of(f"exponential:epsilon={span}"))
    for share in (0.0, 0.3, 0.9, 0.999):
        level = Fraction(str(span)) * Fraction(str(share))

        def excess(pair, level=float(level)):
            return sum(m * max(-math.expm1(level - loss), 0.0) for m, loss in pair)

        delta = one.delta(level)
        assert delta.is_within(Fraction(1, 10**12))
        assert float(delta) == pytest.approx(_worst(span, excess), rel=1e-6)
        # and back: what of this delta is asked is the level again
        back = Fraction(one.epsilon(Fraction(delta.upper)).upper)
        assert abs(back - level) < Fraction(1, 10**9)
    for order in (1.001, 2, 30, 1000):

        def divergence(pair, above=order - 1):
            seen = [(m, loss) for m, loss in pair if m > 0]
            top = max(loss for _, loss in seen)
            total = sum(m * math.exp(above * (loss - top)) for m, loss in seen)
            return top + math.log(total) / above

        found = one.renyi(order)
        assert found.is_within(Fraction(1, 10**12))
        assert float(found) == pytest.approx(_worst(span, divergence), rel=1e-6)
    assert one.delta(Fraction(str(span))).upper == 0
    assert one.epsilon("0.999999").upper == 0


@pytest.mark.slow
def test_a_list_is_charged_for_the_order_of_releases_that_costs_most_and_says_so():
    first, second = _of("exponential:epsilon=1"), _of("exponential:epsilon=1/2")
    one_way, other = (compose(*pair).delta(0) for pair in ((first, second), (second, first)))
    assert one_way == other
    assert one_way.lower <= Fraction("0.25981413056") <= one_way.upper  # 1/2 first, by hand
    assert any("order costs most" in why for why in one_way.why)


def _not_adaptive(span: float, uses: int, level: float) -> float:
    """delta where one t is used throughout, the worst: Dong, Durfee, Rogers 2020, Theorem 3."""
    worst = 0.0
    for many in range(uses + 1):
        t = min(max((level + (many + 1) * span) / (uses + 1), 0.0), span)
        p = (1 - math.exp(t - span)) / (1 - math.exp(-span))
        worst = max(worst, sum(
            math.comb(uses, i) * p ** (uses - i) * (1 - p) ** i
            * max(1 - math.exp(level - (uses - i) * t - i * (t - span)), 0.0)
            for i in range(uses + 1)
        ))  # fmt: skip
    return worst


def _adaptive(span: float, uses: int, level: float, cells: int = 400) -> float:
    """The same where t is picked anew in every use: all t of a lattice, recursively."""
    if not uses:
        return max(1 - math.exp(level), 0.0)
    if uses == 1:
        return _not_adaptive(span, 1, level)
    worst = 0.0
    for t in (span * k / cells for k in range(1, cells)):
        p = (1 - math.exp(t - span)) / (1 - math.exp(-span))
        after = [_adaptive(span, uses - 1, level - loss, cells) for loss in (t, t - span)]
        worst = max(worst, p * after[0] + (1 - p) * after[1])
    return worst


def test_the_exponential_mechanism_twice_against_all_choices():
    found = compose((_of("exponential:epsilon=1"), 2)).delta("0.4", "1e-3")
    adaptive = _adaptive(1.0, 2, 0.4)
    assert _not_adaptive(1.0, 2, 0.4) <= adaptive <= float(found.upper)
    assert float(found.lower) <= adaptive * (1 + 1e-4)
    assert float(found.upper) <= 1.01 * float(found.lower)


@pytest.mark.slow
def test_a_hundred_exponential_mechanisms_are_known_to_a_few_percent_of_delta():
    """Who chooses anew does better than by any fixed choice; randomized response costs far more."""
    found = compose((_of("exponential:epsilon=0.1"), 100)).delta("2")
    fixed = _not_adaptive(0.1, 100, 2.0)
    assert fixed < float(found.lower) < 1.1 * fixed
    assert float(found.upper) <= 1.06 * float(found.lower)
    dearer = compose((_of("randomized-response:epsilon=0.1"), 100)).delta("2")
    assert 1000 * float(found.upper) < float(dearer.lower)


@pytest.mark.parametrize(
    ("span", "parts"), [(Fraction(1, 10), 64), (Fraction(8), 64), (Fraction(2), 5)]
)
def test_mixtures_of_raised_pairs_dominate_what_lies_between(span, parts):
    for part in {1, 2, parts // 2, parts - 2}:
        ends = [Raised(span, each, parts).masses() for each in (part, part + 1)]
        for share in (0.0, 0.1, 0.5, 0.8, 1.0):
            t = float(span) * (part + share) / parts
            p = (1 - math.exp(t - float(span))) / (1 - math.exp(-float(span)))
            between = (p, 1 - p), (p * math.exp(-t), 1 - p * math.exp(-t))
            for odds in (0.3, 0.9, 1.0, 1.02, math.exp(t), 3.0):
                ours, *theirs = (
                    sum(max(float(a) - odds * float(b), 0.0) for a, b in zip(*pair, strict=True))
                    for pair in (between, *ends)
                )
                assert ours <= (1 - share) * theirs[0] + share * theirs[1] + 1e-12


@pytest.mark.parametrize("epsilon", ["0.01", "1", "3", "30"])
def test_the_exponential_mechanism_is_concentrated_as_its_range_says(epsilon):
    span = Fraction(epsilon)
    one = compose((_of(f"exponential:epsilon={epsilon}"), 3))
    assert audit(one, ZCDP(3 * span**2 / 8)).verdict is Verdict.VERIFIED
    truth = 0.0  # over candidates' scores and orders
    for t in (float(span) * part / 200 for part in range(1, 200)):
        p = (1 - math.exp(t - float(span))) / (1 - math.exp(-float(span)))
        pair = ((p, p * math.exp(-t)), (1 - p, 1 - p * math.exp(-t)))
        for order in (1.0001, 1.1, 1.5, 2, 4, 9):
            moment = sum(a**order * b ** (1 - order) for a, b in pair)
            truth = max(truth, math.log(moment) / (order - 1) / order)
    assert one.zcdp().upper >= 3 * truth * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["1e15", "1e100", "1e400"])
def test_noisy_max_of_any_scale_has_its_pure_epsilon(scale):
    exact = Fraction(2) / Fraction(scale)
    pure = compose(parse(f"noisy-max:candidates=10,scale={scale}").mechanism).pure()
    assert pure.contains(exact) and Fraction(pure.upper) < exact * Fraction("1.000001")


def test_too_little_noise_is_refused_by_name():
    with pytest.raises(ParameterError, match="2/scale must be an exact number at most 10000"):
        parse("noisy-max:candidates=10,scale=1e-9")


def _divergence(span: float, t: float) -> float:
    """KL divergence of two outcomes with losses t and t - span."""
    p = (1 - math.exp(t - span)) / (1 - math.exp(-span))
    return p * t + (1 - p) * (t - span)


@pytest.mark.slow
def test_the_exponential_mechanism_costs_less_than_randomized_response():
    one, dearer = compose((_of("exponential:epsilon=1"), 10)), _of("randomized-response:epsilon=1")
    truth = max(_divergence(1.0, part / 1000) for part in range(1, 1000))  # at order 1
    assert one.zcdp().lower <= 10 * truth <= one.zcdp().upper <= Fraction(10, 8)
    assert one.epsilon("1e-3").upper < compose((dearer, 10)).epsilon("1e-3").lower
    assert audit(one, PureDP("10")).verdict is Verdict.VERIFIED
    assert audit(one, PureDP("9.999999")).verdict is Verdict.REFUTED


def test_noisy_max_against_all_noise():
    law = _law(1)
    for behind in (0, 1, 3):
        pair = OneAgainstAll(Fraction(1), 2, behind, 2)
        wins = [float(column[0].mid()) for column in pair.masses()]
        for gap, ours in zip((behind, behind + 2), wins, strict=True):
            truth = sum(
                mass * sum(m for x, m in law.items() if x + gap < z) ** 2 for z, mass in law.items()
            )
            assert ours == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize(("text", "pure"), [
    ("noisy-max:scale=2,candidates=10", "1"),
    ("noisy-max:scale=2,candidates=10,monotone=yes", "1/2"),
    ("permute-and-flip:epsilon=1", "1"),
    ("sparse-vector:epsilon=1", "1"),
    ("sparse-vector:epsilon=1,answers=3,share=1/3", "1"),
    ("sparse-vector:epsilon=1/2,answers=2,variant=2", "1/2"),
])  # fmt: skip
def test_what_is_proved_is_attained(text, pure):
    one = _of(text)
    assert audit(one, PureDP(pure)).verdict is Verdict.VERIFIED
    less = audit(one, PureDP(Fraction(pure) * Fraction(9999, 10000)))
    assert less.verdict is Verdict.REFUTED
    assert audit(compose((one, 4)), PureDP(4 * Fraction(pure))).verdict is Verdict.VERIFIED
    few = compose((one, 4)).delta(str(Fraction(pure)))
    assert 0 <= few.lower <= few.upper < 1


@pytest.mark.parametrize("variant", [3, 4, 5, 6])
@pytest.mark.parametrize("answers", [1, 5])
def test_four_variants_are_refuted_with_a_run_of_queries(variant, answers):
    found = audit(_of(f"sparse-vector:epsilon=1,answers={answers},variant={variant}"), PureDP("1"))
    assert found.verdict is Verdict.REFUTED
    assert "queries" in found.witness.where and found.witness.excess.greater_than(0)


@pytest.mark.parametrize("variant", [1, 3, 4, 6])
def test_runs_against_all_noise(variant):
    run = Run(variant, Fraction(2), Fraction(3), 2, 1)
    outer, inner = _law(2), _law(3)
    for column, (low, high) in zip(run.masses(), ((0, 0), (1, -1)), strict=True):
        truth = 0.0
        for t, mass in outer.items():
            said = mass * sum(m for x, m in inner.items() if low + x < t) ** 2
            if variant == 3:
                truth += said * inner[0] if t <= 0 else 0
            else:
                truth += said * sum(m for x, m in inner.items() if high + x >= t)
        assert float(column[0].mid()) == pytest.approx(truth, rel=1e-9)


def test_permute_and_flip_by_all_orders():
    pair, epsilon = Flipped(Fraction(1), 2, 2), 1.0
    for column, gap in zip(pair.masses(), (0, 2), strict=True):
        keep = [math.exp(-epsilon * gap / 2), 1.0, 1.0]
        truth = 0.0
        for order in itertools.permutations(range(3)):
            skipped = 1.0
            for one in order:
                if one == 0:
                    truth += skipped * keep[0] / 6
                skipped *= 1 - keep[one]
        assert float(column[0].mid()) == pytest.approx(truth)


def test_what_is_wrong_is_refused():
    for wrong in (
        "exponential:epsilon=0",
        "noisy-max:scale=2,candidates=1",
        "noisy-max:scale=2,candidates=3,monotone=maybe",
        "permute-and-flip:epsilon=-1",
        "sparse-vector:epsilon=1,variant=7",
        "sparse-vector:epsilon=1,share=1",
        "sparse-vector:epsilon=1,answers=0",
    ):
        with pytest.raises(ParameterError):
            parse(wrong)


@pytest.mark.slow
def test_at_the_largest_loss_of_all_uses_there_is_a_bound():
    """What dominates all choices is another pair at every precision: no lower bounds of it."""
    found = compose((_of("exponential:epsilon=0.1"), 2)).delta(Fraction(1, 5))
    assert found.lower == 0 and found.upper < Fraction(1, 10**30)
