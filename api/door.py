"""The front door: what `import exactdp` gives, for mechanisms and claims as values or as text.

Every function that takes a mechanism takes any of

    "skellam:variance=100"            a spec, as on the command line (docs/commands.md)
    "skellam:variance=100*20"         the same, used 20 times
    "mechanism.toml"                  a file with the same keys
    AdditiveNoise(Skellam(100), 1)    a mechanism of `exactdp.mechanisms`
    100 * a + 50 * b                  a composition of these
    ["a spec", b, ...]                a list: all of these, seen by the same adversary

and every function that takes a claim takes a value (`PureDP`, `ApproxDP`, `RenyiDP`, `ZCDP`,
`GaussianDP`) or "pure:0.1", "approx:1,1e-6", "rdp:2,0.01", "zcdp:0.005", "gdp:0.1". Numbers are
exact: int, Fraction, Decimal or text; a float stands for the decimal that it prints as. Epsilons
and rhos are in nats; nothing has another unit. Bad input raises ParameterError (a ValueError),
which names the argument, its value and what is allowed. Inside `with exactdp.time_limit(seconds):`
everything ends in time, with what is known by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from .accounting import Composition
from .accounting import compose as _compose
from .common.moment import now
from .exact import WIDTH, ExactInput, ParameterError, exact, whole
from .exact.budget import budgeted, in_time, unhurried
from .mechanisms import Mechanism
from .mechanisms.additive.protocol import SumProtocol
from .mechanisms.additive.shuffle import ShuffleSum
from .mechanisms.specs.spec import parse_use
from .verify import Audit, Calibration, Claim, Family, parse_claim
from .verify import audit as _audit
from .verify import calibrate as _calibrate
from .verify import certify as _certify
from .verify.certificate import Certificate, certificate_of, check_in_time
from .verify.checker import SECONDS, Outcome
from .verify.families import choose

_NOT_IN_TIME = Outcome(False, "the time allowed is over", undecided=True)

__all__ = ["audit", "calibrate", "certify", "check", "compose", "mechanism"]

Released: TypeAlias = "str | Mechanism | Composition | Sequence[str | Mechanism | Composition]"


def mechanism(m: Released) -> Composition:
    """A mechanism from its text or its value: one use of it, or as many as the text says.

    Everything that is certain of it is a method: `.epsilon(delta=)`, `.delta(epsilon=)`,
    `.renyi(order=)`, `.zcdp()`, `.gdp()` and `.pure()` give enclosures; `.profile()` and
    `.tradeoff()` give curves, with `.plot()`. `100 * a + 50 * b` composes. It is a frozen value:
    equal and hashed by the mechanisms and how often each is used.

    Raises ParameterError for anything that is no mechanism.

    >>> m = mechanism("discrete-laplace:epsilon=0.1")
    >>> m
    Composition(AdditiveNoise(law=DiscreteLaplace(scale=10), sensitivity=1))
    >>> m.pure()
    Enclosure(0.1, 0.1)
    >>> mechanism("discrete-laplace:scale=10*3") == 3 * m
    True
    """
    return compose(m)


def compose(*parts: Released | tuple[str | Mechanism | Composition, ExactInput]) -> Composition:
    """What all of these release together.

    parts: mechanisms, or pairs of a mechanism and how often it is used. Composition is adaptive: a
    query may depend on everything released before. The list itself must be fixed beforehand. Raises
    ParameterError for anything that is no mechanism, for `times` that is no whole number from 1 to
    1e9, and for no part at all.

    Source: Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic
    function", AISTATS 2022, Theorem 10: the product of dominating pairs dominates.

    >>> total = compose(("discrete-laplace:epsilon=0.1", 100), "discrete-gaussian:sigma2=100*50")
    >>> print(total.epsilon(delta="1e-6"), total.renyi(order=2))
    6.0999721792497308 1.4958584394956224
    """
    with unhurried():  # what a limit is for comes after it
        return _compose(*(_read(part) for part in parts))


@budgeted
def audit(
    m: Released,
    claim: Claim | str,
    width: ExactInput = WIDTH,
    *,
    budget: ExactInput | None = None,
) -> Audit:
    """Decide a claim about a mechanism: verified, refuted (with a witness) or undecided.

    m, claim: as text or as values. width: the relative width that `.measured`, the least number for
    which the claim would hold, is to have, above 0 and below 1. budget: units of work, of about a
    microsecond, that it may take. Returns an Audit: ask `.verified` and `.refuted`; `bool()` of it
    raises TypeError. Where the budget, or a `time_limit`, ends before the answer is certain it is
    neither. Raises ParameterError for anything else.

    >>> audit("discrete-laplace:epsilon=0.1", "pure:0.1").verified
    True
    >>> found = audit("skellam:variance=100", "rdp:2,0.0099")
    >>> found.refuted, found.witness.where
    (True, 'order 2')
    >>> found
    Audit(rdp:2,0.0099 REFUTED, tightest epsilon 0.0099995918682152836)
    """
    return _audit(mechanism(m), _claim(claim), exact(width, "width", above=0, below=1))


def certify(
    m: Released | SumProtocol | ShuffleSum,
    claim: Claim | str,
    dropout: ExactInput = 0,
    collusion: ExactInput = 0,
    *,
    note: str | None = None,
    at: datetime | None = None,
) -> Certificate:
    """Audit, and put the verdict, VERIFIED or REFUTED, into a certificate that `check` proves.

    m: a mechanism; or a protocol, which the certificate then names, so that `.matches(protocol)`
    can hold it to that. claim: as text or as a value. dropout, collusion: how many of a protocol's
    users may vanish, or tell what noise they drew. note: one line that the certificate holds and
    nothing proves; at: when it was made, by default now, or when the environment's
    SOURCE_DATE_EPOCH says. `.write(path)` writes the file, whole or not at all.

    Raises NotCertifiedError (a ValueError) where the audit is undecided, or where the checker,
    which knows slower and coarser ways only, cannot follow.

    >>> certificate = certify("discrete-laplace:epsilon=0.1", "pure:0.1")
    >>> certificate.verdict
    <Verdict.VERIFIED: 'VERIFIED'>
    >>> check(certificate).valid
    True
    """
    if isinstance(m, (SumProtocol, ShuffleSum)):
        return _certify(m, _claim(claim), dropout, collusion).noted(
            note, now() if at is None else at
        )
    if whole(dropout, "dropout") or whole(collusion, "collusion"):
        raise ParameterError("dropout and collusion must be 0, or given in the spec: no protocol")
    return certificate_of(audit(m, claim)).noted(note, now() if at is None else at)


def check(
    certificate: Certificate | str | Path | Mapping[str, Any], seconds: ExactInput | None = SECONDS
) -> Outcome:
    """Prove a certificate again, by code that shares nothing with what made it.

    certificate: a Certificate, the path of a file, or the content of one as a dict. seconds: how
    long it may take (None: as long as it takes). Returns an Outcome: ask `.valid`, `.undecided`
    where the time was over, and `.reason`; `bool()` of it raises TypeError.

    Raises CertificateError (a ValueError) for a file that is no certificate.

    >>> content = certify("discrete-laplace:epsilon=0.1", "pure:0.1").content
    >>> content["claim"]["epsilon"] = "0.09"
    >>> check(content)
    Outcome(valid=False, reason='changed: its digest is of something else', undecided=False)
    """
    if isinstance(certificate, (str, Path)):
        certificate = Certificate.read(certificate)
    content = certificate.content if isinstance(certificate, Certificate) else certificate
    allowed = None if seconds is None else float(exact(seconds, "seconds", at_least=0))
    return in_time(lambda: check_in_time(content, allowed), _NOT_IN_TIME)


def calibrate(
    name: str | Family,
    target: Claim | str,
    sensitivity: ExactInput | None = None,
    times: ExactInput | None = None,
    *,
    poisson: ExactInput | None = None,
    find: str | None = None,
    l2: ExactInput | None = None,
    l1: ExactInput | None = None,
    dimension: ExactInput | None = None,
    rounding: str | None = None,
) -> Calibration:
    """The least noise that meets a target: verified, and a value 1e-9 smaller refuted.

    At most 1e-6 smaller, where the cost is not known so narrowly.

    target: the claim to meet. name: "discrete-laplace", "skellam", ..., with all keys that are
    fixed ("skellam:neighbours=add-remove,poisson=0.01"), or a Family that differs in one number.
    sensitivity: of the query (1). times: uses that meet the target together (1). poisson: the
    probability with which each user takes part. find: "times" looks for the most uses, "poisson"
    for the largest such probability ("gaussian:sigma=1"). Returns a Calibration: `.parameter`,
    `.value`, `.verified` and `.refuted` (audits).

    l2: instead of the sensitivity, the Euclidean norm by which vectors move, with "skellam" or
    "discrete-gaussian" noise in every coordinate; l1: the sum of all coordinates' moves, with
    "discrete-laplace" as well; dimension: how many, if it bounds the cost; rounding: of real
    vectors, "stochastic", "conditional:B" or "nearest". Returns a VectorCalibration: `.value` is
    the least that what dominates verifies, `.below` the audit 1e-9 below, which may be undecided.

    Raises ParameterError where no value between 1e-9 and 1e15, or every one, meets the target,
    UndecidedError where a verdict stays open, and UnfinishedError where a `time_limit` ends before.

    >>> found = calibrate("discrete-laplace", "pure:0.1", sensitivity=1)
    >>> found
    Calibration(scale: least 10, from 10 on)
    >>> found.neighbour < 10, found.refuted.refuted
    (True, True)
    """
    target = _claim(target)
    texts = {"name": "" if isinstance(name, Family) else name, "find": find, "rounding": rounding}
    for key, text in texts.items():
        if not (isinstance(text, str) or (text is None and key != "name")):
            raise ParameterError(f"{key} must be text, got a {type(text).__name__}")
    wanted = {"sensitivity": sensitivity, "poisson": poisson, "find": find, "l2": l2, "l1": l1}
    wanted |= {"dimension": dimension, "rounding": rounding}
    options = {key: None if value is None else str(value) for key, value in wanted.items()}
    if isinstance(name, Family):
        for key, value in wanted.items():
            if value is not None:
                raise ParameterError(f"{key} must not be given: the family has its own")
        family = name
    else:
        count = None if times is None else whole(times, "times", at_least=1, at_most=10**9)
        family = choose(name, times=count, option="", **options).family
    return _calibrate(family, target, 1 if times is None else times)


def _read(part: Any) -> Composition:
    if isinstance(part, str):
        spec, times = parse_use(part)
        return _compose((spec.mechanism, times))
    if isinstance(part, tuple):
        if len(part) != 2:
            raise ParameterError(f"a tuple must be (mechanism, times), got {len(part)} items")
        several: Composition = _read(part[0]) * part[1]
        return several
    if isinstance(part, list):
        return _compose(*(_read(each) for each in part))
    return _compose(part)


def _claim(claim: Claim | str) -> Claim:
    if isinstance(claim, str):
        return parse_claim(claim)
    if not isinstance(claim, Claim):
        raise ParameterError(f"a claim must be its text or a claim, got a {type(claim).__name__}")
    return claim
