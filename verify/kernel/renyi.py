"""Rényi divergences and zero-concentrated privacy: from a verdict to its theorem."""

from __future__ import annotations

from fractions import Fraction

from ..checker.laws import DiscreteGaussian
from ..checker.mechanisms import Additive, Mechanism, Response, TwoLaws
from .form import Numbers
from .verdicted import FAR_BITS, NotWrittenError, Verdicted, bits, columns, unknown


def concentrated(asked: Verdicted, mechanism: Mechanism) -> str:
    """rho = K Delta^2/(2 sigma2) of discrete Gaussian noise used K times, exactly."""
    numbers = _gaussian(asked, mechanism)
    if asked.times == 1:
        return asked.write("discrete Gaussian, zero-concentrated", numbers)
    return asked.write("discrete Gaussian, K uses, zero-concentrated", numbers | {"k": asked.times})


def renyi(asked: Verdicted, mechanism: Mechanism, order: Fraction) -> str:
    """At one order, of K uses: K times as much as of one."""
    c, o = order.as_integer_ratio()
    at = {"k": asked.times, "c": c, "o": o}
    match mechanism:
        case Response(delta=0) if mechanism.epsilon:
            e, f = mechanism.epsilon.as_integer_ratio()
            numbers = at | {"e": e, "f": f} | _claim(asked)
            precise = _precision(asked, order, 2 * order * mechanism.epsilon)
            return asked.write("randomized response, Renyi", numbers | precise)
        case TwoLaws(slack=0) if o == 1 and all(mechanism.p + mechanism.q):
            if asked.verified and not asked.epsilon:  # the proof rounds each quotient up
                raise NotWrittenError("--coq: no theorem of a Rényi divergence of 0")
            precise = _precision(asked, order, Fraction(0))
            listed: Numbers = {**at, **_claim(asked), **precise, **columns(mechanism)}
            return asked.write("pair of tables, Renyi", listed)
    numbers = at | _gaussian(asked, mechanism)
    assert isinstance(mechanism, Additive) and isinstance(mechanism.law, DiscreteGaussian)
    moved = order * mechanism.sensitivity
    most = asked.times * moved * mechanism.sensitivity / (2 * mechanism.law.sigma2)
    # a divergence is its bound where order Delta is whole, and less elsewhere
    if asked.verified != (most <= asked.epsilon) or not (asked.verified or moved.denominator == 1):
        raise NotWrittenError("--coq: no theorem between a Rényi divergence and its bound")
    return asked.write("discrete Gaussian, Renyi", numbers)


def _gaussian(asked: Verdicted, noise: Mechanism) -> dict[str, int]:
    if not isinstance(noise, Additive) or noise.modulus is not None:
        raise unknown()
    if not isinstance(noise.law, DiscreteGaussian):
        raise unknown()
    t, u = noise.law.sigma2.as_integer_ratio()
    return {"t": t, "u": u, "s": noise.sensitivity} | _claim(asked)


def _claim(asked: Verdicted) -> dict[str, int]:
    """Delta has no place in these."""
    a, b = asked.epsilon.as_integer_ratio()
    return {"a": a, "b": b}


def _precision(asked: Verdicted, order: Fraction, exponent: Fraction) -> dict[str, int]:
    """Of e^x for all x up to the exponent and the claim's, as much as one use's share needs."""
    near = bits(asked.times / ((order - 1) * asked.room)) if asked.room else FAR_BITS
    r = near + 2 * bits(exponent + (order - 1) * asked.epsilon / asked.times) + 20
    return {"r": r, "p": 2 * r + 16}
