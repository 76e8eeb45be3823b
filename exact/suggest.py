"""A name that is not known, and the one that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_ALIASES = {  # what other libraries and papers call it; in lower case, hyphens between words
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
    "stddev": "sigma2",
    "std": "sigma2",
    "sigma": "sigma2",
    "sigma-squared": "sigma2",
    "l1": "sensitivity",
    "n": "users",
    "p": "probability",
    "q": "probability",
    "m": "modulus",
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


def meant(name: str, known: Iterable[str]) -> str:
    """Say " (did you mean ...?)" where one of the known names was probably meant, else "".

    >>> meant("geometric", ["discrete-laplace", "skellam"])
    " (did you mean 'discrete-laplace'?)"
    >>> meant("skelam", ["discrete-laplace", "skellam"])
    " (did you mean 'skellam'?)"
    >>> meant("bananas", ["discrete-laplace", "skellam"])
    ''
    """
    names = list(known)
    plain = "-".join(name[:60].lower().replace("_", " ").replace("-", " ").split())
    alias = _ALIASES.get(plain)
    if alias in names:
        return f" (did you mean {alias!r}?)"
    close = get_close_matches(plain, names, n=1, cutoff=0.7)
    return f" (did you mean {close[0]!r}?)" if close else ""
