"""Matrix mechanisms: C x + z, where C is lower triangular and row t is released at time t.

x has a row per step, the sum of what users send then; neighbours move a user's row, in each step
that she takes part in, by a vector of norm at most l2. Whatever follows from C x + z (prefix sums,
momentum, "Honaker" estimates of trees) is post-processing.

*Gaussian noise* of standard deviation sigma in every entry of z: the least mu for which it is
mu-GDP is sens/sigma, sens the `Sensitivity` times l2, and a pair of Gaussians at that distance is
the worst; also where x depends on all that was released before (Denisov, McMahan, Rush, Smith,
Thakurta, NeurIPS 2022, Theorem 2.1).

*Discrete noise*, the same independent law in every entry, where C is of whole numbers and users
send vectors of whole numbers: what the users' shares under secure aggregation make. Row i moves by
a vector v_i that may depend on the rows before, with the sum of |v_i|^2 at most sens^2 on every
path. Given the rows before, it is post-processing of a Gaussian pair at the distance mu |v_i|, mu
the `unit_parameter` of the law (`laws.gaussian_envelope`); and uses of Gaussian DP whose parameters
are chosen on the way, their squares never adding up to more than m^2, are m-GDP together (Smith,
Thakurta, "Fully adaptive composition for Gaussian differential privacy", 2022; Koskela, Tobaben,
Honkela, "Individual privacy accounting with Gaussian differential privacy", ICLR 2023). So it is
mu sens-GDP. From below, a user who sends one vector in all of her steps: every entry of it is used
in each row as noise on one number is, which moves by as many times the entry as the row holds.

*Discrete Gaussian noise*, besides: sens^2/(2 sigma2)-zCDP. For whole numbers v, P and Q the laws of
z + v and z, with w(t) = sum over x of e^(-(x - t)^2/(2 sigma2)) <= w(0) (Poisson's formula),
E_Q (P/Q)^a = e^(a (a - 1) v^2/(2 sigma2)) w(a v)/w(0) (Canonne, Kamath, Steinke, NeurIPS 2020). So,
given the rows before, the exponential of (a - 1) times a row's loss, over e^(a (a - 1) |v_i|^2/
(2 sigma2)), has a mean of at most 1; so has the product of all, and the |v_i|^2 add up to at most
sens^2 on every path: D_a <= a sens^2/(2 sigma2). The square is carried, not its root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from attrs import field, frozen

from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError, ball, exact, whole
from ...exact.precision import enclose_between, working_precision
from ...exact.square_root import square_root
from ..additive.reach import Reach
from ..bracket import Bracket, Bracketed, Parts, RenyiCurve
from ..continuous import ContinuousNoise, Shape, dominating_gaussian
from ..fields.schema import flag
from ..laws.discrete_gaussian import DiscreteGaussian
from ..laws.families import BY_VARIANCE
from ..laws.law import Law
from ..mechanism import AdditiveNoise, Mechanism
from ..sampled import Sampled, check_neighbours
from .columns import (
    MOST_COEFFICIENTS,
    Endless,
    Table,
    Toeplitz,
    Tree,
    buffered,
    endless,
    prefix_root,
)
from .files import read_buffers, read_matrix
from .participation import MOST_STEPS, Participation

NOISES = ("gaussian", "discrete-gaussian", "skellam")
_WHY = "which steps of a user cost most is open"
_WHY_DISCRETE = "what a user's vectors cost lies between those of one vector and a Gaussian"
_SHOWN = 8
_BITS = 192
_INVERTED = 10_000  # steps of a Toeplitz matrix


@frozen(eq=False)
class Stream:
    """What is released: C, the steps of users, and the norm of their vectors, of which this pattern
    moves most.
    """

    matrix: Tree | Toeplitz | Table | Endless
    who: Participation
    l2: Fraction
    pattern: tuple[int, ...]


@frozen
class MatrixNoise(Bracketed):
    """A stream released as C x + z, z continuous Gaussian noise: the same as one number.

    matrix: C and the users' steps, in words. square: of by how much one user moves C x, in L2.
    """

    matrix: str
    square: Enclosure
    sigma: Fraction
    stream: Stream = field(eq=False, repr=False)
    neighbours: str = "replace"

    def bracket(self) -> Bracket:
        """Gaussian noise on a number that moves by this distance."""
        squares = Fraction(self.square.lower), Fraction(self.square.upper)
        scales = [square_root(self.sigma**2 / square) for square in squares]
        lower, upper = (
            ContinuousNoise(Shape.GAUSSIAN, scale, neighbours=self.neighbours) for scale in scales
        )
        return Bracket([lower], [upper], reason=_WHY)


@frozen
class DiscreteMatrixNoise(Bracketed):
    """The same with whole numbers throughout, and noise of a discrete law in every entry of z.

    square: at most what the squares of all that a user moves add up to. shifts: how many rows move
    by which multiple of her vector, where that is the same one in all her steps.
    """

    matrix: str
    law: Law
    reach: Reach
    square: int
    shifts: tuple[tuple[int, int], ...]
    stream: Stream = field(eq=False, repr=False)
    neighbours: str = "replace"

    def bracket(self) -> Bracket:
        """What some users move, in each direction that may cost most; the envelope of the law."""
        curve = None
        if isinstance(self.law, DiscreteGaussian):
            curve = RenyiCurve(Fraction(self.square) / (2 * self.law.sigma2))
        noise = dominating_gaussian(self.law, self.square, self.neighbours)
        return Bracket(self._attained(), [noise], curve=curve, reason=_WHY_DISCRETE)

    def _attained(self) -> tuple[Parts, ...]:
        return tuple(
            tuple(
                (self._of_number(move * size), count * rows)
                for move, count in direction.items()
                for size, rows in self.shifts
            )
            for direction in self.reach.directions()
        )

    def _of_number(self, move: int) -> Mechanism:
        noise = AdditiveNoise(self.law, move)
        return noise if self.neighbours == "replace" else Sampled(noise)


def read_release(name: str, values: Mapping[str, str]) -> tuple[Mechanism, dict[str, str]]:
    """The mechanism of a spec, and what was derived on the way: how sensitive it is, where,
    and how far off prefix sums are.

    name: tree, matrix, sqrt-toeplitz or blt.
    """
    matrix, said = _matrix(name, values)
    who = _participation(matrix.steps, values)
    found = matrix.sensitivity(who)
    l2 = exact(values.get("l2", "1"), "l2", above=0, at_most=10**9)
    neighbours = values.get("neighbours", "replace")
    check_neighbours(neighbours, Fraction(1))
    sigma = exact(values["sigma"], "sigma", above=0)
    said = f"{said}, {_told(who)}"
    square, distance = found.square.times(l2**2), Enclosure(found.lower * l2, found.upper * l2)
    steps = [str(step) for step in found.pattern[:_SHOWN]] + ["..."] * (who.times > _SHOWN)
    derived = {"sensitivity": str(distance), "worst_steps": ", ".join(steps)}
    if isinstance(matrix, Tree) or (isinstance(matrix, Toeplitz) and matrix.steps <= _INVERTED):
        derived["prefix_stddev"] = str(prefix_deviation(matrix, sigma))
    stream = Stream(matrix, who, l2, found.pattern)
    noise = values.get("noise", "gaussian")
    if noise not in NOISES:
        raise ParameterError(f"noise must be {', '.join(NOISES)}, got {noise[:40]!r}")
    reach = Reach(
        l2="1" if noise == "gaussian" else values.get("l2", "1"), dimension=values.get("dimension")
    )
    if noise == "gaussian":
        if not square.lower > 0:
            raise ParameterError("the matrix must move by something that is attained")
        return MatrixNoise(said, square, sigma, stream, neighbours), derived
    if found.shifts is None:
        raise ParameterError(
            f"noise must be gaussian where C has other than whole numbers: {noise}"
        )
    law = BY_VARIANCE[noise](sigma**2)
    most = math.floor(Fraction(found.square.upper)) * reach.largest_square
    mechanism = DiscreteMatrixNoise(said, law, reach, most, found.shifts, stream, neighbours)
    return mechanism, derived


def prefix_deviation(
    matrix: Tree | Toeplitz, sigma: Fraction, present: Fraction = Fraction(1)
) -> Enclosure:
    """The largest standard deviation of a prefix sum of the release, in every coordinate.

    present: which part of the shares of the noise is there.
    """
    found = matrix.prefix_variance()
    variance = Enclosure.exactly(found) if isinstance(found, int) else found
    with working_precision(_BITS):
        low, high = (ball(Fraction(end)).sqrt() for end in (variance.lower, variance.upper))
        left = ball(sigma) * ball(present).sqrt()
        return enclose_between(left * low, left * high)


def _matrix(name: str, values: Mapping[str, str]) -> tuple[Tree | Toeplitz | Table | Endless, str]:
    if name == "matrix":
        table = read_matrix(values["file"])
        return table, f"a matrix of {table.steps} steps"
    if name == "blt" and "steps" not in values:
        if "separation" in values and "participations" not in values:
            raise ParameterError("participations must be given where steps is not")
        return endless(*read_buffers(values["file"])), "a BLT of any number of steps"
    most = MOST_STEPS if name == "tree" else MOST_COEFFICIENTS
    steps = whole(values["steps"], "steps", at_least=1, at_most=most)
    if name == "tree":
        restart = whole(values.get("restart", steps), "restart", at_least=1, at_most=most)
        begun = f", begun anew every {restart}" if restart < steps else ""
        return Tree(steps, min(restart, steps)), f"a tree of {steps} steps{begun}"
    if name == "blt":
        return buffered(steps, *read_buffers(values["file"])), f"a BLT of {steps} steps"
    return prefix_root(steps), f"the root of prefix sums of {steps} steps"


def _participation(steps: int, values: Mapping[str, str]) -> Participation:
    """Once; as often as fits, where only a separation is given."""
    separation = values.get("separation", "1")
    fixed = flag(values.get("fixed", "no"), "fixed")
    if "participations" in values:
        times = values["participations"]
    else:
        apart = whole(separation, "separation", at_least=1)
        times = str(1 + (steps - 1) // apart) if "separation" in values else "1"
    return Participation(steps, times, separation, fixed)


def _told(who: Participation) -> str:
    if who.times == 1:
        return "single participation"
    apart = "exactly" if who.fixed else "at least"
    return f"repeated participation: {who.times} times, {apart} {who.separation} steps apart"
