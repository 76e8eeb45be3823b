"""What a spec can name: the keys that each name needs and allows, and the mechanism they build.

Parameters are read and refused by the library; here is only which key goes where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from ...common.rows import written
from ...exact.number import ParameterError, exact, whole
from ...exact.square_root import SquareRoot, square_root
from ..additive.reach import Reach
from ..additive.vector import VectorNoise
from ..continuous import ContinuousNoise, Shape
from ..fields.schema import YES_OR_NO, Entry, Key, Values, flag, keys, short
from ..laws.families import FAMILIES
from ..laws.law import Law
from ..mechanism import AdditiveNoise, Mechanism
from ..pairs.pair_file import Held, read_pair
from ..sampled import Sampled, unsampled
from ..sampling.guaranteed import read_guarantee
from ..sampling.schemes import with_users
from ..selection.threshold import Thresholded, read_threshold

if TYPE_CHECKING:
    from ...protocols.federated import Settings
    from ..additive.papers import ShufflePreset
    from ..additive.protocol import SumProtocol
    from ..additive.reach import RoundedReach
    from ..matrices.shared import SharedStream

_MISSING = ("dropout", "collusion")
NEIGHBOURS = ("neighbours", "poisson")
SAMPLING = (*NEIGHBOURS, "fixed-size")

KEYS: dict[str, Key] = {
    **keys(VectorNoise),
    **keys(Sampled),
    **keys(AdditiveNoise),
    **keys(Reach),
    **keys(Thresholded),
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


@frozen
class Spec:
    """A mechanism, the text that named it, and the parameters that were derived from it.

    protocol: how users make the sum that is released; None where that is not stated. horizon: T.
    failure: how often its aggregation may be wrong, where it may. drawn: what samples are of,
    where the mechanism is a guarantee about it. shuffled: the binary sum, where bits are shuffled.
    stream: what clients send of it. held: the text with the content of the file that it names.
    """

    text: str
    mechanism: Mechanism
    derived: Mapping[str, int | str]
    protocol: SumProtocol | None = None
    horizon: int | None = None
    failure: Fraction | None = None
    drawn: Mechanism | None = None
    shuffled: ShufflePreset | None = None
    federated: Settings | None = None
    stream: SharedStream | None = None
    held: Held | None = None

    def to_json(self) -> dict[str, str]:
        """The mechanism as `--json` shows it; integers as text, since they may be large."""
        shown = {"spec": self.text}
        if isinstance(noisy := unsampled(self.mechanism), AdditiveNoise | VectorNoise):
            shown["noise"] = written(noisy.law)
        return shown | {name: str(value) for name, value in self.derived.items()}


def _modulus(values: Values) -> str | None:
    return None if (given := values.get("modulus", "none")) == "none" else given


def _missing(values: Values) -> list[str]:
    return [values.get(key, "0") for key in _MISSING]


_VECTOR = ("l2", "l1", "linf", "dimension", "rounding")
_THRESHOLD = ("threshold", "keys", "names")
_ADDITIVE = ("sensitivity", "modulus", "users", *_MISSING, *SAMPLING, *_VECTOR, *_THRESHOLD)


def _counts(values: Values, noise: AdditiveNoise | ContinuousNoise) -> Mechanism:
    """Counts per key with a threshold, or the names of keys alone."""
    counts = read_threshold(values, noise)
    if not flag(values.get("names", "no"), "names"):
        return counts
    from ..selection.key_names import KeyNames, Noisy

    if counts.rate != 1:
        raise ParameterError("poisson must not be given with names")
    return KeyNames(Noisy(evolve(counts, keys=1)), counts.keys)


def _partition_selection(values: Values) -> Spec:
    from ..selection.key_names import partition_selection

    return Spec("", *partition_selection(values))


def _noisy(values: Values, noise: Law) -> Mechanism:
    """A number, or a vector where its norms are given, plus this noise, users sampled or not."""
    modulus = _modulus(values)
    if values.keys() & set(_THRESHOLD):
        return _counts(values, AdditiveNoise(noise, values.get("sensitivity", "1"), modulus))
    if not values.keys() & set(_VECTOR):
        return with_users(values, AdditiveNoise(noise, values.get("sensitivity", "1"), modulus))
    for key in ("sensitivity", "fixed-size"):
        if key in values:
            raise ParameterError(f"{key} is of single numbers: a vector takes {', '.join(_VECTOR)}")
    neighbours = values.get("neighbours", "replace")
    return with_users(values, VectorNoise(noise, _reach(values), modulus, neighbours))


def _reach(values: Values) -> Reach | RoundedReach:
    """By what a vector moves: an integer one, or a real one that is rounded."""
    if "rounding" not in values:
        return Reach(*(values.get(key) for key in ("l2", "l1", "linf", "dimension")))
    for key in ("l1", "linf"):
        if key in values:
            raise ParameterError(f"{key} must not be given with rounding, which takes l2 only")
    for key in ("l2", "dimension"):
        if key not in values:
            raise ParameterError(
                "rounding needs l2, the norm of the real vector, and dimension, in which the norm "
                f"of the rounded one grows: {key} is missing"
            )
    from ..additive.reach import RoundedReach

    return RoundedReach(values["l2"], values["dimension"], values["rounding"])


_SIZED = {  # a cost that says how much noise: the norm it is for, and what may be given instead
    "epsilon": ("l1", "scale", "scale = l1/epsilon"),
    "rho": ("l2", "sigma2", "sigma2 = l2^2/(2 rho)"),
}


def _sensitivity(values: Values) -> dict[str, str]:
    """What the query moves by in the norm that the noise is sized for, where a cost says its size.

    Of a vector that is the norm that is given: what other norms make of it is not guessed.
    """
    for cost, (norm, size, formula) in _SIZED.items():
        if cost in values and values.keys() & set(_VECTOR):
            reach, rounded = _reach(values), "rounding" in values
            if norm in values and not rounded:
                return {"sensitivity": values[norm]}
            most = f"; l1 is at most {reach.largest_sum} within the norms given"
            raise ParameterError(
                f"{cost} is for {'integer ' if rounded else ''}vectors of a known {norm}: give "
                + (formula if rounded else f"{norm} as well, or {size}")
                + (most if norm == "l1" else "")
            )
    return {}


def _additive(family: type[Law]) -> Entry:
    """Noise that is added to an integer query; of `users` equal shares where that is given."""

    def build(values: Values) -> Mechanism | Spec:
        noise = family.from_spec({**values, **_sensitivity(values)})
        if not any(key in values for key in ("users", *_MISSING)):
            return _noisy(values, noise)
        if values.keys() & set(_THRESHOLD):
            raise ParameterError("users must not be given with threshold: see neighbours")
        if values.get("neighbours", "replace") != "replace" or values.keys() & set(SAMPLING[1:]):
            raise ParameterError(
                "neighbours must be replace, and nobody sampled, where users make the noise: with "
                "one user less it is another distribution"
            )
        users = values.get("users", values.get("count"))  # one of each of so many terms
        if users is None:
            raise ParameterError(
                "dropout and collusion need users: in how many equal shares the noise is made"
            )
        from ..additive.protocol import missing_users

        all_users = whole(users, "users", at_least=1)
        try:
            share = noise.share(all_users)
        except ParameterError as error:  # of what the share would be
            if "users" in str(error):
                raise
            raise ParameterError(f"users={short(users)[1:-1]}: {error}") from error
        present = all_users - missing_users(all_users, *_missing(values))
        return Spec("", _noisy(values, share.sum_of(present)), {"users": present})

    needs, allows = family.needs(), (*family.allows(), *_ADDITIVE)
    known = chosen(needs, allows, keys(family))
    return Entry(needs, build, family.says, family.example, known, family.calibrated)


_PRESET = ("epsilon", "batch", "horizon")
_USUAL = {"epsilon": "0.5", "batch": "1024", "horizon": "1000000", "scaling": "10"}
_STATED = Key("a number above 0", "what the paper states for one batch")
_OTHER_MODULUS = Key("a whole number from 1, or none", "in place of the paper's m", "the paper's")


def _preset(
    name: str, says: str, needs: tuple[str, ...] = _PRESET, allows: tuple[str, ...] = ()
) -> Entry:
    """What `papers` states by this name; it is loaded where it is asked for."""

    def build(values: Values) -> Spec:
        from ..additive import papers
        from ..additive.protocol import missing_users

        given: dict[str, Any] = {
            key: value for key, value in values.items() if key not in (*_MISSING, "aggregator")
        }
        if "modulus" in given:
            given["modulus"] = _modulus(values)
        preset: papers.Preset | papers.RelaxedPreset = getattr(papers, name)(**given)
        protocol, missing = preset.protocol, _missing(values)
        if "aggregator" in values:
            _check_aggregator(values["aggregator"], protocol.modulus)
        shown: dict[str, int | str | None] = {
            "precision": preset.precision,
            "accuracy": preset.accuracy,
            "modulus": protocol.modulus,
            "users": preset.batch - missing_users(preset.batch, *missing),
            "bits_per_user": protocol.bits_per_user,
        }
        released: Mechanism = protocol.released(*missing)
        failure = drawn = None
        if isinstance(preset, papers.RelaxedPreset):
            shown["share"] = written(protocol.noise)
            shown["aggregation"] = written(preset.aggregation)
            failure = preset.aggregation.failure
            drawn = released  # by an aggregation that is not relaxed
            released = preset.aggregation.released(protocol, *missing)
        horizon = whole(values["horizon"], "horizon") if "horizon" in values else None
        known = {key: value for key, value in shown.items() if value is not None}
        return Spec("", released, known, protocol, horizon, failure, drawn)

    example = ",".join(f"{key}={_USUAL[key]}" for key in (*needs, *allows))
    own = {"epsilon": _STATED, "modulus": _OTHER_MODULUS}
    known = chosen(needs, (*allows, "modulus", "aggregator", *_MISSING), own)
    return Entry(needs, build, says, example, known)


def _check_aggregator(aggregator: str, modulus: int | None) -> None:
    """Shares reduced mod m and summed in another modulus tell more than their sum mod m."""
    real = whole(aggregator, "aggregator", at_least=1)
    if real != modulus:
        reduced = "are not reduced" if modulus is None else f"are reduced mod {modulus}"
        raise ParameterError(
            f"aggregator must be the modulus of the shares, got {short(aggregator)}: shares that "
            f"{reduced} must be summed "
            + ("as they are" if modulus is None else f"mod {modulus}")
            + ", or more than their sum is revealed"
        )


def _shuffle_sum(values: Values) -> Spec:
    from ..additive.papers import shuffle_sum
    from ..additive.protocol import missing_users

    preset = shuffle_sum(values["epsilon"], values["delta"], values["users"])
    protocol, missing = preset.protocol, _missing(values)
    shown = {
        "users": preset.batch - missing_users(preset.batch, *missing),
        "messages_per_user": protocol.messages_per_user,
        "bits_per_user": protocol.bits_per_user,
    }
    return Spec("", protocol.released(*missing), shown, shuffled=preset)


def _continuous(shape: Shape, says: str, own: Mapping[str, Key]) -> Entry:
    """Continuous noise of one of the sizes in `own`; the sensitivity by itself or as a norm."""
    *sizes, norm = own

    def build(values: Values) -> Mechanism:
        given = [key for key in sizes if key in values]
        moved = [key for key in ("sensitivity", norm) if key in values]
        if len(given) != 1 or len(moved) > 1:
            raise ParameterError(
                f"{shape.value} takes one of {', '.join(sizes)}, and sensitivity or {norm}"
            )
        sensitivity = exact(values[moved[0]], moved[0], above=0) if moved else Fraction(1)
        number = exact(values[given[0]], given[0], above=0)
        size = _SCALES[given[0]](number, sensitivity)
        if values.keys() & set(_THRESHOLD):
            return _counts(values, ContinuousNoise(shape, size, sensitivity))
        return with_users(values, ContinuousNoise(shape, size, sensitivity))

    allows = (*sizes, "sensitivity", norm, *SAMPLING, *_THRESHOLD)
    if shape is Shape.GAUSSIAN:
        allows = (*allows, "allocation")
    meant = {
        **own,
        "sensitivity": evolve(KEYS["sensitivity"], takes="a number above 0"),
        "threshold": evolve(KEYS["threshold"], takes="a number, at least sensitivity"),
    }
    return Entry((), build, says, f"{shape.parameter}=2", chosen((), allows, meant))


_SCALES: dict[str, Callable[[Fraction, Fraction], Fraction | SquareRoot]] = {
    "sigma": lambda sigma, _: sigma,
    "sigma2": lambda sigma2, _: square_root(sigma2),
    "rho": lambda rho, sensitivity: square_root(sensitivity**2 / (2 * rho)),
    "scale": lambda scale, _: scale,
    "epsilon": lambda epsilon, sensitivity: sensitivity / epsilon,
}


_SCALED = (*_PRESET, "scaling")
_SIZE = "a number above 0"
_SECURE = "of batches summed by secure aggregation"
_NORM2 = Key("a number above 0, to 1e9", "how far neighbours move x in each step, in L2", "1")
_STREAM = {
    "steps": Key("a whole number from 1", "how many rows x has"),
    "sigma": Key(_SIZE, "standard deviation of the noise, in every entry"),
    "participations": Key(
        "a whole number, 1 to 100000", "how often a user takes part at most", "1"
    ),
    "separation": Key("a whole number from 1", "by how many steps these are apart at least", "1"),
    "fixed": Key("yes or no", "they are exactly so many steps apart", "no"),
    "l2": _NORM2,
}
_WHOLE = {
    "noise": Key("gaussian, discrete-gaussian or skellam", "of every entry", "gaussian"),
    "dimension": Key("a whole number, 1 to 1e15", "of vectors of whole numbers, if known"),
    "clients": Key("a whole number, 2 to 1e9", "who send shares of the noise, under masks"),
    "bits": Key("a whole number, 1 to 60", "what they send is summed mod 2^bits"),
    "dropout": Key("a whole number", "how many of them are missing in every step", "0"),
}


def _stream(
    name: str, says: str, example: str, needs: tuple[str, ...], own: Mapping[str, Key]
) -> Entry:
    """A matrix mechanism; it is loaded where it is asked for."""

    def build(values: Values) -> Spec:
        from ..matrices.shared import read_stream

        mechanism, derived, shared = read_stream(name, values)
        return Spec("", mechanism, derived, stream=shared)

    allows = (
        "participations",
        "separation",
        "fixed",
        "l2",
        *(key for key in own if key not in needs),
    )
    known = chosen((*needs, "sigma"), (*allows, "neighbours"), {**_STREAM, **own})
    return Entry((*needs, "sigma"), build, says, example, known)


# of each name beside the laws' what it needs and builds, or the module whose `ENTRIES` say so
NAMES: dict[str, Entry | str] = {
    **dict.fromkeys(
        (
            "randomized-response",
            "unary-encoding",
            "rappor",
            "count-mean-sketch",
            "subset-selection",
            "hadamard-response",
            "one-bit-mean",
            "local",
        ),
        "mechanisms.specs.local_reports",
    ),
    "gaussian": _continuous(
        Shape.GAUSSIAN,
        "a real query plus continuous Gaussian noise; accounting only",
        {
            "sigma": Key(_SIZE, "standard deviation of the noise, in every coordinate"),
            "sigma2": Key(_SIZE, "in place of sigma, its square"),
            "rho": Key(_SIZE, "in place of sigma: sensitivity^2/(2 sigma^2)"),
            "l2": Key(_SIZE, "sensitivity by another name, of a vector"),
        },
    ),
    "laplace": _continuous(
        Shape.LAPLACE,
        "a real query plus continuous Laplace noise; accounting only",
        {
            "scale": Key(_SIZE, "the density falls as e^(-|x|/scale), in every coordinate"),
            "epsilon": Key(_SIZE, "in place of scale: sensitivity/epsilon"),
            "l1": Key(_SIZE, "sensitivity by another name, of a vector"),
        },
    ),
    "guarantee": Entry(
        ("claim",),
        read_guarantee,
        "anything that has this guarantee, and of which no more is known: the worst",
        "claim=zcdp:0.1",
        {
            "claim": Key("pure, approx, rdp, zcdp or gdp:NUMBERS", "or so after the colon, alone"),
            **chosen(NEIGHBOURS),
        },
    ),
    "partition-selection": Entry(
        ("epsilon", "delta"),
        _partition_selection,
        "the names of keys that users hold, by the rule that tells the most; add-remove",
        "epsilon=1,delta=1e-6",
        {
            "epsilon": Key("a number above 0", "of all keys of a user together"),
            "delta": Key("a number between 0 and 1", "of all keys of a user together"),
            "keys": Key("a whole number, 1 to 1e6", "how many keys a user is in", "1"),
        },
    ),
    "tree": _stream(
        "tree",
        "sums of vectors over time, by a binary tree of noise",
        "steps=1024,sigma=10,noise=skellam",
        ("steps",),
        {**_WHOLE, "restart": Key("a whole number from 1", "the tree is begun anew after so many")},
    ),
    "matrix": _stream(
        "matrix",
        "a matrix mechanism C x + z, row t released at time t",
        "file=C.csv,sigma=10",
        ("file",),
        {**_WHOLE, "file": Key("a path", ".npy or .csv: C, lower triangular")},
    ),
    "sqrt-toeplitz": _stream(
        "sqrt-toeplitz",
        "a matrix mechanism, C the root of the matrix of prefix sums",
        "steps=2000,sigma=10",
        ("steps",),
        {},
    ),
    "blt": _stream(
        "blt",
        "a matrix mechanism, C a buffered Toeplitz matrix",
        "file=blt.json,steps=2000,sigma=10",
        ("file",),
        {
            "file": Key("a path", ".json with lists omega and theta"),
            "steps": Key("a whole number from 1", "how many rows x has; any number without it"),
        },
    ),
    **dict.fromkeys(
        ("exponential", "noisy-max", "permute-and-flip"), "mechanisms.selection.candidates"
    ),
    "sparse-vector": "mechanisms.selection.sparse_vector",
    "pmf": Entry(
        ("file",),
        lambda given: with_users(given, read_pair(given["file"], given.get("slack", "0"))),
        "your own two distributions, of one dataset and its neighbour, as a table",
        "file=pair.csv",
        chosen(("file", "slack", *NEIGHBOURS)),
    ),
    "theorem1": _preset("theorem1", f"discrete Laplace noise {_SECURE} (ICLR 2023)"),
    "theorem2": _preset("theorem2", f"Skellam noise {_SECURE} (ICLR 2023)", _SCALED),
    "theorem3": _preset("theorem3", "a relaxed secure aggregation's guarantee (ICLR 2023)"),
    "theorem4": _preset("theorem4", f"discrete Gaussians {_SECURE} (ICLR 2023)", _SCALED),
    "theorem5": _preset("theorem5", "discrete Laplace noise of a server (ICLR 2023)"),
    "theorem6": _preset("theorem6", "discrete Laplace noise of each user (ICLR 2023)"),
    "published": _preset(
        "published",
        "the noise of the ICLR 2023 paper's code, its scale inverted",
        ("epsilon", "batch"),
        ("horizon",),
    ),
    "shuffle-sum": Entry(
        ("epsilon", "delta", "users"),
        _shuffle_sum,
        "bits and noise bits of all users, shuffled (NeurIPS 2021, Algorithm 3)",
        "epsilon=0.5,delta=1e-6,users=1000",
        {
            "epsilon": Key("a number above 0, below 1", "what the paper states"),
            "delta": Key("a number above 0, below 1", "what the paper states"),
            "users": Key("a whole number from 1", "who send a bit each"),
            **chosen(_MISSING),
        },
    ),
    "federated": "protocols.federated.settings",
}


EXAMPLE_FILES: Mapping[str, str] = {  # what the file may hold that an example names
    "local": "value,yes,no\na,3/5,2/5\nb,2/5,3/5\n",
    "pmf": "outcome,p,q\nyes,3/5,2/5\nno,2/5,3/5\n",
    "matrix": "1,0\n1,1\n",
    "blt": '{"omega": [0.5], "theta": [0.5]}\n',
}


class _Catalogue(Mapping[str, Entry]):
    """Entries by name; those that a module of their own holds are loaded where asked for."""

    def __getitem__(self, name: str) -> Entry:
        if (family := FAMILIES.get(name)) is not None:
            return _additive(family)
        one = NAMES[name]
        if isinstance(one, str):
            found: Entry = import_module(f"...{one}", __package__).ENTRIES[name]
            return found
        return one

    def __iter__(self) -> Iterator[str]:
        return chain(FAMILIES, NAMES)

    def __len__(self) -> int:
        return len(FAMILIES) + len(NAMES)


def entries() -> Mapping[str, Entry]:
    """Every name that a spec may have."""
    return _Catalogue()
