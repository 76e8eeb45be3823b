"""A name that is not known, and the one that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_ALIASES = {  # what other libraries and papers call it; in lower case, hyphens between words
    # mechanisms (diffprivlib's names among them)
    "laplace-mechanism": "laplace",
    "laplacetruncated": "laplace",
    "laplacefolded": "laplace",
    "laplacebounded": "laplace",
    "gaussian-mechanism": "gaussian",
    "gaussiananalytic": "gaussian",
    "analytic-gaussian": "gaussian",
    "dp-sgd": "gaussian",
    "dpsgd": "gaussian",
    "dp-ftrl": "tree",
    "gaussiandiscrete": "discrete-gaussian",
    "geometrictruncated": "discrete-laplace",
    "geometricfolded": "discrete-laplace",
    "discretelaplace": "discrete-laplace",
    "exponential-mechanism": "exponential",
    "exponentialcategorical": "exponential",
    "permuteandflip": "permute-and-flip",
    "report-noisy-max": "noisy-max",
    "above-threshold": "sparse-vector",
    "abovethreshold": "sparse-vector",
    "svt": "sparse-vector",
    "krr": "randomized-response",
    "k-rr": "randomized-response",
    "grr": "randomized-response",
    "direct-encoding": "randomized-response",
    "binary": "randomized-response",
    "oue": "unary-encoding",
    # keys
    "noise-multiplier": "sigma local-stddev sigma2",
    "standard-deviation": "sigma sigma2",
    "sampling-rate": "poisson",
    "sample-rate": "poisson",
    "sampling-probability": "poisson",
    "batch-size": "fixed-size batch",
    "adjacency": "neighbours",
    "neighboring-relation": "neighbours",
    "neighbors": "neighbours",
    "max-grad-norm": "clip sensitivity",
    "l2-norm-clip": "clip sensitivity",
    "clipping-norm": "clip sensitivity",
    "clip": "sensitivity",
    "l2-sensitivity": "l2",
    "l1-sensitivity": "l1",
    "linf-sensitivity": "linf",
    "num-clients": "clients users",
    "geometric": "discrete-laplace",
    "two-sided-geometric": "discrete-laplace",
    "laplace": "discrete-laplace",
    "gaussian": "discrete-gaussian",
    "normal": "discrete-gaussian",
    "polya": "polya-difference",
    "negative-binomial": "polya-difference",
    "rr": "randomized-response",
    "warner": "randomized-response",
    "table": "pmf",
    "b": "scale",
    "eps": "epsilon",
    "lambda": "scale",
    "mu": "variance",
    "var": "variance",
    "stddev": "sigma sigma2",
    "std": "sigma sigma2",
    "sigma": "sigma2",
    "sigma-squared": "sigma2",
    "l1": "sensitivity",
    "n": "users",
    "p": "probability",
    "q": "probability poisson",
    "m": "modulus",
    "k": "categories",
    "dp": "approx",
    "adp": "approx",
    "renyi": "rdp",
    "cdp": "zcdp",
    "concentrated": "zcdp",
    "puredp": "pure",
    "gaussian-dp": "gdp",
    "f-dp": "gdp",
    "prob": "probability",
}
_ELSEWHERE = {  # what is asked for otherwise than by a key
    **dict.fromkeys(
        (
            "steps",
            "num-steps",
            "iterations",
            "epochs",
            "compositions",
            "releases",
            "times",
            "count",
        ),
        "SPEC*K is K releases",
    ),
    "delta": "of what is asked: --delta, or in the claim",
    "target-delta": "of what is asked: --delta, or in the claim",
}


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
    for alias in _ALIASES.get(plain, "").split():
        if alias in names:
            return f" (did you mean {alias!r}?)"
    if plain in _ELSEWHERE:
        return f" ({_ELSEWHERE[plain]})"
    close = get_close_matches(plain, names, n=1, cutoff=0.7)
    return f" (did you mean {close[0]!r}?)" if close else ""
