"""Keys of specs that several names share, and those that are no field of a class.

What such a key means otherwise for one of them, and keys of its own, a name brings along in its
`Entry`.
"""

from __future__ import annotations

from ..additive.reach import Reach
from ..additive.vector import VectorNoise
from ..fields import schema
from ..fields.schema import YES_OR_NO, Key
from ..mechanism import AdditiveNoise
from ..sampled import Sampled
from ..selection.threshold import Thresholded

NEIGHBOURS = ("neighbours", "poisson")
SAMPLING = (*NEIGHBOURS, "fixed-size")

KEYS: dict[str, Key] = {
    **schema.keys(VectorNoise),
    **schema.keys(Sampled),
    **schema.keys(AdditiveNoise),
    **schema.keys(Reach),
    **schema.keys(Thresholded),
    # noise
    "epsilon": Key("a number above 0", "in place of scale: sensitivity/epsilon, or l1/epsilon"),
    "rho": Key(
        "a number above 0", "in place of sigma2: sensitivity^2/(2 sigma2), or l2^2/(2 sigma2)"
    ),
    # queries
    "rounding": Key(
        "stochastic, conditional:BETA or nearest",
        "the vector is real, l2 its norm, and each user rounds it to integers",
    ),
    # users
    "fixed-size": Key("SIZE/POPULATION", "a batch of so many of all users; replace"),
    "users": Key("a whole number from 1", "in how many equal shares the noise is made"),
    "dropout": Key("a whole number from 0", "users whose shares are not there", "0"),
    "collusion": Key("a whole number from 0", "users whose shares are known", "0"),
    "names": Key(YES_OR_NO, "of counts with threshold, only which keys reach it", "no"),
    # the papers
    "batch": Key("a whole number from 1", "users in a batch"),
    "horizon": Key("a whole number from 1", "rounds in all"),
    "scaling": Key("a number from 1", "the paper's s"),
    "aggregator": Key("a whole number from 1", "the modulus that really sums the shares"),
    "shuffled": Key("a whole number, 2 to 1e9", "the reports of so many users are seen shuffled"),
    # files
    "file": Key("a path", "CSV with columns outcome,p,q, exact"),
    "slack": Key("a number from 0, below 1", "what the columns may lack of 1; it is charged", "0"),
    # steps
    "allocation": Key("K/STEPS", "each user in so many of all steps, at random; add-remove"),
}


def chosen(
    needs: tuple[str, ...], allows: tuple[str, ...] = (), own: dict[str, Key] | None = None
) -> dict[str, Key]:
    """These keys in this order, with what they mean here where that is another thing."""
    return {name: (own or {}).get(name) or KEYS[name] for name in (*needs, *allows)}
