"""Users who return: their compositions against direct composition, and what is left of a target."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from attrs import evolve

from exactdp import Composition, Enclosure, ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.divergences.conversion import zcdp_to_epsilon
from exactdp.accounting.methods.comparison import METHODS, Method
from exactdp.accounting.participation.returning_users import Remaining, ReturningUsers, plan
from exactdp.exact import WIDTH
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, Mechanism
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

SMALL = AdditiveNoise(DiscreteLaplace(10), 1)
LARGE = AdditiveNoise(DiscreteLaplace(40), 1)
GAUSSIAN = AdditiveNoise(DiscreteGaussian(50), 1)  # (1/100)-zCDP exactly
KINDS: list[Mechanism] = [SMALL, LARGE, GAUSSIAN]


def pure_epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    return composition.pure(width)


def zcdp_epsilon(composition: Composition, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    return zcdp_to_epsilon(Fraction(composition.zcdp().upper), delta, width).value


def of_few_uses(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
    if composition.times > 8:
        raise ArithmeticError("stated for few uses only")
    return composition.pure(width)


EXACT = METHODS["exact"]
PURE = evolve(EXACT, name="pure", epsilon=pure_epsilon)
ZCDP = evolve(EXACT, name="zcdp", epsilon=zcdp_epsilon)
FEW = evolve(EXACT, name="few", epsilon=of_few_uses)


@pytest.mark.quick_cases(1)
@pytest.mark.slow_cases("0", "2", "3")
@pytest.mark.parametrize("seed", range(5))
def test_random_histories(seed: int) -> None:
    choose = random.Random(seed)
    users, own = ReturningUsers(limit=60), [Counter[tuple[int, str]]() for _ in range(12)]
    for _ in range(25):
        kind, run = choose.randrange(3), choose.choice(["a", "b"])
        group, times = choose.sample(range(12), choose.randrange(13)), choose.randint(1, 2)
        users = users.after(KINDS[kind], group, run, times)
        for user in group:
            own[user][kind, run] += times
    for run_asked in (None, "a", "b"):
        compositions = []
        for user, counts in enumerate(own):
            used = Counter[Mechanism]()
            for (kind, run), times in counts.items():
                if run_asked in (None, run):
                    used[KINDS[kind]] += times
            found = users.composition(user, run_asked)
            assert (Counter(dict(found.uses)) if found else Counter()) == used
            compositions += [found] if found else []
        groups = users.groups(run_asked)
        assert Counter(compositions) == {group.composition: group.users for group in groups}
        worst = users.worst("1e-5", [ZCDP], run_asked)["zcdp"]
        assert worst is not None
        each = [zcdp_epsilon(composition, Fraction("1e-5")) for composition in set(compositions)]
        assert worst.upper == max(one.upper for one in each)
        assert worst.lower == max(one.lower for one in each)


def left_of(
    users: ReturningUsers, user: str, mechanism: Mechanism, epsilon: str, method: Method
) -> Remaining:
    found = users.remaining(user, mechanism, epsilon, "1e-5", [method])[method.name]
    assert found is not None
    return found


def test_what_was_spent_and_what_is_left() -> None:
    users = ReturningUsers().after(SMALL, ["ada"], times=4).after(GAUSSIAN, ["bo"], times=7)
    spent = users.spent("ada", "1e-6", [PURE, ZCDP])
    assert spent["pure"] == compose((SMALL, 4)).pure()
    assert spent["zcdp"] == zcdp_epsilon(compose((SMALL, 4)), Fraction("1e-6"))
    left = left_of(users, "ada", SMALL, "1", PURE)
    assert (left.certain, left.most) == (6, 6)  # met exactly
    assert left.left.contains(Fraction(6, 10))
    for user, mechanism in (("ada", GAUSSIAN), ("bo", SMALL), ("new", GAUSSIAN)):
        left = left_of(users, user, mechanism, "2", ZCDP)
        before = [composition] if (composition := users.composition(user)) else []
        assert left.certain == left.most
        assert left.certain > 0
        fits, fails = (
            zcdp_epsilon(compose(*before, (mechanism, left.certain + more)), Fraction("1e-5"))
            for more in (0, 1)
        )
        assert fits.upper <= 2 < fails.lower


def test_exact_counts() -> None:
    users = ReturningUsers().after(SMALL, ["ada"], times=4)
    left = left_of(users, "ada", LARGE, "1", EXACT)
    assert left.certain == left.most
    assert left.certain > left_of(users, "ada", LARGE, "1", PURE).certain
    fits, fails = (
        compose((SMALL, 4), (LARGE, left.certain + more)).epsilon("1e-5") for more in (0, 1)
    )
    assert fits.upper <= 1 < fails.lower


def test_overspent_and_infinite_compositions() -> None:
    users = ReturningUsers().after(SMALL, ["ada"], times=20).after(GAUSSIAN, ["bo"])
    over = left_of(users, "ada", SMALL, "1", PURE)
    assert (over.certain, over.most) == (0, 0)
    assert over.left.contains(-1)
    infinite = left_of(users, "bo", SMALL, "1", PURE)
    assert infinite.spent == Enclosure.infinite()
    assert (infinite.certain, infinite.most) == (0, 0)


def test_methods_that_do_not_apply_say_nothing() -> None:
    users = ReturningUsers().after(SMALL, ["ada"], times=5).after(SMALL, ["bo"], times=9)
    assert users.spent("bo", "1e-6", [FEW, PURE]).keys() == {"few", "pure"}
    assert users.spent("bo", "1e-6", [FEW])["few"] is None
    assert users.worst("1e-6", [FEW])["few"] is None
    assert users.remaining("bo", SMALL, 1, "1e-6", [FEW])["few"] is None
    left = left_of(users, "ada", SMALL, "1", FEW)
    assert (left.certain, left.most) == (3, None)  # it applies to eight uses
    assert plan(SMALL, 9, "1e-6", [FEW]) == {"few": None}


def test_a_plan_holds_for_every_history_within_it() -> None:
    users = ReturningUsers(limit=5)
    for size in range(1, 6):
        users = users.after(SMALL, [f"user {k}" for k in range(size)])
    planned = plan(SMALL, 5, "1e-4", [EXACT])["exact"]
    assert planned is not None
    assert users.worst("1e-4", [EXACT])["exact"] == planned
    for user in users.histories:
        spent = users.spent(user, "1e-4", [EXACT])["exact"]
        assert spent is not None
        assert spent.upper <= planned.upper


def test_many_users_share_few_computations() -> None:
    calls: list[Composition] = []

    def counted(composition: Composition, delta: Fraction, width: Fraction) -> Enclosure:
        calls.append(composition)
        return composition.pure()

    method = evolve(EXACT, name="counted", epsilon=counted)
    users = ReturningUsers().after(SMALL, range(50_000)).after(LARGE, range(0, 50_000, 2))
    users = users.after(SMALL, range(0, 50_000, 3), run="second")
    for user in range(5000):
        users.spent(user, "1e-6", [method])
    assert len(calls) == len(users.groups()) == 4
    assert sum(group.users for group in users.groups()) == 50_000
    worst = users.worst("1e-6", [method])["counted"]
    assert worst is not None
    assert worst.contains(Fraction(9, 40))
    users.after(SMALL, ["new"]).spent("new", "1e-6", [method])
    assert len(calls) == 4  # later values know them as well


def test_bad_input_is_named() -> None:
    users = ReturningUsers()
    with pytest.raises(ParameterError, match="users must be"):
        users.after(SMALL, "ada")
    with pytest.raises(ParameterError, match="times must be"):
        users.after(SMALL, ["ada"], times=0)
    with pytest.raises(ParameterError, match="limit must be"):
        ReturningUsers(0)
    with pytest.raises(ParameterError, match="delta must be"):
        users.spent("ada", 2)
    with pytest.raises(ParameterError, match="epsilon must be"):
        users.remaining("ada", SMALL, -1, "1e-6")


def test_batches_of_different_neighbours_are_refused() -> None:
    one, other = (ContinuousNoise(Shape.LAPLACE, 9, 1, way) for way in ("replace", "add-remove"))
    users = ReturningUsers().after(one, ["ada"])
    with pytest.raises(ParameterError, match="neighbours must be the same"):
        users.after(other, ["bob"])
    with pytest.raises(ParameterError, match="neighbours must be the same"):
        users.remaining("bob", other, 1, "1e-6", [])
