"""Every method that applies to a figure, asked without an early stop: they are of one number."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import combinations

from conformance.relations.draw import DELTAS, EPSILONS, ORDERS, any_spec, scenario, small, times
from conformance.relations.engine import Held, composition_of
from conformance.relations.sampling import sampled
from conformance.relations.scenarios import Scenario, Spec, spec
from conformance.relations.vectors import histogram, vectors

from exactdp import Composition, Enclosure
from exactdp.accounting.composition.known import Known, by_envelope
from exactdp.accounting.composition.together import measured_roughly, narrowly
from exactdp.accounting.figure import ContradictionError, Figure
from exactdp.accounting.losses.sums import composed
from exactdp.accounting.scenario import Scenario as Uses
from exactdp.accounting.scenario import Use, scenarios, worst
from exactdp.accounting.solve import Lists, Query, attained_at, besides, cost, lists_of
from exactdp.exact import OutOfTimeError
from exactdp.exact.budget import SECOND, unhurried, within

_WIDTH, _CAP, _WORK = Fraction(1, 10**6), 6144, 0.1
_SECONDS = 0.1  # for a method, at most
_MOST_USES = 1000  # that basic composition is asked of
_ADD = {"neighbours": "add-remove"}
_Method = tuple[str, Callable[[], Enclosure]]
_OTHERS = (
    Figure("epsilon", Fraction(0)),
    *(Figure("renyi", Fraction(order)) for order in ("1.5", "2", "8", "64")),
    Figure("zcdp"),
    Figure("gdp"),
    *(Figure("delta", Fraction(level)) for level in ("0", "0.5", "3")),
    *(Figure("epsilon", Fraction(level)) for level in ("1e-9", "1e-3", "0.3")),
)


def all_methods_meet(rng: random.Random) -> Iterator[Held]:
    """Of single uses, sampled ones, vectors, lists, and what is known by what bounds it only."""
    what = rng.choice((_one, _sampled_list, _vectors, scenario, _mixed, _family, _family))(rng)
    figure, of = _figure(rng), composition_of(what)
    error: ContradictionError | None = None
    try:
        meet_all(figure, dict(ask_all(of, figure)))
    except ContradictionError as found:
        error = found
    yield Held(error is None, str(what), error)


def ask_all(of: Composition, figure: Figure) -> Iterator[tuple[str, Enclosure]]:
    """Each method's name and what it tells; each with so much work."""
    for name, ask in _methods(of, figure):
        found: Enclosure | None = None
        with (
            suppress(ArithmeticError, OutOfTimeError, NotImplementedError),
            unhurried(),
            within(_SECONDS * SECOND),
        ):
            found = ask()
        if found is not None:
            yield name, found


def meet_all(figure: Figure, found: Mapping[str, Enclosure]) -> None:
    """Raises ContradictionError, naming two methods whose enclosures do not meet."""
    for (one, first), (other, second) in combinations(found.items(), 2):
        if first.at_most(second.upper) is False or second.at_most(first.upper) is False:
            raise ContradictionError(f"{figure}: {one} {first!r}, {other} {second!r}")


def _methods(of: Composition, figure: Figure) -> Iterator[_Method]:
    yield "answer", partial(_measured, figure, of.uses)
    if (lists := lists_of(of.uses)) is not None:
        yield from _between(lists, figure)
    elif figure.quantity in ("epsilon", "delta") and figure.at != 0:
        yield from _of_scenarios(of, figure)
    if of.times > 1:
        for index, use in enumerate(of.uses):
            alone = Use(use.mechanism, max(use.times // 2, 1))
            yield f"part {index} alone", partial(_below, figure, (alone,))
        yield "parts, added up", lambda: _added(of, figure)
    yield "other figures", lambda: _by_others(of, figure)


def _measured(figure: Figure, uses: Uses) -> Enclosure:
    of = Composition(uses)
    if figure.quantity == "delta":
        return of.delta(figure.at, _WIDTH, work=_WORK)
    if figure.quantity == "epsilon":
        return of.epsilon(figure.at, _WIDTH, work=_WORK)
    return of.figure(figure, _WIDTH)


def _below(figure: Figure, uses: Uses) -> Enclosure:
    return Enclosure(_measured(figure, uses).lower, figure.trivial.upper)


def _above(figure: Figure, uses: Uses) -> Enclosure:
    return Enclosure(Fraction(0), _measured(figure, uses).upper)


def _between(lists: Lists, figure: Figure) -> Iterator[_Method]:
    """Each list on either side, and what costs the same."""
    if lists.exact is not None:
        yield "what costs the same", partial(_measured, figure, lists.exact)
    if figure == ("epsilon", 0) and (pure := lists.pure) is not None:
        yield "what costs as much at delta 0", partial(_measured, figure, pure)
    for index, uses in enumerate(attained_at(lists, figure)):
        yield f"attained {index}", partial(_below, figure, uses)
    for index, uses in enumerate(lists.dominating):
        yield f"dominating {index}", partial(_above, figure, uses)
    yield "besides", partial(besides, lists, Query(figure, _WIDTH))


def _of_scenarios(of: Composition, figure: Figure) -> Iterator[_Method]:
    """What measures the uses of one scenario: the larger of both."""
    assert figure.at is not None
    if figure.quantity == "epsilon" and not 0 < figure.at < 1:
        return

    def moved(points: int) -> Callable[[Uses], Enclosure]:
        return lambda uses: composed(uses, figure, _WIDTH, _CAP, 0.0, points=points)

    each: dict[str, Callable[[Uses], Enclosure]] = {
        "narrow": lambda uses: narrowly(uses, figure, _WIDTH, _CAP, _WORK),
        "in little time": lambda uses: measured_roughly(uses, figure),
        "envelope": lambda uses: by_envelope(uses, figure),
        **{f"lattice of {n} points": moved(n) for n in (64, 2048)},
    }
    for name, measure in each.items():
        yield name, partial(worst, scenarios(of.uses), measure)


def _added(of: Composition, figure: Figure) -> Enclosure:
    """At most what the uses cost one by one; epsilon and delta with equal shares of delta."""
    if of.times > _MOST_USES or (figure.quantity == "delta" and figure.at):
        return figure.trivial
    share = figure
    if figure.quantity == "gdp":
        return figure.trivial
    if figure.quantity == "epsilon" and figure.at:
        share = Figure("epsilon", figure.at / of.times)
    each = [_measured(share, (Use(use.mechanism, 1),)).times(use.times) for use in of.uses]
    found = Enclosure(Fraction(0), Enclosure.total(each).upper)
    return found.intersection(figure.trivial)


def _by_others(of: Composition, figure: Figure) -> Enclosure:
    """What follows from other figures."""
    known = Known(of.uses, cost)
    for other in _OTHERS:
        if other != figure:
            with (
                suppress(ArithmeticError, OutOfTimeError, NotImplementedError),
                within(_SECONDS * SECOND),
            ):
                known.learn(other, _measured(other, of.uses))
    return known.of(figure)


# -- what is drawn --------------------------------------------------------------------------------


def _figure(rng: random.Random) -> Figure:
    quantity = rng.choice(("epsilon", "epsilon", "delta", "delta", "renyi", "zcdp", "gdp"))
    at = {"epsilon": DELTAS, "delta": EPSILONS, "renyi": ORDERS}.get(quantity)
    return Figure(quantity, None if at is None else Fraction(rng.choice(at)))


def _one(rng: random.Random) -> Scenario:
    return Scenario.of(any_spec(rng))


def _sampled_list(rng: random.Random) -> Scenario:
    return Scenario.of(*((sampled(rng), times(rng)) for _ in range(rng.choice((1, 1, 2)))))


def _vectors(rng: random.Random) -> Scenario:
    one = vectors(rng)
    if rng.random() < 0.5:
        one = histogram(rng, one)
    return Scenario.of((one, times(rng)))


def _mixed(rng: random.Random) -> Scenario:
    """Continuous noise among others; with a user more or less also sampled or allocated."""
    if rng.random() < 0.4:
        return Scenario.of((_continuous(rng), times(rng)), (small(rng), times(rng)))
    more = rng.choice(({"poisson": "0.1"}, {"poisson": "0.01"}, {}))
    parts = [(_continuous(rng).but(**_ADD, **more), times(rng)), (sampled(rng), times(rng))]
    if rng.random() < 0.5:
        chosen = rng.choice(("1/7", "1/100", "2/5", "3/40", "10/200"))
        sigma = rng.choice(("0.5", "1", "3"))
        parts.append((spec("gaussian", sigma=sigma, allocation=chosen, **_ADD), times(rng)))
    return Scenario.of(*rng.sample(parts, rng.choice((1, len(parts)))))


def _continuous(rng: random.Random) -> Spec:
    if rng.random() < 0.5:
        return spec("gaussian", sigma=rng.choice(("0.3", "1", "2", "20")))
    return spec("laplace", scale=rng.choice(("0.3", "1", "5")))


def _family(rng: random.Random) -> Scenario:
    """What lies between others, or is known by a guarantee only."""
    epsilon, count = rng.choice(("0.1", "1", "4")), rng.choice((2, 3, 10))
    one = rng.choice(
        (
            spec("exponential", epsilon=epsilon),
            spec("permute-and-flip", epsilon=epsilon),
            spec("noisy-max", scale=rng.choice(("1", "2", "7")), candidates=count),
            spec("sparse-vector", epsilon=epsilon, answers=rng.choice((1, 2))),
            spec("partition-selection", epsilon=epsilon, delta="1e-6", keys=rng.choice((1, 3))),
            spec("unary-encoding", epsilon=epsilon, categories=count),
            spec("subset-selection", epsilon=epsilon, categories=count + 1),
            spec("hadamard-response", epsilon=epsilon, categories=count),
            spec("one-bit-mean", epsilon=epsilon),
            spec("randomized-response", epsilon=epsilon, categories=count + 1, shuffled=100),
            spec(
                "guarantee",
                claim=rng.choice(("zcdp:0.1", "pure:1", "gdp:1", "rdp:2,0.3", "rdp:1.001,0.1")),
            ),
            spec("tree", steps=rng.choice((4, 64)), sigma=rng.choice((1, 10))),
            spec("skellam", variance=9, threshold=rng.choice((5, 20)), keys=rng.choice((1, 2))),
            spec("gaussian", sigma=2, threshold=10, keys=rng.choice((1, 2))),
            spec("laplace", epsilon=1, **{"fixed-size": rng.choice(("1/10", "2/5"))}),
            spec("gaussian", sigma=1, **{"fixed-size": rng.choice(("1/100", "3/7"))}),
        )
    )
    parts = [(one, rng.choice((1, 1, 2, 7)))]
    if rng.random() < 0.3:
        parts.append((vectors(rng).but(poisson=None, neighbours=None), rng.choice((1, 2))))
    return Scenario.of(*parts)


RELATIONS = (all_methods_meet,)
