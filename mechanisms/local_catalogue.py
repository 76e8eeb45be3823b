"""The local randomizers that a spec can name, and their keys; `local_families` builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .keys import Key
from .mechanism import Mechanism

_EPSILON = Key("a number, 0 to 10000", "log of the largest ratio of a report's probabilities")
_CATEGORIES = Key("a whole number, 2 to 1e9", "how many values there are")
_P = Key("a number between 0 and 1", "how often 1 is reported for a bit that is set")
_Q = Key("a number between 0 and 1", "how often 1 is reported for a bit that is not set")
_BITS = Key("a whole number from 2", "how many bits are reported; any number where not given")


class Reported(NamedTuple):
    """A local randomizer: its keys, a few words, values of a spec, and what its keys mean."""

    needs: tuple[str, ...]
    allows: tuple[str, ...]
    says: str
    example: str
    own: Mapping[str, Key]


LOCAL: dict[str, Reported] = {
    "unary-encoding": Reported(
        (),
        ("epsilon", "p", "q", "bits-differ", "bits", "shuffled"),
        "one of many bits is set, each is reported by itself",
        "epsilon=1,bits=16",
        {
            "epsilon": Key("a number, 0 to 10000", "of a report, whose p is 1/2; or p and q"),
            "p": _P,
            "q": _Q,
            "bits-differ": Key("an even number, 2 to 64", "in which two values differ", "2"),
            "bits": _BITS,
        },
    ),
    "rappor": Reported(
        ("f",),
        ("hashes", "p", "q", "reports", "bits", "shuffled"),
        "RAPPOR: bits with a permanent answer, and instantaneous ones of it",
        "f=1/2,bits=16",
        {
            "f": Key("a number, 0 to 1", "how often a permanent bit is drawn by a fair coin"),
            "hashes": Key("a whole number, 1 to 32", "how many bits a value sets", "1"),
            "p": Key("a number between 0 and 1", "how often 1 is reported for a permanent 1"),
            "q": Key("a number between 0 and 1", "how often 1 is reported for a permanent 0"),
            "reports": Key("a whole number, 1 to 1000", "of one permanent answer", "1"),
            "bits": _BITS,
        },
    ),
    "count-mean-sketch": Reported(
        ("epsilon",),
        ("bits", "shuffled"),
        "a bit that a public hash function sets, each flipped by itself (Apple 2017)",
        "epsilon=4,bits=16",
        {"epsilon": _EPSILON, "bits": _BITS},
    ),
    "subset-selection": Reported(
        ("epsilon", "categories"),
        ("size", "shuffled"),
        "a set of categories that rather holds the true one",
        "epsilon=1,categories=10",
        {
            "epsilon": _EPSILON,
            "categories": Key("a whole number, 2 to 4096", "how many values there are"),
            "size": Key("a whole number from 1", "of the set; categories/(1 + e^epsilon)"),
        },
    ),
    "hadamard-response": Reported(
        ("epsilon", "categories"),
        ("shuffled",),
        "a column of a Hadamard matrix that rather has 1 in the value's row",
        "epsilon=1,categories=10",
        {"epsilon": _EPSILON, "categories": _CATEGORIES},
    ),
    "one-bit-mean": Reported(
        ("epsilon",),
        ("shuffled",),
        "one bit of a number from 0 to 1 (Ding, Kulkarni, Yekhanin 2017)",
        "epsilon=1",
        {"epsilon": _EPSILON},
    ),
    "local": Reported(
        ("file",),
        ("normalise", "shuffled"),
        "your own local randomizer, a table with a row per value",
        "file=table.csv",
        {
            "file": Key("a path", "CSV: a row per value, a column per report, exact"),
            "normalise": Key("yes or no", "divide each row by its sum", "no"),
        },
    ),
}


def built_by(name: str) -> Callable[[Mapping[str, str]], Mechanism]:
    """The function of `local_families` that builds it; it is loaded where it is asked for."""

    def build(values: Mapping[str, str]) -> Mechanism:
        from . import local_families

        found: Mechanism = getattr(local_families, name.replace("-", "_"))(values)
        if "shuffled" not in values:
            return found
        from . import shuffled

        return shuffled.by_keys(found, values)

    return build
