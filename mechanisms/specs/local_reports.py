"""Specs of local randomizers: their keys, and the reports of many users, summed or shuffled."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve

from ...exact.number import ExactInput, ParameterError, exact, whole
from ..fields import parameters
from ..fields.schema import Entry, Key, Values, entry, flag, keys
from ..local.local_families import Bits, Categories, Hadamard, OneBitMean, Reports, Subsets, few
from ..local.local_file import Table, read_table
from ..local.randomizer import ONE, Weight
from ..local.shuffled import by_keys
from ..mechanism import Mechanism, RandomizedResponse
from ..sampling.schemes import with_users
from .catalogue import KEYS, SAMPLING

_MOST_REPORTS = 1000


def _bits(p: Fraction, q: Fraction, hashes: ExactInput, size: ExactInput | None) -> Bits:
    """1 with probability p where the bit is set, q where it is not."""
    flipped = p < q
    if flipped:
        p, q = 1 - p, 1 - q
    return Bits(Weight.of(p / (1 - p)), Weight.of(q / (1 - q)), hashes, size, flipped)


def _inside(value: ExactInput, name: str) -> Fraction:
    return exact(value, name, above=0, below=1)


def unary_encoding(given: Values) -> Bits:
    """p and q, or epsilon: then p = 1/2 and q = 1/(1 + e^(epsilon/hashes)), the least variance."""
    differ = whole(given.get("bits-differ", "2"), "bits-differ", at_least=2, at_most=64)
    if differ % 2:
        raise ParameterError(
            f"bits-differ must be even, got {differ}: half are set by each of two values"
        )
    hashes, size = differ // 2, given.get("bits")
    if ("epsilon" in given) == bool(given.keys() & {"p", "q"}):
        raise ParameterError("unary-encoding takes epsilon, or p and q")
    if "epsilon" in given:
        return Bits(ONE, Weight.of(1, -parameters.odds(given["epsilon"]) / hashes), hashes, size)
    for name in ("p", "q"):
        if name not in given:
            raise ParameterError(f"unary-encoding: {name} is missing")
    return _bits(_inside(given["p"], "p"), _inside(given["q"], "q"), hashes, size)


def count_mean_sketch(given: Values) -> Bits:
    """Bits that are flipped with probability 1/(1 + e^(epsilon/2)), one of them set."""
    half = parameters.odds(given["epsilon"]) / 2
    return Bits(Weight.of(1, half), Weight.of(1, -half), 1, given.get("bits"))


def rappor(given: Values) -> Bits | Reports:
    """A permanent answer, or so many instantaneous ones, 1 with probability p or q by its bits."""
    hashes, size = given.get("hashes", "1"), given.get("bits")
    instantaneous = [key for key in ("p", "q") if key in given]
    if len(instantaneous) == 1:
        raise ParameterError("rappor takes both p and q, of its instantaneous answers, or neither")
    if not instantaneous:
        if "reports" in given:
            raise ParameterError("reports are of instantaneous answers: p and q are missing")
        half = exact(given["f"], "f", above=0, at_most=1) / 2
        return _bits(1 - half, half, hashes, size)
    half = exact(given["f"], "f", at_least=0, at_most=1) / 2
    p, q = (_inside(given[key], key) for key in ("p", "q"))
    reports = whole(given.get("reports", "1"), "reports", at_least=1, at_most=_MOST_REPORTS)
    if reports > 1:
        return Reports(half, p, q, hashes, reports, size)
    return _bits((1 - half) * p + half * q, half * p + (1 - half) * q, hashes, size)


def randomized_response(given: Values) -> Mechanism:
    """Randomized response of one bit, or of so many categories; its users sampled or not."""
    found: Mechanism = RandomizedResponse(given["epsilon"], given.get("delta", "0"))
    if "categories" in given:
        if "delta" in given:
            raise ParameterError("delta must not be given with categories")
        listed = Categories(given["epsilon"], given["categories"])
        found = listed if listed.categories > 2 else found
    return found if "shuffled" in given else with_users(given, found)


def local(given: Values) -> Table:
    """A table from a file."""
    return read_table(given["file"], flag(given.get("normalise", "no"), "normalise"))


def subset_selection(given: Values) -> Subsets:
    """By its size, or the best one."""
    epsilon, categories = parameters.odds(given["epsilon"]), few(given["categories"])
    size = given.get("size")
    return Subsets(
        epsilon, categories, Subsets.best_size(epsilon, categories) if size is None else size
    )


def _shuffled(one: Entry) -> Entry:
    """With a key more: the reports of so many users, seen shuffled."""

    def build(given: Values) -> Mechanism:
        found: Mechanism = one.build(given)
        if "shuffled" not in given:
            return found
        return by_keys(found, given)

    key = one.keys.get("shuffled", KEYS["shuffled"])
    return evolve(one, build=build, keys={**one.keys, "shuffled": key})


_P = Key("a number between 0 and 1", "how often 1 is reported for a bit that is set")
_Q = Key("a number between 0 and 1", "how often 1 is reported for a bit that is not set")
_BITS = Key("a whole number from 2", "how many bits are reported; any number where not given")
_OF_CATEGORIES = keys(Categories)

_REPORTS = {
    "randomized-response": Entry(
        ("epsilon",),
        randomized_response,
        "one bit, or category: the truth with odds e^epsilon to 1",
        "epsilon=1",
        {
            **keys(RandomizedResponse),
            "categories": evolve(_OF_CATEGORIES["categories"], default="2"),
            # summed reports of one category each tell how often each was reported, and no more
            "shuffled": evolve(KEYS["shuffled"], spelt={"summed": str}),
            **{name: KEYS[name] for name in SAMPLING},
        },
        RandomizedResponse.calibrated,
    ),
    "unary-encoding": Entry(
        (),
        unary_encoding,
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
    "rappor": Entry(
        ("f",),
        rappor,
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
    "count-mean-sketch": Entry(
        ("epsilon",),
        count_mean_sketch,
        "a bit that a public hash function sets, each flipped by itself (Apple 2017)",
        "epsilon=4,bits=16",
        {"epsilon": _OF_CATEGORIES["epsilon"], "bits": _BITS},
    ),
    "subset-selection": entry(Subsets, subset_selection),
    "hadamard-response": entry(Hadamard),
    "one-bit-mean": entry(OneBitMean),
    "local": Entry(
        ("file",),
        local,
        "your own local randomizer, a table with a row per value",
        "file=table.csv",
        {
            "file": Key("a path", "CSV: a row per value, a column per report, exact"),
            "normalise": Key("yes or no", "divide each row by its sum", "no"),
        },
    ),
}

ENTRIES = {name: _shuffled(one) for name, one in _REPORTS.items()}
