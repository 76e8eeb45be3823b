"""The cases of the conformance suite: a row a mechanism. A new mechanism is a row here.

Each has its truth by enumeration, or at least a pair of neighbours that it certainly tells apart, a
lower bound; a spec that costs no less (`costlier`: less noise, more neighbours) and one that costs
no more (`cheaper`: post-processing).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path

import brute_force
import mpmath
import oracles
from conformance import truth
from conformance.truth import Truth

TABLES = Path(__file__).parent.parent / "golden" / "tables"
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Case:
    """A mechanism as it is typed, and what is known of it.

    exact: the truth is that of the mechanism; else of some of its neighbours. once: one release
    is what it says, but for several an adversary may choose among pairs. near: how far below the
    supremum the truth may be, where it is taken over a grid. noise: its law, if `sample` draws it.
    """

    spec: str
    make: Callable[[], Truth]
    exact: bool = True
    once: bool = False
    near: Fraction = Fraction(0)
    costlier: str | None = None
    cheaper: str | None = None
    noise: Callable[[], truth.Pmf] | None = None
    is_slow: bool = False  # several releases of it take seconds
    same: str | None = None  # another spec of the same mechanism
    known: tuple[tuple[str, str, str], ...] = ()  # figures that a theorem gives: (which, at, value)

    @property
    def is_bracket(self) -> bool:
        """Whether no width is promised: of shuffled reports the profile is a bracket."""
        return "shuffled" in self.spec

    @property
    def is_heavy(self) -> bool:
        """Whether curves and audits take seconds, too."""
        slow = ("discrete-gaussian", "skellam", "guarantee:zcdp", "exponential", "theorem")
        slow += ("partition", "sparse", "noisy-max", "permute", "randomized-response:epsilon=0")
        return self.is_slow or self.spec.startswith(slow)

    @property
    def is_heaviest(self) -> bool:
        """Whether each figure of two releases takes seconds."""
        return self.is_bracket or self.spec.startswith(("guarantee:zcdp", "exponential"))

    @cached_property
    def truth(self) -> Truth:
        with mpmath.workdps(brute_force.DIGITS):
            return self.make()

    def __str__(self) -> str:
        return self.spec.replace(f"{TABLES}/", "")


def evolved(one: Truth, is_bounded: bool) -> Truth:
    """With the knowledge that the noise's largest loss is beyond what is listed, or is not."""
    return replace(one, is_bounded=is_bounded) if isinstance(one, truth.Listed) else one


def _noise(name: str, keys: str, pmf: Callable[[], truth.Pmf], radius: int, less: str,
           log_concave: bool = True, is_bounded: bool = False) -> list[Case]:  # fmt: skip
    """One law: alone, with more neighbours, reduced, sampled, in batches, as vectors, as counts."""
    spec = f"{name}:{keys}"

    def of(more: str, make: Callable[[truth.Pmf], Truth], **known: object) -> Case:
        known.setdefault("costlier", f"{name}:{less}{more}")
        slow = any(key in more for key in ("l2", "l1", "linf", "threshold", "modulus", "poisson"))
        known.setdefault("is_slow", slow or name in ("polya-difference", "discrete-gaussian-sum"))
        bounded = is_bounded or "modulus" in more or "names" in more
        return Case(f"{spec}{more}", lambda: evolved(make(pmf()), bounded), **known)  # type: ignore[arg-type]

    def shifted(d: int, m: int | None = None) -> Callable[[truth.Pmf], Truth]:
        return lambda p: truth.shifts(p, radius, d, m)

    def moved(largest: int, *moves: tuple[int, int]) -> Callable[[truth.Pmf], Truth]:
        """One coordinate by as much as l2 or l1 allows, or two by 1."""
        return lambda p: truth.Listed((
            *truth.shifts(p, radius, largest).ways,
            *truth.vectors(p, min(radius, 60), *moves).ways,
        ))  # fmt: skip

    cases = [
        of("", shifted(1), once=name == "binomial", cheaper=f"{spec},modulus=5", noise=pmf),
        of(",sensitivity=2", shifted(2), once=not log_concave, costlier=f"{spec},sensitivity=3"),
        of(",sensitivity=2,modulus=7", shifted(2, 7), once=True, cheaper=f"{spec},modulus=1",
           costlier=f"{spec},sensitivity=2"),
        of(",modulus=2", shifted(1, 2), costlier=spec),
        of(",neighbours=add-remove,poisson=3/10", lambda p: truth.sampled(truth.shifts(p, radius),
           "3/10"), once=True, costlier=f"{spec},neighbours=add-remove,poisson=1/2"),
        of(",threshold=4", lambda p: truth.thresholded(p, radius, 4, 1, False), once=True,
           cheaper=f"{spec},threshold=4,names=yes", costlier=f"{spec},threshold=4,keys=2"),
        of(",sensitivity=2,threshold=3,names=yes",
           lambda p: truth.thresholded(p, radius, 3, 2, True), once=True,
           costlier=f"{spec},sensitivity=2,threshold=3"),
    ]  # fmt: skip
    if log_concave:
        cases += [
            of(",l2=2", moved(2, (1, 1), (1, -1)), exact=False, costlier=f"{spec},l2=3"),
            of(",l2=2,dimension=1", shifted(2), costlier=f"{spec},l2=2,dimension=2"),
            of(",l1=2", moved(2, (1, 1)), exact=False, costlier=f"{spec},l1=3"),
            of(
                ",linf=1,dimension=2",
                moved(1, (1, 1), (1, -1)),
                exact=False,
                costlier=f"{spec},linf=1,dimension=3",
            ),
        ]
    return cases


def _laws() -> list[Case]:
    gaussian_sum = cache(lambda: oracles.convolution(oracles.discrete_gaussian(HALF), 4, 30).get)
    return [
        *_noise("discrete-laplace", "scale=2", lambda: oracles.discrete_laplace(2), 260, "scale=1",
                is_bounded=True),
        *_noise("polya-difference", "shape=9/10,scale=1",
                lambda: oracles.polya_difference("9/10", 1), 130, "shape=9/10,scale=1/2", False,
                True),
        *_noise("skellam", "variance=4", lambda: oracles.skellam(4), 60, "variance=2"),
        *_noise("discrete-gaussian", "sigma2=3", lambda: oracles.discrete_gaussian(3), 64,
                "sigma2=2"),
        *_noise("discrete-gaussian-sum", "count=4,sigma2=1/2",
                lambda: lambda x: gaussian_sum()(x, mpmath.mpf(0)), 60, "count=3,sigma2=1/2"),
        *_noise("binomial", "trials=12,probability=1/3", lambda: oracles.binomial(12, "1/3"), 16,
                "trials=12,probability=1/3,sensitivity=2", False, True),
    ]  # fmt: skip


def _reports() -> list[Case]:
    third, quarter = Fraction(1, 3), Fraction(1, 4)

    def krr(*given: object) -> Callable[[], Truth]:
        return lambda: truth.rows_of(truth.response(*given))  # type: ignore[arg-type]

    def one_hot(epsilon: int, count: int) -> list[truth.Row]:
        return truth.bits(mpmath.mpf(1) / 2, 1 / (1 + mpmath.exp(epsilon)), count)

    def rappor(f: Fraction, count: int, held: int = 1) -> list[truth.Row]:
        half = truth.brute_force_number(f) / 2
        return truth.bits(1 - half, half, count, held)

    def sketch(epsilon: int, count: int) -> list[truth.Row]:
        flip = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon) / 2))
        return truth.bits(1 - flip, flip, count)

    def told(chances: tuple[str, str], *sizes: int) -> Truth:
        return truth.rows_of(truth.bits(*map(truth.brute_force_number, chances), *sizes or (2,)))

    def table() -> list[truth.Row]:
        half, q = truth.brute_force_number(HALF), truth.brute_force_number(quarter)
        return [[half, q, q], [q, half, q], [q, q, half]]

    local = f"local:file={TABLES}/local.csv"
    return [
        Case("randomized-response:epsilon=1", krr(1), costlier="randomized-response:epsilon=2"),
        Case("randomized-response:epsilon=1,categories=4", krr(1, 4),
             costlier="randomized-response:epsilon=1,categories=3"),
        Case("randomized-response:epsilon=3/2,categories=3", krr("3/2", 3)),
        Case("randomized-response:epsilon=1,delta=1/10", krr(1, 2, "1/10"),
             costlier="randomized-response:epsilon=1,delta=1/5"),
        Case("randomized-response:epsilon=1,neighbours=add-remove,poisson=1/4",
             lambda: truth.sampled(truth.rows_of(truth.response(1)), "1/4"), once=True,
             costlier="randomized-response:epsilon=1,neighbours=add-remove,poisson=1/2"),
        Case("randomized-response:epsilon=2,shuffled=4",
             lambda: truth.shuffled(truth.response(2), 4), once=True,
             costlier="randomized-response:epsilon=2,shuffled=3"),
        Case("randomized-response:epsilon=1,categories=3,shuffled=3",
             lambda: truth.shuffled(truth.response(1, 3), 3), once=True,
             costlier="randomized-response:epsilon=1,categories=3,shuffled=2"),
        Case("unary-encoding:epsilon=1", lambda: truth.rows_of(one_hot(1, 2)), once=True,
             costlier="unary-encoding:epsilon=2"),
        Case("unary-encoding:p=3/4,q=1/3,bits-differ=4",
             lambda: truth.rows_of(truth.bits(truth.brute_force_number("3/4"),
                                              truth.brute_force_number(third), 4, 2)), once=True,
             cheaper="unary-encoding:p=3/4,q=1/3"),
        Case("unary-encoding:epsilon=1,bits=2,shuffled=2",
             lambda: truth.shuffled(one_hot(1, 2), 2), once=True,
             costlier="unary-encoding:epsilon=1,bits=2"),
        Case("unary-encoding:epsilon=1,bits=3,shuffled=2",
             lambda: truth.shuffled(one_hot(1, 3), 2), once=True),
        Case("rappor:f=1/2", lambda: truth.rows_of(rappor(HALF, 2)), costlier="rappor:f=1/4"),
        Case("rappor:f=1/2,hashes=2", lambda: truth.rows_of(rappor(HALF, 4, 2)),
             cheaper="rappor:f=1/2"),
        Case("unary-encoding:p=1/5,q=3/4", lambda: told(("1/5", "3/4")), once=True),
        Case("rappor:f=1/2,p=3/4,q=1/2", lambda: told(("11/16", "9/16")), once=True,
             costlier="rappor:f=1/4,p=3/4,q=1/2"),
        Case("rappor:f=0,p=3/4,q=1/2,hashes=2", lambda: told(("3/4", "1/2"), 4, 2), once=True),
        Case("rappor:f=1/4,p=3/4,q=1/2,reports=3", lambda: truth.rows_of(truth.memoised(
            *(truth.brute_force_number(x) for x in ("1/8", "3/4", "1/2")), 3)), once=True,
            cheaper="rappor:f=1/4,p=3/4,q=1/2,reports=2"),
        Case("count-mean-sketch:epsilon=2", lambda: truth.rows_of(sketch(2, 2)),
             costlier="count-mean-sketch:epsilon=3"),
        Case("subset-selection:epsilon=1,categories=4,size=2",
             lambda: truth.rows_of(truth.subsets(1, 4, 2)),
             costlier="subset-selection:epsilon=2,categories=4,size=2"),
        Case("subset-selection:epsilon=1,categories=3,size=1,shuffled=3",
             lambda: truth.shuffled(truth.subsets(1, 3, 1), 3), once=True),
        *(Case(f"subset-selection:epsilon=1,categories={k}{given}",
               lambda k=k, size=size: truth.rows_of(truth.subsets(1, k, size)))
          for k, size, given in ((7, 2, ""), (2, 1, ",size=1"))),
        Case("hadamard-response:epsilon=1,categories=5",
             lambda: truth.rows_of(truth.hadamard(1, 5))),
        Case("hadamard-response:epsilon=1,categories=3",
             lambda: truth.rows_of(truth.hadamard(1, 3)),
             costlier="hadamard-response:epsilon=2,categories=3"),
        Case("hadamard-response:epsilon=1,categories=4,shuffled=2",
             lambda: truth.shuffled(truth.hadamard(1, 4), 2), once=True,
             costlier="hadamard-response:epsilon=1,categories=4"),
        Case("one-bit-mean:epsilon=1", krr(1), costlier="one-bit-mean:epsilon=2"),
        Case("one-bit-mean:epsilon=1,shuffled=3", lambda: truth.shuffled(truth.response(1), 3),
             exact=False, costlier="one-bit-mean:epsilon=1,shuffled=2"),
        Case(local, lambda: truth.rows_of(table()), once=True),
        Case(f"{local},shuffled=3", lambda: truth.shuffled(table(), 3), once=True, costlier=local),
    ]  # fmt: skip


def _tables() -> list[Case]:
    def pair(*columns: tuple[str, ...]) -> Callable[[], Truth]:
        def made() -> Truth:
            p, q = ([truth.brute_force_number(x) for x in column] for column in columns)
            return truth.rows_of([p, q])

        return made

    few = pair(("1/2", "3/10", "1/5"), ("1/3", "1/3", "1/3"))
    telling = pair(("1/2", "9/20", "1/20", "0"), ("2/5", "11/20", "0", "1/20"))
    return [
        Case(f"pmf:file={TABLES}/pair.csv", few),
        Case(f"pmf:file={TABLES}/pair.csv,neighbours=add-remove,poisson=1/4",
             lambda: truth.sampled(truth.Listed(few().ways[:1]), "1/4"), exact=False,
             costlier=f"pmf:file={TABLES}/pair.csv,neighbours=add-remove,poisson=1/2"),
        Case(f"pmf:file={TABLES}/infinite.csv", telling),
    ]  # fmt: skip


def _continuous() -> list[Case]:
    def gaussian(square: str) -> Callable[[], Truth]:
        return lambda: truth.Gaussian(Fraction(square))

    def table(name: str) -> list[list[Fraction]]:
        rows = (TABLES / f"{name}.csv").read_text().split()
        return [[Fraction(x) for x in row.split(",")] for row in rows]

    uneven = f"matrix:file={TABLES}/uneven.csv,sigma=2"
    return [
        Case("gaussian:sigma=2", gaussian("1/4"), costlier="gaussian:sigma=1"),
        Case("gaussian:sigma2=3,sensitivity=2", gaussian("4/3"), costlier="gaussian:sigma2=2,l2=2"),
        Case("gaussian:rho=1/8", gaussian("1/4"), costlier="gaussian:rho=1/4"),
        Case("laplace:scale=2", lambda: truth.Laplace(HALF), once=True, costlier="laplace:scale=1"),
        Case("laplace:epsilon=1,sensitivity=3", lambda: truth.Laplace(Fraction(1)), once=True),
        Case("laplace:scale=2,l1=3", lambda: truth.Laplace(Fraction(3, 2)), once=True),
        Case("guarantee:gdp:1/2", gaussian("1/4"), costlier="guarantee:gdp:1"),
        Case("guarantee:pure:1", lambda: truth.rows_of(truth.response(1)),
             costlier="guarantee:pure:2"),
        Case("guarantee:zcdp:1/8", gaussian("1/4"), exact=False, costlier="guarantee:zcdp:1/4"),
        Case("exponential:epsilon=1", lambda: truth.bounded_range(1), exact=False,
             near=Fraction(1, 300), once=True, costlier="exponential:epsilon=2"),
        Case("tree:steps=5,sigma=2", lambda: truth.stream(
            truth.tree(5), Fraction(2), truth.patterns(5, 1, 1, False)),
            costlier="tree:steps=5,sigma=2,participations=2"),
        Case("tree:steps=6,sigma=3,participations=2,separation=2", lambda: truth.stream(
            truth.tree(6), Fraction(3), truth.patterns(6, 2, 2, False)),
            cheaper="tree:steps=6,sigma=3,participations=2,separation=2,fixed=yes"),
        Case("tree:steps=7,sigma=3,participations=3,separation=2,fixed=yes", lambda: truth.stream(
            truth.tree(7), Fraction(3), truth.patterns(7, 3, 2, True)),
            costlier="tree:steps=7,sigma=3,participations=3,separation=2"),
        Case("tree:steps=6,sigma=3,restart=4,l2=2", lambda: truth.stream(
            truth.tree(6, 4), Fraction(3), truth.patterns(6, 1, 1, False), Fraction(2))),
        Case("tree:steps=20,sigma=3,restart=15,participations=5,separation=3", lambda: truth.stream(
            truth.tree(20, 15), Fraction(3), truth.patterns(20, 5, 3, False))),
        Case(f"matrix:file={TABLES}/lower.csv,sigma=2,participations=2", lambda: truth.stream(
            table("lower"), Fraction(2), truth.patterns(4, 2, 1, False)),
            costlier=f"matrix:file={TABLES}/lower.csv,sigma=1,participations=2"),
        Case(f"{uneven},participations=3,separation=2", lambda: truth.stream(
            table("uneven"), Fraction(2), truth.patterns(7, 3, 2, False)),
            cheaper=f"{uneven},participations=2,separation=2"),
        Case(f"{uneven},participations=2,separation=3,fixed=yes", lambda: truth.stream(
            table("uneven"), Fraction(2), truth.patterns(7, 2, 3, True)),
            costlier=f"{uneven},participations=2,separation=3"),
    ]  # fmt: skip


CASES: tuple[Case, ...] = (*_laws(), *_reports(), *_tables(), *_continuous())
