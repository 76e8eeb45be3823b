"""A whole round, played: vectors in, the mean that the server decodes out.

Clients are served one after the other: each vector is made, encoded, noised, masked and added to
the sum, and forgotten, so that a round needs the memory of a few vectors, whatever its size.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike, NDArray

from ...exact.number import ExactInput, ParameterError, exact, whole
from ...mechanisms.laws.arrays import draw_array
from ...mechanisms.laws.law import Law
from ...mechanisms.samplers.bits import RandomBits, SystemBits, is_simulated
from ..aggregation.aggregation import Stage, summing_arrays
from .encoder import Encoding, clipped
from .error import ErrorBound, error_bound

if TYPE_CHECKING:
    from ..aggregation.masked import Terms


Vectors: TypeAlias = Sequence[ArrayLike] | Callable[[int], ArrayLike]
_SEED_BYTES = 32


@frozen
class FederatedResult:
    """What a round came to: `run_round` gives it.

    encoding  with the seed of the rotation that was used
    mean      that was decoded, of the clipped vectors of those summed
    truth     that mean itself
    error     the L2 norm of their difference
    bound     what was proved of it before
    clipped   how many of the vectors summed were longer than the clip
    summed    how many clients are in the sum
    present   how many sent each stage's message
    seconds   for encoding, noise, masks (with all that the protocol needs) and decoding
    bits      that one client sent at most, all messages together
    simulated whether the bits were a seed's: then it is no release
    terms     of the masks; None without masks

    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> encoding = Encoding(clip=1, scale=128, dimension=6, bits=16, rounding="stochastic")
    >>> played = run_round(encoding, None, np.eye(6), bits=SeededBits(3))
    >>> played.summed, played.clipped, played.simulated, played.within
    (6, 0, True, True)
    """

    encoding: Encoding
    mean: NDArray[np.float64] = field(eq=False, repr=False)
    truth: NDArray[np.float64] = field(eq=False, repr=False)
    error: float
    bound: ErrorBound
    clipped: int
    summed: int
    present: Mapping[str, int]
    seconds: Mapping[str, float] = field(eq=False)
    bits: int
    simulated: bool
    terms: Terms | None = field(repr=False)

    @property
    def within(self) -> bool:
        """Is the error within the bound?"""
        return bool(self.error <= float(self.bound.l2))


def run_round(
    encoding: Encoding,
    share: Law | None,
    vectors: Vectors,
    clients: ExactInput | None = None,
    *,
    bits: RandomBits | None = None,
    vanish: Mapping[int, Stage] | None = None,
    dropout: ExactInput | None = None,
    failure: ExactInput = "1e-6",
    masks: bool = True,
) -> FederatedResult:
    """Play a round: encoding, shares of the noise, masks, the sum, and its mean decoded.

    share     the law of what one client adds to each coordinate; None for no noise
    vectors   the clients' vectors: an array of them, or a function of the client's number
    clients   how many; may be left out where `vectors` has a length
    bits      the operating system's by default; a seed's make it a simulation
    vanish    clients, and the first stage of the masked sum at which they send nothing
    dropout   the most that may be missing from the sum; by default as many as vanish
    failure   the probability with which the error may be above its bound
    masks     False: a plain sum, which hides nothing

    The rotation's seed is drawn where the encoding has none. Raises ParameterError for arguments
    out of range, AggregationError where too few clients remain.

    >>> import numpy as np
    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> encoding = Encoding(clip=1, scale=128, dimension=6, bits=16, rounding="stochastic")
    >>> vectors = np.eye(6)[[0, 1, 2, 0, 1, 2, 0, 1]]
    >>> played = run_round(encoding, Skellam(variance=1), vectors, bits=SeededBits(3))
    >>> played.summed, played.within, bool(played.error < 0.05)
    (8, True, True)
    """
    known = clients if callable(vectors) else len(vectors)
    if known is None:
        raise ParameterError("clients must be given where vectors is a function")
    count = whole(known if clients is None else clients, "clients", at_least=2)
    if clients is not None and known != clients:
        raise ParameterError(f"vectors must be {count}, one for each client, got {known}")
    source = SystemBits() if bits is None else bits
    if not encoding.seed:
        seed = source.take(8 * _SEED_BYTES).to_bytes(_SEED_BYTES, "little")
        encoding = evolve(encoding, seed=seed)
    exact(failure, "failure", above=0, below=1)
    took, start = {"encode": 0.0, "noise": 0.0}, time.perf_counter()
    leaving = dict(vanish or {})
    if not masks and leaving.keys() >= set(range(count)):
        raise ParameterError("vanish must leave a client")
    most = len(leaving) if dropout is None else dropout
    summing = summing_arrays(encoding.bits, source, most if masks else None)

    def vector(client: int) -> NDArray[np.float64]:
        """Asked for twice: when it is sent, and for the true mean of those that were summed."""
        given = vectors(client) if callable(vectors) else vectors[client]
        return np.asarray(given, dtype=np.float64)

    def message(client: int) -> NDArray[np.uint64]:
        own, begun = vector(client), time.perf_counter()
        integers = encoding.integers(own, source)
        encoded = time.perf_counter()
        if share is not None:
            integers += draw_array(share, source, encoding.size)
        took["encode"] += encoded - begun
        took["noise"] += time.perf_counter() - encoded
        return encoding.residues(integers)

    messages = {client: partial(message, client) for client in range(count)}
    played = summing.play_vectors(messages, encoding.size, leaving)
    ended = time.perf_counter()
    took["sum"] = ended - start - took["encode"] - took["noise"]
    mean = encoding.decode(played.sums, len(played.summed))
    took["decode"] = time.perf_counter() - ended
    truth, longer = _truth(encoding, vector, played.summed)
    return FederatedResult(
        encoding,
        mean,
        truth,
        float(np.linalg.norm(mean - truth)),
        error_bound(encoding, share, len(played.summed), failure),
        longer,
        len(played.summed),
        played.present_by_name,
        took,
        played.bits,
        is_simulated(source),
        played.terms,
    )


def _truth(
    encoding: Encoding, vector: Callable[[int], NDArray[np.float64]], summed: frozenset[int]
) -> tuple[NDArray[np.float64], int]:
    """The mean of their clipped vectors, and how many were longer."""
    clip, longer = float(encoding.clip), 0
    total = np.zeros(encoding.dimension)
    for client in summed:
        sent = vector(client)
        shortened = clipped(sent, clip)
        longer += shortened is not sent
        total += shortened
    return total / len(summed), longer
