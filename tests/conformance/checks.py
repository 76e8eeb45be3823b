"""What holds of every mechanism: one list of checks, each a function of a case.

`lower <= truth <= upper` against an oracle that shares no code; delta and epsilon are inverse; more
noise, fewer releases and post-processing never cost more; the order of a list does not matter; a
spec, its file and its JSON say the same; a certificate is accepted and its mutants are not; a
sampler follows its law; bad values are refused in one line.
"""

import json
import re
import warnings
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import brute_force
import mpmath
import pytest
from commands import refused, said
from conformance.cases import Case
from conformance.truth import Listed, Pair
from mpmath import mpf
from oracles import exactly
from sampler_fit import fit_counts

import exactdp
from exactdp import Composition, Enclosure
from exactdp.cli.main import main

Check = Callable[..., None]
DELTAS, EPSILONS, ORDERS = ("1e-6", "1/20"), ("0", "1/2", "2"), ("3/2", "2", "10")
INFINITY = Decimal("Infinity")
HAIR = Fraction(1, 10**25)  # of oracles at 60 digits
ROUNDED = Fraction(1, 10**9)  # of floating point
COARSE = Fraction(1, 10**3)  # of what is compared beside other noise
WIDE = Fraction(1, 10**6)  # the relative width of what is exact
KINKED = {  # the lattice narrows in first order only where delta bends, and the work ends
    "discrete-gaussian:sigma2=2,threshold=5,names=yes",
    "discrete-laplace:scale=1 + laplace:scale=2",
}


def _wide(case: object) -> Fraction:
    return 5 * WIDE if str(case) in KINKED else WIDE


def holds(answer: Enclosure, value: mpf, case: Case, exact: bool = True) -> None:
    """lower <= truth <= upper, and as narrow as is promised; only <= upper of what is attained."""
    if mpmath.isinf(value):
        assert answer.upper == INFINITY and (not exact or answer.lower == INFINITY), answer
        return
    number = exactly(value)
    assert answer.upper == INFINITY or number <= Fraction(answer.upper) * (1 + HAIR) + HAIR, (
        f"the truth, {value}, is above {answer}"
    )
    if exact or case.near:
        assert answer.lower != INFINITY, f"{value} is below {answer}"
        least = number * (1 + case.near)
        assert Fraction(answer.lower) <= least * (1 + HAIR) + HAIR, f"{value} is below {answer}"
    if exact:
        assert answer.upper != INFINITY
        width = Fraction(answer.upper) - Fraction(answer.lower)
        assert case.is_bracket or width <= _wide(case) * max(Fraction(answer.upper), HAIR), (
            f"{answer} is wide"
        )


def near(answer: Enclosure, value: mpf, exact: bool) -> None:
    """The same of a truth that is right to 1e-9."""
    number = INFINITY if mpmath.isinf(value) else exactly(value)
    if number == INFINITY:
        assert answer.upper == INFINITY
        return
    slack = ROUNDED * (1 + number)
    assert answer.upper == INFINITY or number <= Fraction(answer.upper) + slack, (value, answer)
    assert not exact or Fraction(answer.lower) <= number + slack, (value, answer)


def _figures(case: Case, one: Composition, truth: object, exact: bool) -> None:
    for order in ORDERS:
        holds(_figure(one, "renyi", order), truth.renyi(Fraction(order)), case, exact)  # type: ignore[attr-defined]
    for epsilon in EPSILONS:
        level = number(epsilon)
        holds(_figure(one, "delta", epsilon), truth.delta(level), case, exact)  # type: ignore[attr-defined]
    for delta in DELTAS:
        holds(_figure(one, "epsilon", delta), truth.epsilon(Fraction(delta)), case, exact)  # type: ignore[attr-defined]


def figures_hold_the_truth(case: Case) -> None:
    """Pure, Rényi, delta(epsilon) and epsilon(delta) of one release; what theorems give exactly."""
    one = exactdp.mechanism(case.spec)
    for which, at, value in case.known:
        answer = getattr(one, which)(*filter(None, [at]))
        with mpmath.workdps(brute_force.DIGITS):
            holds(answer, mpmath.inf if value == "inf" else number(value), case)
    with mpmath.workdps(brute_force.DIGITS):
        holds(_figure(one, "pure"), case.truth.pure(), case, case.exact)
        _figures(case, one, case.truth, case.exact)


def two_releases_hold_the_truth(case: Case) -> None:
    """The product of a pair with itself: the truth, or what an adversary at least attains."""
    two, exact = 2 * exactdp.mechanism(case.spec), case.exact and not case.once
    twice = case.truth.twice()
    for epsilon in EPSILONS:
        near(_figure(two, "delta", epsilon), twice.delta(number(epsilon)), exact)
    with mpmath.workdps(brute_force.DIGITS):
        for order in ORDERS:
            near(_figure(two, "renyi", order), 2 * case.truth.renyi(Fraction(order)), exact)


def zcdp_and_gdp_bound_what_they_must(case: Case) -> None:
    """rho is at least D_a/a at every order; the profile of mu is nowhere below delta(epsilon).

    And mu is what the best test says, where all outcomes are listed.
    """
    one = exactdp.mechanism(case.spec)
    rho, mu = one.zcdp(), one.gdp()
    with mpmath.workdps(brute_force.DIGITS):
        for order in ORDERS:
            holds(
                Enclosure(0, rho.upper),
                case.truth.renyi(Fraction(order)) / number(order),
                case,
                False,
            )
        if isinstance(case.truth, Listed):
            least, whole = case.truth.mu(), case.exact and case.truth.is_bounded
            if mpmath.isinf(least):
                assert mu.upper == INFINITY
            else:
                near(mu, least, whole and case.noise is None)
        elif hasattr(case.truth, "mu") and case.exact:
            holds(mu, case.truth.mu, case)
        if mu.upper == INFINITY or not mu.upper:
            assert mu.upper or not case.truth.delta(mpf(0))
            return
        m = mpf(Fraction(mu.upper).numerator) / Fraction(mu.upper).denominator
        for epsilon in EPSILONS:
            level = number(epsilon)
            most = mpmath.ncdf(m / 2 - level / m) - mpmath.exp(level) * mpmath.ncdf(
                -m / 2 - level / m
            )
            assert case.truth.delta(level) <= most * (1 + mpf(10) ** -20), (epsilon, mu)


def claims_are_decided_beside_the_truth(case: Case) -> None:
    """A claim a little above the truth is verified, one a little below it refuted; never both."""
    with mpmath.workdps(brute_force.DIGITS):
        truths = [("pure:{}", case.truth.pure()), ("rdp:2,{}", case.truth.renyi(Fraction(2)))]
        truths.append(("approx:{},1/20", case.truth.epsilon(Fraction(1, 20))))
    for claim, value in truths:
        if mpmath.isinf(value):
            assert exactdp.audit(case.spec, claim.format(1000)).verdict.name != "VERIFIED"
            continue
        for share, verdict in ((10_001, "VERIFIED"), (9_999, "REFUTED")):
            bound = Fraction(f"{float(value) * share / 10_000:.12g}")
            if not bound or (verdict == "VERIFIED" and not case.exact):
                continue
            found = exactdp.audit(case.spec, claim.format(bound)).verdict.name
            contrary = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[verdict]
            is_sharp = case.exact and not case.near and not case.is_bracket
            assert found == verdict if is_sharp else found != contrary


def tests_of_neighbours_err_as_often_as_the_truth_says(case: Case) -> None:
    """f(a) is above all lines 1 - delta(epsilon) - e^epsilon a, and attained by some pair."""
    curve = exactdp.mechanism(case.spec).tradeoff(["0", "1/10", "1/2", "9/10"])
    with mpmath.workdps(brute_force.DIGITS):
        for alpha, answer, hull in zip(curve.alphas, curve.betas, curve.hull, strict=True):
            a, least = number(str(alpha)), mpf(0)
            for epsilon in ("0", "1/10", "1/2", "2"):
                d, odds = case.truth.delta(number(epsilon)), mpmath.exp(number(epsilon))
                least = max(least, 1 - d - odds * a, (1 - d - a) / odds)
            if case.exact:
                top = min(Fraction(answer.upper), Fraction(hull.upper))
                assert exactly(least) <= top + HAIR, (alpha, answer, hull, least)
            if isinstance(case.truth, Listed):
                most = min(_type_two(pair, a) for pair in case.truth.ways)
                assert Fraction(answer.lower) <= exactly(most) + HAIR, (alpha, answer, most)


def _type_two(pair: Pair, alpha: mpf) -> mpf:
    """The least P of acceptance of tests that reject Q with chance alpha (Neyman and Pearson)."""
    left, missed = alpha, mpf(1)
    for p, q in sorted(pair, key=lambda each: each[1] / each[0] if each[0] else mpmath.inf):
        if q >= left:
            return max(missed - p * (left / q if q else 1), mpf(0))
        left, missed = left - q, missed - p
    return max(missed, mpf(0))


def usual_methods_bound_the_truth(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    """Rényi, zCDP, advanced and basic composition of two releases are nowhere below the truth."""
    spec = f"{case.spec}*2"
    main(["compose", spec, "--delta", "1/20", "--compare", "--json"])
    told, twice = json.loads(capsys.readouterr().out), case.truth.twice()
    for method in told["comparison"][0]["methods"]:
        if method["applies"] and Decimal(method["upper"]) < 600:  # e^600 is a float
            epsilon = number(str(Fraction(method["upper"])))
            assert twice.delta(epsilon) <= mpf(1) / 20 + mpf(10) ** -9, method
    for name in ("rdp", "zcdp", "advanced", "basic"):
        if not main(["compose", spec, "--epsilon", "1/2", "--method", name, "--json"]):
            (found,) = json.loads(capsys.readouterr().out)["results"]
            assert twice.delta(mpf(1) / 2) <= mpf(found["upper"]) + mpf(10) ** -9, name
        capsys.readouterr()


def delta_and_epsilon_are_inverse(case: Case) -> None:
    """delta(epsilon(d)) is at most d, and at least d where epsilon is not 0."""
    for composition in (exactdp.mechanism(case.spec), 3 * exactdp.mechanism(case.spec)):
        for delta in DELTAS:
            epsilon = _figure(composition, "epsilon", delta)
            if epsilon.upper != INFINITY:
                assert composition.delta(epsilon.upper).lower <= Fraction(delta)
            if epsilon.lower and epsilon.lower != INFINITY:
                below = Fraction(epsilon.lower) * (1 - HAIR)
                assert composition.delta(below).upper >= Fraction(delta)


def number(text: str) -> mpf:
    """An exact number at the current precision."""
    return mpf(Fraction(text).numerator) / Fraction(text).denominator


@lru_cache(maxsize=256)
def _figure(one: Composition, name: str, *at: str) -> Enclosure:
    """Kept, since several checks ask for the same figures of the same composition."""
    return getattr(one, name)(*at)


def _compared(one: Composition) -> list[Enclosure]:
    deltas = [_figure(one, "delta", e) for e in EPSILONS]
    epsilons = [_figure(one, "epsilon", d) for d in DELTAS]
    orders = [_figure(one, "renyi", a) for a in ORDERS]
    return [_figure(one, "pure"), *deltas, *epsilons, *orders]


def at_most(cheap: Composition, dear: Composition) -> None:
    """No figure of the first is certainly above that of the second."""
    for less, more in zip(_compared(cheap), _compared(dear), strict=True):
        assert more.upper == INFINITY or (
            less.lower != INFINITY and Fraction(less.lower) <= Fraction(more.upper)
        ), f"{less} is above {more}"


def less_noise_costs_no_less(case: Case) -> None:
    """And post-processing costs no more; another spec of the same mechanism costs the same."""
    one = exactdp.mechanism(case.spec)
    if case.same is not None:
        at_most(one, exactdp.mechanism(case.same))
        at_most(exactdp.mechanism(case.same), one)
    if case.costlier is not None:
        at_most(one, exactdp.mechanism(case.costlier))
        at_most(2 * one, 2 * exactdp.mechanism(case.costlier))
    if case.cheaper is not None:
        at_most(exactdp.mechanism(case.cheaper), one)


def fewer_releases_cost_no_more_in_any_order(case: Case) -> None:
    """One release against two; beside other noise, in both orders of the list."""
    one = exactdp.mechanism(case.spec)
    at_most(one, 2 * one)
    assert one + one == 2 * one
    kind = "add-remove" if one.neighbours == "add-remove" else "replace"
    other = exactdp.mechanism(f"gaussian:sigma=3,neighbours={kind}")
    alone, mixed, turned = (
        each.epsilon(DELTAS[0], width=COARSE) for each in (one, one + other, other + one)
    )
    assert alone.lower <= mixed.upper
    assert max(mixed.lower, turned.lower) <= min(mixed.upper, turned.upper)


def a_file_and_json_say_what_the_spec_says(case: Case, capsys, tmp_path) -> None:
    """`mechanism = "NAME"` and the same keys in TOML and JSON; `compose` names what was typed."""
    name, _, rest = case.spec.partition(":")
    parts = re.split(r",(?=[a-z0-9-]+=)", f"claim={rest}" if name == "guarantee" else rest)
    keys = dict(part.split("=", 1) for part in parts)
    for path, text in (
        (tmp_path / "spec.json", json.dumps({"mechanism": name, **keys})),
        (
            tmp_path / "spec.toml",
            "".join(f'{k} = "{v}"\n' for k, v in {"mechanism": name, **keys}.items()),
        ),
    ):
        path.write_text(text)
        assert exactdp.mechanism(str(path)) == exactdp.mechanism(case.spec)
    order = () if case.is_slow else ("2",)
    orders = [word for one in order for word in ("--order", one)]
    code, out = said(capsys, "compose", f"{case.spec}*2", "--pure", *orders, "--json")
    told = json.loads(out)
    assert code in (0, 3) and [one["times"] for one in told["mechanisms"]] == [2]
    assert [one["quantity"] for one in told["results"]] == ["pure", *("renyi" for _ in order)]
    assert exactdp.mechanism(told["mechanisms"][0]["spec"]) == exactdp.mechanism(case.spec)
    two = 2 * exactdp.mechanism(case.spec)
    figures = [_figure(two, "pure"), *(_figure(two, "renyi", one) for one in order)]
    for one, figure in zip(told["results"], figures, strict=True):
        printed = Enclosure.from_json({end: one[end] for end in ("lower", "upper")})
        assert printed.upper == INFINITY or printed.upper >= figure.lower
        assert figure.upper == INFINITY or printed.lower <= figure.upper


def certificates_hold_and_their_mutants_do_not(case: Case, tmp_path, capsys) -> None:
    """Of a claim that is just true and one that is just false; never of the contrary."""
    for claim in ("approx:{},1/20", "rdp:2,{}"):
        measured = exactdp.audit(case.spec, claim.format(1)).measured
        for end, share, verdict in (
            (measured.upper, Fraction(51, 50), "VERIFIED"),
            (measured.lower, Fraction(49, 50), "REFUTED"),
        ):
            if not end or end == INFINITY:
                continue
            text = claim.format(Fraction(f"{float(Fraction(end) * share):.5g}"))
            try:
                made = exactdp.certify(case.spec, text)
            except exactdp.NotCertifiedError:
                continue
            assert made.verdict.name == verdict and exactdp.check(made).valid
            path = tmp_path / "certificate.json"
            made.write(path)
            assert said(capsys, "check", str(path), "--expect", case.spec)[0] == 0
            assert said(capsys, "check", str(path), "--expect", f"{case.spec}*2")[0] == 1
            for changed in _mutants(json.loads(path.read_text()), verdict):
                path.write_text(json.dumps(changed))
                assert said(capsys, "check", str(path))[0] != 0  # for whatever reason


def no_certificate_of_what_is_false_is_accepted(case: Case) -> None:
    """Nor of two releases; of what is attained or chosen anew only too small a bound is false."""
    exact, half = case.exact and not case.near and not case.is_bracket, mpf(1) / 2
    with mpmath.workdps(brute_force.DIGITS):
        rho = max(case.truth.renyi(Fraction(order)) / number(order) for order in ORDERS)
        found = [("rdp:2,{}", case.truth.renyi(Fraction(2)), exact), ("zcdp:{}", rho, False)]
        found += [("pure:{}", case.truth.pure(), exact)]
        found += [("approx:1/2,{}", case.truth.delta(half), exact)]
    mu = getattr(case.truth, "mu", mpmath.inf)
    found.append(("gdp:{}", mu() if callable(mu) else mu, False))
    for claim, value, sides in found:
        nothing_false_is_proved(exactdp.mechanism(case.spec), claim, value, sides)
    twice = case.truth.twice().delta(half)
    nothing_false_is_proved(
        2 * exactdp.mechanism(case.spec), "approx:1/2,{}", twice, exact and not case.once
    )


def nothing_false_is_proved(of: Composition, claim: str, value: mpf, both: bool = True) -> None:
    """A certificate of what just holds, told of what just fails, and the other way round."""
    from certificates import resealed

    if mpmath.isinf(value) or value < mpf(10) ** -9:
        return
    for beside, sign in ((1001, -1), (999, 1))[: 1 + both]:
        try:
            with warnings.catch_warnings(action="ignore"):  # delta may be above epsilon
                made = exactdp.certify(of, claim.format(f"{float(value) * beside / 1000:.12g}"))
        except (exactdp.NotCertifiedError, exactdp.ParameterError):
            continue
        bound = f"{float(value) * (1 + sign * 1e-6):.12g}"
        numbers = claim.format(bound).replace(":", ",").split(",")
        told = dict(zip(made.content["claim"], numbers, strict=True))
        level = Fraction(told["epsilon"] if "delta" in told else bound)
        low, high = ("0", str(level)) if sign < 0 else (str(level + Fraction(1, 10**15)), "inf")
        ends = {"measured": {"lower": low, "upper": high}}
        outcome = exactdp.check(resealed({**made.content, "claim": told, **ends}))
        assert not outcome.valid and "not a certificate" not in outcome.reason, (str(of), told)


def _mutants(content, verdict):
    from certificates import resealed

    yield resealed({**content, "verdict": "REFUTED" if verdict == "VERIFIED" else "VERIFIED"})
    factor = Fraction(1, 2) if verdict == "VERIFIED" else Fraction(2)
    for name in ("epsilon",):
        bound = Fraction(content["claim"][name]) * factor
        changed = {**content, "claim": {**content["claim"], name: str(float(bound))}}
        ends = {
            end: str(float(Fraction(text) * factor))
            for end, text in content["measured"].items()
            if text != "inf"
        }
        yield resealed({**changed, "measured": {**content["measured"], **ends}})
    yield {**content, "claim": {**content["claim"], "epsilon": "7777"}}  # with its old digest


def samples_follow_the_law(case: Case, capsys) -> None:
    """So many draws of noise, at a significance of 1e-6; the seed is fixed."""
    assert case.noise is not None
    assert main(["sample", case.spec, "--size", "3000", "--seed", "7"]) == 0
    draws, pmf = Counter(map(int, capsys.readouterr().out.split())), case.noise()
    assert draws.total() == 3000
    inner = [x for x in range(-40, 41) if pmf(x) * 3000 >= 25]
    low, high = min(inner), max(inner)
    below = sum(n for x, n in draws.items() if x < low)
    above = sum(n for x, n in draws.items() if x > high)
    masses = [float(pmf(x)) for x in range(low, high + 1)]
    rest = 1 - sum(masses)
    assert fit_counts(
        [below + above, *(draws[x] for x in range(low, high + 1))], [rest, *masses]
    ).passes


CHECKS: tuple[Check, ...] = (
    figures_hold_the_truth,
    two_releases_hold_the_truth,
    zcdp_and_gdp_bound_what_they_must,
    claims_are_decided_beside_the_truth,
    tests_of_neighbours_err_as_often_as_the_truth_says,
    usual_methods_bound_the_truth,
    delta_and_epsilon_are_inverse,
    less_noise_costs_no_less,
    fewer_releases_cost_no_more_in_any_order,
    a_file_and_json_say_what_the_spec_says,
    certificates_hold_and_their_mutants_do_not,
    no_certificate_of_what_is_false_is_accepted,
    samples_follow_the_law,
)
HEAVY = (  # slow for noise whose losses are on no lattice
    claims_are_decided_beside_the_truth,
    no_certificate_of_what_is_false_is_accepted,
    tests_of_neighbours_err_as_often_as_the_truth_says,
    usual_methods_bound_the_truth,
)
THOROUGH = (  # quick for a third of the cases, each for another one
    certificates_hold_and_their_mutants_do_not,
    delta_and_epsilon_are_inverse,
    fewer_releases_cost_no_more_in_any_order,
    less_noise_costs_no_less,
    no_certificate_of_what_is_false_is_accepted,
    tests_of_neighbours_err_as_often_as_the_truth_says,
    usual_methods_bound_the_truth,
)
LIGHT = (figures_hold_the_truth, a_file_and_json_say_what_the_spec_says)  # quick of everything
QUICK = a_file_and_json_say_what_the_spec_says  # the only one of a slow case in `make test`
BAD = ("x", "", "nan", "1/0")


def bad_values_are_refused(
    example: str, keys: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each key of a mechanism, with what is no value of it: exit code 2, and one line."""
    name, _, rest = example.partition(":")
    given = dict(part.partition("=")[::2] for part in rest.split(","))
    for key in keys:
        for bad in BAD:
            spec = f"{name}:" + ",".join(f"{k}={v}" for k, v in {**given, key: bad}.items())
            refused(capsys, ["compose", spec, "--pure"], "")
