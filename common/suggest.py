"""A name that is not known, and the one that was probably meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from ..exact.errors import ParameterError

_ALIASES = {  # others' names, as `_bare` leaves them; of what each may stand for, the first known
    # mechanisms (diffprivlib's, OpenDP's and dp_accounting's names among them)
    "laplacetruncated": "laplace",
    "laplacefolded": "laplace",
    "gaussiananalytic": "gaussian",
    "analyticgaussian": "gaussian",
    "dpftrl": "tree",
    "binarytree": "tree",
    "singleepochtreeaggregation": "tree",
    "matrixfactorization": "matrix",
    "bandedmatrix": "matrix",
    "bandmf": "matrix",
    "gaussiandiscrete": "discrete-gaussian",
    "geometrictruncated": "discrete-laplace",
    "geometricfolded": "discrete-laplace",
    "geometric": "discrete-laplace",
    "twosidedgeometric": "discrete-laplace",
    "count": "discrete-laplace clients",
    "sum": "discrete-laplace",
    "histogram": "discrete-laplace",
    "exponentialcategorical": "exponential",
    "exponentialhierarchical": "exponential",
    "median": "exponential",
    "quantile": "exponential",
    "reportnoisymax": "noisy-max",
    "argmax": "noisy-max",
    "permuteandflip": "permute-and-flip",
    "abovethreshold": "sparse-vector",
    "svt": "sparse-vector",
    "laplacethreshold": "partition-selection",
    "keyselection": "partition-selection",
    "krr": "randomized-response",
    "grr": "randomized-response",
    "directencoding": "randomized-response",
    "randomizedresponsebool": "randomized-response",
    "binary": "randomized-response",
    "rr": "randomized-response",
    "warner": "randomized-response",
    "oue": "unary-encoding",
    "sue": "unary-encoding",
    "cms": "count-mean-sketch",
    "hr": "hadamard-response",
    "secureaggregation": "federated",
    "ddgauss": "federated",
    "distributeddiscretegaussian": "discrete-gaussian-sum",
    "distributedskellam": "federated",
    "polya": "polya-difference",
    "negativebinomial": "polya-difference",
    "table": "pmf",
    "custom": "pmf",
    # keys
    "noisemultiplier": "sigma local-stddev sigma2 variance scale",
    "noisescale": "scale sigma sigma2",
    "standarddeviation": "sigma sigma2 variance",
    "stddev": "sigma sigma2 local-stddev variance",
    "std": "sigma sigma2 local-stddev variance",
    "sigma": "sigma2 variance local-stddev",
    "sigmasquared": "sigma2 variance",
    "var": "variance",
    "lambda": "scale",
    "b": "scale",
    "samplingrate": "poisson",
    "samplerate": "poisson",
    "samplingprobability": "poisson",
    "batchsize": "fixed-size batch",
    "adjacency": "neighbours",
    "neighboringrelation": "neighbours",
    "neighbors": "neighbours",
    "maxgradnorm": "clip sensitivity",
    "l2normclip": "clip sensitivity",
    "clippingnorm": "clip sensitivity",
    "clip": "sensitivity",
    "l2sensitivity": "l2",
    "l1sensitivity": "l1",
    "linfsensitivity": "linf",
    "numclients": "clients users",
    "eps": "epsilon pure",
    "l1": "sensitivity",
    "n": "users clients",
    "p": "probability",
    "q": "probability poisson",
    "m": "modulus",
    "k": "categories",
    "numbuckets": "categories",
    "prob": "probability",
    # claims
    "dp": "approx",
    "epsilondelta": "approx",
    "epsilon": "pure",
    "rho": "zcdp",
    "adp": "approx",
    "renyi": "rdp",
    "cdp": "zcdp",
    "concentrated": "zcdp",
    "puredp": "pure",
    "gaussiandp": "gdp",
    "fdp": "gdp",
    # either a mechanism or a key
    "laplace": "discrete-laplace",
    "gaussian": "discrete-gaussian",
    "normal": "gaussian discrete-gaussian",
    "mu": "gdp variance",
    **dict.fromkeys(("steps", "epochs", "iterations", "releases"), "times"),
    # of files and bandits
    "mechanism": "spec",
    "claim": "claims",
    "ucb": "dp-klucb dp-lucb dist-dp-linucb",
    "ucb1": "dp-klucb dp-lucb dist-dp-linucb",
    **dict.fromkeys(("se", "successiveelimination", "trackandstop", "toptwo"), "dp-se dp-lucb"),
    "dpucb": "dp-klucb",
    "dpse": "dp-se dp-lucb",
    "ldpucb": "ldp-se",
    "klucb": "kl-ucb",
    "ts": "dist-dp-ts",
    "thompsonsampling": "dist-dp-ts",
    "thompson": "dist-dp-ts",
    "imed": "dist-dp-imed",
    "dpimed": "dist-dp-imed",
    "adapklucb": "dist-adap-klucb",
}
_ELSEWHERE = {  # what is asked for otherwise than by a key
    **dict.fromkeys(
        ("steps", "numsteps", "iterations", "epochs", "compositions", "releases", "times", "count"),
        "SPEC*K is K releases",
    ),
    **dict.fromkeys(
        ("delta", "targetdelta"), "of what is asked: --delta, or in the claim approx:EPSILON,DELTA"
    ),
    **dict.fromkeys(
        ("targetepsilon", "epsilon"), "found from the noise; calibrate finds noise for a target"
    ),
    "orders": "of what is asked: --order",
    "alphas": "of what is asked: --order",
    **dict.fromkeys(
        ("p", "prob"), "randomized response tells the truth with odds e^epsilon: log(p/(1-p))"
    ),
}
_OPTIONS = {  # what stands for options that other programs have, as words that are no options here
    **dict.fromkeys(
        ("epsilon", "eps", "targetepsilon"),
        "pure:EPSILON or approx:EPSILON,DELTA after --claim (audit) or --target (calibrate)",
    ),
    **dict.fromkeys(
        ("sigma", "noisemultiplier", "scale", "variance", "noise"),
        "in the spec: gaussian:sigma=1.1, laplace:scale=2, skellam:variance=100",
    ),
    **dict.fromkeys(("steps", "releases", "compositions", "count"), "SPEC*K; calibrate: --times K"),
    "delta": "approx:EPSILON,DELTA after --claim or --target; compose: --delta D",
    **dict.fromkeys(
        ("sampling", "samplerate", "samplingrate", "samplingprobability", "batchsize"),
        "poisson=BATCH/USERS in the spec; calibrate: --poisson BATCH/USERS",
    ),
    **dict.fromkeys(
        ("adjacency", "neighbors", "neighboringrelation"),
        "neighbours=replace or neighbours=add-remove in the spec",
    ),
    **dict.fromkeys(("csv", "data", "rewards"), "--instance FILE.csv"),
    **dict.fromkeys(("orders", "alpha", "alphas"), "--order ALPHA"),
    **dict.fromkeys(("mechanism", "spec"), "the spec stands alone: audit SPEC --claim CLAIM"),
    **dict.fromkeys(("n", "draws", "samples"), "--size N"),
    **dict.fromkeys(("against", "methods"), "--compare, with --delta D"),
    "value": "--query X",
    "l1": "--sensitivity, or --l2 for vectors; in specs l1=L1",
}
_NOT_HERE = "not covered, but its guarantee is: guarantee:pure:EPSILON, guarantee:zcdp:RHO, ..."
_UNCOVERED = {  # other libraries' mechanisms, as `_bare` leaves their names
    **dict.fromkeys(
        (
            *("laplaceboundeddomain", "laplaceboundednoise", "snapping", "staircase", "uniform"),
            *("bingham", "wishart", "vector", "objectiveperturbation", "smoothsensitivity"),
            *("mst", "aim", "mwem", "privbayes", "pate", "patectgan", "dpctgan", "hdmm"),
            *("proposetestrelease", "ptr", "samplenaggregate", "piecewise", "duchi", "olh"),
        ),
        _NOT_HERE,
    ),
    **dict.fromkeys(
        ("mean", "variance"), "a sum and a count: gaussian or laplace, each with its sensitivity"
    ),
    **{
        claim: f"a claim stands after --claim; what has a guarantee is guarantee:{claim}:{numbers}"
        for claim, numbers in (
            *(("pure", "EPSILON"), ("approx", "EPSILON,DELTA"), ("rdp", "ORDER,EPSILON")),
            *(("zcdp", "RHO"), ("gdp", "MU")),
        )
    },
    "epsilondelta": "what has a guarantee is guarantee:approx:EPSILON,DELTA",
    **dict.fromkeys(
        ("dpsgd", "momentsaccountant", "subsampledgaussian", "sampledgaussian", "poissonsampled"),
        "gaussian:sigma=NOISE_MULTIPLIER,neighbours=add-remove,poisson=BATCH/USERS*STEPS",
    ),
    **dict.fromkeys(("shuffle", "shuffled"), "a key of local randomizers: shuffled=USERS"),
    **dict.fromkeys(("subsample", "subsampling", "poisson"), "a key of mechanisms: poisson=RATE"),
}


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name[:60].lower()))


def _bare(name: str) -> str:
    """Its letters and digits, without what libraries put before and behind all their names."""
    bare = _letters(name).removeprefix("make").removeprefix("then")
    return bare.removesuffix("event").removesuffix("dp").removesuffix("mechanism")


def meant(name: str, known: Iterable[str]) -> str:
    """Say " (did you mean ...?)" where one of the known names was probably meant, else "".

    The first of what others' name may stand for that is known.

    >>> meant("geometric", ["discrete-laplace", "skellam"])
    " (did you mean 'discrete-laplace'?)"
    >>> meant("skelam", ["discrete-laplace", "skellam"])
    " (did you mean 'skellam'?)"
    >>> meant("noise_multiplier", ["sigma", "sensitivity"])
    " (did you mean 'sigma'?)"
    >>> meant("bananas", ["discrete-laplace", "skellam"])
    ''
    """
    names = list(known)
    plain = "-".join(name[:60].lower().replace("_", " ").replace("-", " ").split())
    letters, bare = _letters(name), _bare(name)
    same = [each for each in names if letters and each.replace("-", "") in (letters, bare)]
    for alias in (*same, *(_ALIASES.get(letters) or _ALIASES.get(bare, "")).split()):
        if alias in names:
            return f" (did you mean {alias!r}?)"
    if letters in _ELSEWHERE:
        return f" ({_ELSEWHERE[letters]})"
    begun = [each for each in names if len(plain) > 3 and each.lower().startswith(plain)]
    close = begun or get_close_matches(plain, names, n=1, cutoff=0.7)
    return f" (did you mean {close[0]!r}?)" if close else ""


def one_of(name: str, known: Iterable[str], what: str, more: str = "") -> str:
    """The name, where it is known. Raises ParameterError, which says what was probably meant.

    what: it names. more: to be said of this one besides.

    >>> one_of("rdp", ["pure", "rdp"], "kind")
    'rdp'
    """
    names = list(known)
    if name not in names:
        raise ParameterError(
            f"{what} must be one of {', '.join(names)}, got {name[:40]!r}{meant(name, names)}{more}"
        )
    return name


def check_keys(table: Iterable[str], known: Collection[str]) -> None:
    """Raise ParameterError for the first key of a file's table that is not known."""
    for key in table:
        if key not in known:
            raise ParameterError(
                f"{ascii(key)[:60]} is not known{meant(key, known)}; keys are {', '.join(known)}"
            )


def instead(option: str) -> str:
    """Say what stands for an option that is not there, else "".

    >>> instead("--epsilon")
    ' (pure:EPSILON or approx:EPSILON,DELTA after --claim (audit) or --target (calibrate))'
    """
    told = _OPTIONS.get(_letters(option))
    return "" if told is None else f" ({told})"


def uncovered(name: str) -> str:
    """Say what stands for a mechanism of other libraries that is not here, else "".

    >>> uncovered("LaplaceBoundedDomain")
    ' (not covered, but its guarantee is: guarantee:pure:EPSILON, guarantee:zcdp:RHO, ...)'
    """
    told = _UNCOVERED.get(_letters(name)) or _UNCOVERED.get(_bare(name))
    return "" if told is None else f" ({told})"
