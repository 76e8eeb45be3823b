"""More cases: sampled continuous noise, batches, selection, keys, guarantees, presets.

`known` are figures that theorems give exactly, beside what is enumerated; `same` is another spec of
the same mechanism.
"""

from collections.abc import Callable
from fractions import Fraction

import mpmath
import oracles
from conformance import selection, truth
from conformance.cases import TABLES, Case, evolved
from conformance.continuous import Mixed
from conformance.truth import Truth
from mpmath import mpf

_ADDED = "neighbours=add-remove"


def _sampled() -> list[Case]:
    def mixed(base: Truth, rate: str) -> Mixed:
        return Mixed(base, Fraction(rate))  # type: ignore[arg-type]

    found = []
    for spec, base, less in (
        ("gaussian:sigma=1", truth.Gaussian(Fraction(1)), "gaussian:sigma=4/5"),
        ("gaussian:sigma=2,sensitivity=3", truth.Gaussian(Fraction(9, 4)), "gaussian:sigma=1/2"),
        ("laplace:scale=1", truth.Laplace(Fraction(1)), "laplace:scale=1/2"),
        ("laplace:epsilon=2,sensitivity=3", truth.Laplace(Fraction(2)), "laplace:epsilon=3"),
    ):
        for rate in ("1/100", "1/2"):
            more = f"{_ADDED},poisson={rate}"
            made = lambda base=base, rate=rate: mixed(base, rate)  # noqa: E731
            found.append(Case(f"{spec},{more}", made, costlier=f"{less},{more}", is_slow=True,
                              cheaper=f"{spec},{_ADDED},poisson=1/200"))  # fmt: skip
    laws = (
        ("discrete-laplace:scale=2", lambda: oracles.discrete_laplace(2), 260),
        ("skellam:variance=4", lambda: oracles.skellam(4), 60),
        ("discrete-gaussian:sigma2=3", lambda: oracles.discrete_gaussian(3), 32),
    )
    for spec, pmf, radius in laws:
        bounded = spec.startswith("discrete-laplace")
        made = lambda pmf=pmf, radius=radius, bounded=bounded: evolved(  # noqa: E731
            truth.sampled(truth.shifts(pmf(), radius, 2), "3/10"), bounded
        )
        found.append(
            Case(f"{spec},sensitivity=2,fixed-size=3/10", made, exact=False, is_slow=True,
                 costlier=f"{spec},sensitivity=2,fixed-size=5/10")
        )  # fmt: skip
    response = lambda: truth.sampled(truth.rows_of(truth.response(1)), "3/10")  # noqa: E731
    found += [
        Case("randomized-response:epsilon=1,fixed-size=3/10", response, exact=False,
             costlier="randomized-response:epsilon=1,fixed-size=5/10"),
        Case("gaussian:sigma=2,fixed-size=1/2", lambda: mixed(truth.Gaussian(Fraction(1, 4)),
             "1/2"), exact=False, costlier="gaussian:sigma=1,fixed-size=1/2", is_slow=True),
        Case("laplace:scale=2,fixed-size=1/2", lambda: mixed(truth.Laplace(Fraction(1, 2)), "1/2"),
             exact=False, costlier="laplace:scale=1,fixed-size=1/2", is_slow=True),
        Case("gaussian:sigma=2,fixed-size=10/10", lambda: truth.Gaussian(Fraction(1, 4)),
             same="gaussian:sigma=2"),
        Case(f"gaussian:sigma=2,{_ADDED},poisson=1", lambda: truth.Gaussian(Fraction(1, 4)),
             same=f"gaussian:sigma=2,{_ADDED}"),
        Case(f"gaussian:sigma=2,{_ADDED},allocation=1/1", lambda: truth.Gaussian(Fraction(1, 4)),
             same=f"gaussian:sigma=2,{_ADDED}"),
        Case(f"guarantee:pure:1,{_ADDED},poisson=1/4", response_at("1/4"), exact=False,
             costlier=f"guarantee:pure:1,{_ADDED},poisson=1/2"),
    ]  # fmt: skip
    return found


def response_at(rate: str):
    return lambda: truth.sampled(truth.rows_of(truth.response(1)), rate)


def _selection() -> list[Case]:
    def pure(text: str) -> tuple[tuple[str, str, str], ...]:
        return (("pure", "", text),)

    def vector(variant: int, answers: int, known: str | None) -> Case:
        spec = f"sparse-vector:epsilon=6,answers={answers},variant={variant}"
        return Case(spec, lambda: selection.sparse_vector(6, answers, variant), exact=False,
                    known=pure(known) if known else (), is_slow=answers > 1 and variant == 2,
                    costlier=spec.replace("=6", "=7"))  # fmt: skip

    return [
        *(vector(variant, 1, {1: "6", 2: "6", 4: "21/2", 5: "inf"}.get(variant))
          for variant in (1, 2, 3, 4, 5, 6)),
        vector(1, 2, "6"), vector(2, 2, "6"), vector(4, 2, None),
        Case("noisy-max:scale=2,candidates=3", lambda: selection.noisy_max(2, False), exact=False,
             known=pure("1"), costlier="noisy-max:scale=1,candidates=3",
             cheaper="noisy-max:scale=2,candidates=2"),
        Case("noisy-max:scale=2,candidates=3,monotone=yes", lambda: selection.noisy_max(2, True),
             exact=False, known=pure("1/2"), costlier="noisy-max:scale=2,candidates=3"),
        Case("permute-and-flip:epsilon=1", lambda: selection.permute_and_flip(1), exact=False,
             known=pure("1"), costlier="permute-and-flip:epsilon=2"),
        Case("exponential:epsilon=8", lambda: truth.bounded_range(8), exact=False,
             near=Fraction(1, 300), once=True, known=pure("8")),
    ]  # fmt: skip


def _shuffled() -> list[Case]:
    def of(spec: str, rows: Callable[[], list[truth.Row]], users: int) -> Case:
        fewer = f"{spec},shuffled={users - 1}"
        return Case(f"{spec},shuffled={users}", lambda: truth.shuffled(rows(), users), once=True,
                    costlier=fewer, is_slow=True)  # fmt: skip

    def two_bits() -> list[truth.Row]:
        return truth.bits(mpf(1) / 2, 1 / (1 + mpmath.exp(1)), 2)

    def lopsided() -> list[truth.Row]:
        return [[mpf(3) / 4, mpf(1) / 4], [mpf(2) / 5, mpf(3) / 5]]

    return [
        of("randomized-response:epsilon=1", lambda: truth.response(1), 20),
        of("randomized-response:epsilon=4", lambda: truth.response(4), 12),
        of("randomized-response:epsilon=2,categories=3", lambda: truth.response(2, 3), 6),
        of("randomized-response:epsilon=1,categories=4", lambda: truth.response(1, 4), 4),
        of("unary-encoding:epsilon=1,bits=2", two_bits, 4),
        of(f"local:file={TABLES}/two.csv", lopsided, 8),
        Case("randomized-response:epsilon=0,categories=3,shuffled=9",
             lambda: truth.rows_of(truth.response(0))),
    ]  # fmt: skip


def _keys() -> list[Case]:
    shown = "discrete-laplace:scale=1/3,threshold=3"

    def twice(keys: int) -> Truth:
        one = truth.thresholded(oracles.discrete_laplace("1/3"), 40, 3, 1, False)
        return evolved(selection.several_keys(one, keys), True)

    def named(keys: int) -> Truth:
        return selection.names(oracles.discrete_laplace("1/2"), 60, 4, keys, 12)

    def gaussian(keys: int) -> Truth:
        return selection.names(oracles.discrete_gaussian(2), 40, 5, keys, 24)

    def rarely() -> Truth:
        there = oracles.discrete_laplace("1/3")
        pair = truth.thresholded(there, 40, 3, 1, False).ways[0]
        return evolved(truth.sampled(truth.Listed((pair,)), "1/4"), True)

    return [
        Case(f"{shown},poisson=1/4", rarely, exact=False, costlier=f"{shown},poisson=1/2"),
        Case(f"{shown},keys=2", lambda: twice(2), once=True, costlier=f"{shown},keys=3",
             is_slow=True),
        Case("discrete-laplace:scale=1/2,threshold=4,keys=2,names=yes", lambda: named(2), once=True,
             cheaper="discrete-laplace:scale=1/2,threshold=4,names=yes", is_slow=True),
        Case("discrete-gaussian:sigma2=2,threshold=5,names=yes", lambda: gaussian(1), once=True,
             costlier="discrete-gaussian:sigma2=2,threshold=5,keys=2,names=yes"),
        Case("partition-selection:epsilon=1,delta=1/100",
             lambda: selection.optimal_names(1, "1/100"), once=True,
             known=(("delta", "1", "1/100"),),
             costlier="partition-selection:epsilon=1,delta=1/50"),
        Case("partition-selection:epsilon=1/10,delta=1/10",
             lambda: selection.optimal_names("1/10", "1/10"), once=True,
             cheaper="partition-selection:epsilon=1/10,delta=1/20"),
    ]  # fmt: skip


def _tails() -> list[Case]:
    """A key that the user alone holds is shown with the tail of continuous noise."""

    def shown(tail: mpf) -> Truth:
        return truth.Listed(([(tail, mpf(0)), (1 - tail, mpf(1))], [(mpf(1), 1 - tail)]))

    return [
        Case("laplace:scale=1,threshold=4", lambda: shown(mpmath.exp(-3) / 2), exact=False,
             cheaper="laplace:scale=1,threshold=4,names=yes",
             costlier="laplace:scale=1,threshold=3", is_slow=True),
        Case("gaussian:sigma=2,threshold=4,keys=2",
             lambda: shown(1 - mpmath.ncdf(mpf(3) / 2) ** 2), exact=False,
             cheaper="gaussian:sigma=2,threshold=4", is_slow=True),
    ]  # fmt: skip


def _guaranteed() -> list[Case]:
    def bits(odds: str, other: str) -> Truth:
        p, q = truth.brute_force_number(odds), truth.brute_force_number(other)
        return truth.rows_of([[p, 1 - p], [q, 1 - q]])

    rdp = Fraction("0.41")  # of (3/5, 2/5) against (2/5, 3/5), at order 2: log(9/10 + 4/15) = 0.154
    return [
        Case("guarantee:approx:1,1/10", lambda: truth.rows_of(truth.response(1, 2, "1/10")),
             known=(("delta", "1", "1/10"),), same="randomized-response:epsilon=1,delta=1/10"),
        Case(f"guarantee:rdp:2,{rdp}", lambda: bits("0.7", "0.4"), exact=False,
             known=(("renyi", "2", str(rdp)),), costlier="guarantee:rdp:2,1/2", is_slow=True),
        Case("guarantee:zcdp:1/10", lambda: truth.Gaussian(Fraction(1, 5)), exact=False,
             known=(("zcdp", "", "1/10"), ("renyi", "7", "7/10")), costlier="guarantee:zcdp:1/5",
             is_slow=True),
        Case("guarantee:gdp:2", lambda: truth.Gaussian(Fraction(4)),
             known=(("gdp", "", "2"), ("zcdp", "", "2")), same="gaussian:sigma=1/2"),
        Case("guarantee:pure:0", lambda: truth.rows_of(truth.response(0)),
             costlier="guarantee:pure:1", known=(("pure", "", "0"),)),
    ]  # fmt: skip


def four_gaussians() -> Truth:
    total = oracles.convolution(oracles.discrete_gaussian(4), 4, 34)
    return evolved(truth.shifts(lambda x: total.get(x, mpf(0)), 70, 2), False)


def _presets() -> list[Case]:
    def laplace(m):
        return lambda: evolved(truth.shifts(oracles.discrete_laplace(2), 260, 1, m), True)

    shares = "discrete-laplace:scale=2,users=4"
    few = lambda: truth.shifts(oracles.polya_difference("3/4", 2), 260)  # noqa: E731

    def published() -> Truth:
        """e^(-1/scale) = 1 - e^(-1/40), where e^(-1/40) was meant."""
        scale = oracles.exactly(-1 / mpmath.log(-mpmath.expm1(-mpf(1) / 40)))
        return evolved(truth.shifts(oracles.polya_difference("3/4", scale), 40, 4), True)

    return [
        Case("theorem1:epsilon=1/2,batch=4,horizon=10", laplace(17),
             same="discrete-laplace:scale=2,modulus=17",
             costlier="theorem1:epsilon=1/2,batch=4,horizon=10,dropout=1"),
        Case("theorem1:epsilon=1/2,batch=4,horizon=10,modulus=none", laplace(None),
             same="discrete-laplace:scale=2"),
        Case("theorem1:epsilon=1/2,batch=4,horizon=10,dropout=1,modulus=none",
             lambda: evolved(few(), True), is_slow=True,
             same="polya-difference:shape=3/4,scale=2"),
        Case("theorem2:epsilon=1/2,batch=4,horizon=10,scaling=2,modulus=none",
             lambda: evolved(truth.shifts(oracles.skellam(16), 110, 2), False),
             same="skellam:variance=16,sensitivity=2"),
        Case("theorem4:epsilon=1/2,batch=4,horizon=10,scaling=2,modulus=none",
             four_gaussians,
             same="discrete-gaussian-sum:count=4,sigma2=4,sensitivity=2", is_slow=True),
        Case(f"{shares},dropout=1", lambda: evolved(few(), True), is_slow=True,
             same="polya-difference:shape=3/4,scale=2", costlier=f"{shares},dropout=1,collusion=1"),
        Case("skellam:variance=8,users=4,dropout=1,collusion=1",
             lambda: evolved(truth.shifts(oracles.skellam(4), 60), False),
             same="skellam:variance=4"),
        Case("published:epsilon=1/10,batch=1024,dropout=256", published, once=True),
        # 5 = -2 mod 7: a smaller shift than the sensitivity costs most; 5 = 0 mod 5 tells nothing
        *(Case(f"polya-difference:shape={shape},scale=2,sensitivity=5,modulus={m}",
               lambda shape=shape, m=m: truth.shifts(
                   oracles.polya_difference(shape, 2), 160, 5, m), once=True, is_slow=True)
          for shape, m in (("3/8", 7), ("3/4", 5))),
        Case("theorem5:epsilon=1/2,batch=4,horizon=10", laplace(17),
             same="discrete-laplace:scale=2,modulus=17"),
        Case("theorem6:epsilon=1/2,batch=4,horizon=10", laplace(37),
             same="discrete-laplace:scale=2,modulus=37"),
    ]  # fmt: skip


def _vectors() -> list[Case]:
    rounded = "discrete-gaussian:sigma2=3,l2=1,dimension=1,rounding=stochastic," + _ADDED

    def half() -> Truth:
        whole = truth.shifts(oracles.discrete_gaussian(3), 32)
        return evolved(truth.Listed((*truth.sampled(whole, "1/2").ways, *whole.ways)), False)

    def sometimes(rate: str) -> Truth:
        """1/2, which is rounded to 1 as often as to 0."""
        return evolved(truth.sampled(truth.shifts(oracles.discrete_gaussian(3), 32), rate), False)

    def longer() -> Truth:
        """3/2, which is rounded to 1 or 2."""
        pmf = oracles.discrete_gaussian(3)
        pair = [((pmf(x - 1) + pmf(x - 2)) / 2, pmf(x)) for x in range(-24, 25)]
        return truth.Listed((pair, [(q, p) for p, q in pair]), False)

    return [
        Case(rounded.replace("l2=1,", "l2=3/2,"), longer, exact=False, is_slow=True,
             costlier=rounded.replace("l2=1,", "l2=2,")),
        Case(rounded.replace("l2=1,", "l2=1/2,"), lambda: sometimes("1/2"), exact=False,
             costlier=rounded, is_slow=True),
        Case(rounded.replace("l2=1,", "l2=1/2,") + ",poisson=1/2", lambda: sometimes("1/4"),
             exact=False, costlier=rounded.replace("l2=1,", "l2=1/2,"), is_slow=True),
        Case(rounded, half, exact=False, costlier=rounded.replace("sigma2=3", "sigma2=2"),
             is_slow=True),
        Case("tree:steps=1,sigma=2,noise=discrete-gaussian",
             lambda: evolved(truth.shifts(oracles.discrete_gaussian(4), 36), False),
             exact=False, costlier="tree:steps=2,sigma=2,noise=discrete-gaussian", is_slow=True),
        Case("tree:steps=1,sigma=2,noise=skellam",
             lambda: evolved(truth.shifts(oracles.skellam(4), 60), False),
             exact=False, costlier="tree:steps=2,sigma=2,noise=skellam", is_slow=True),
        Case("sqrt-toeplitz:steps=4,sigma=2", lambda: truth.stream(
            truth.square_root(4), Fraction(2), truth.patterns(4, 1, 1, False)),
            costlier="sqrt-toeplitz:steps=5,sigma=2"),
        Case("sqrt-toeplitz:steps=6,sigma=2,participations=2,separation=3", lambda: truth.stream(
            truth.square_root(6), Fraction(2), truth.patterns(6, 2, 3, False)),
            cheaper="sqrt-toeplitz:steps=6,sigma=2"),
    ]  # fmt: skip


FURTHER: tuple[Case, ...] = (
    *(*_sampled(), *_selection(), *_keys(), *_tails(), *_shuffled()),
    *(*_guaranteed(), *_presets(), *_vectors()),
)
