"""Certificates with one thing changed: what is no longer true is never accepted.

Whether a changed certificate is still true the prover says, which shares no code with the checker:
an audit of what it is about, whose enclosure must lie inside the certificate's.
"""

import json
import random
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice

import pytest
from certificates import (
    COMPOSITIONS,
    KINDS,
    MECHANISMS,
    SLOW,
    audits,
    check,
    edited,
    mutations,
    reconstructed,
)

from exactdp.exact.number import decimal_text
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker.reading import read
from exactdp.verify.checker.shape import CertificateError

EACH = 40  # mutations of one certificate in the slow run


def is_true(content):
    """True, False, or None where the prover's own figure is no narrower."""
    if content["verdict"] not in ("VERIFIED", "REFUTED"):
        return False
    try:
        composition, claim = reconstructed(content)
        ends = [_end(content["measured"][side]) for side in ("lower", "upper")]
        assert set(content["measured"]) == {"lower", "upper"}
        told = set(content) & {"neighbours", "orientation"}
        assert set(content) - told - {"made", "note", "digest"} == {
            "format", "version", "uses", "claim", "verdict", "measured", "hints"
        }  # fmt: skip
        if told:
            fixed = any(use.mechanism.reversed() != use.mechanism for use in composition.uses)
            said = (content["neighbours"], content["orientation"])
            named = {getattr(use.mechanism, "neighbours", "replace") for use in composition.uses}
            assert named == {said[0]} and said[1] == ("fixed" if fixed else "free")
        assert content["format"] == "exactdp certificate" and content["version"] in (1, 2)
    except (ValueError, TypeError, KeyError, AssertionError, AttributeError, ArithmeticError):
        return False
    follows = ends[1] <= claim.bound if content["verdict"] == "VERIFIED" else ends[0] > claim.bound
    if not follows or not 0 <= ends[0] <= ends[1]:
        return False
    truth = _measured(composition, claim)
    if truth.lower >= ends[0] and truth.upper <= ends[1]:
        return True
    return False if truth.upper < ends[0] or truth.lower > ends[1] else None


def _end(text):
    return Decimal("Infinity") if text == "inf" else Fraction(text)


@cache
def _measured(composition, claim):
    return audit(composition, claim).measured


def assert_no_false_one_is_accepted(contents):
    for content in contents:
        if check(content).valid:
            assert is_true(content) is not False, json.dumps(content)


QUICK = ("laplace", "published", "response", "revealing", "pair", "gaussian", "batches of laplace",
         "rounded number")  # fmt: skip


@pytest.mark.slow_cases(
    "batches of laplace",
    "gaussian",
)
@pytest.mark.parametrize("name", QUICK)
def test_no_false_mutation_is_accepted(name):
    found = [
        mutation
        for kind in ("pure", "approx", "rdp")
        for one in list(audits(MECHANISMS[name], KINDS[kind]))[-2:]
        for mutation in mutations(certificate_of(one).content)
    ]
    assert_no_false_one_is_accepted(random.Random(name).sample(found, 40))


def _certificates():
    for name, mechanism in MECHANISMS.items():
        for kind in KINDS:
            yield name, kind, mechanism
    for name, composition in COMPOSITIONS.items():
        for kind in ("pure", "approx", "rdp"):
            yield name, kind, composition


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "released"), list(_certificates()))
def test_no_false_mutation_is_accepted_of_any_law(name, kind, released):
    if (name, kind) in SLOW:
        pytest.skip("measured by what is false by construction, below")
    found = [
        mutation
        for one in audits(released, KINDS[kind])
        for mutation in mutations(certificate_of(one).content)
    ]
    assert_no_false_one_is_accepted(_chosen(found, name + kind))


def _chosen(found, seed):
    """Mostly those that still are certificates: what is none is refused before it is proved."""
    drawn = random.Random(seed)
    whole = [one for one in found if not check_format(one)]
    odd = [one for one in found if check_format(one)]
    chosen = drawn.sample(whole, min(EACH, len(whole)))
    return chosen + drawn.sample(odd, min(EACH // 4, len(odd)))


def check_format(content):
    """What is wrong with its fields, if anything."""
    try:
        read(content)
    except CertificateError as error:
        return str(error)
    return None


def false_by_construction(content):
    """The other verdict; figures beside the truth; another mechanism with the same figures."""
    turned = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[content["verdict"]]
    yield edited(content, ("verdict",), turned)
    low, high = (content["measured"][side] for side in ("lower", "upper"))
    if high == "inf":
        yield edited(content, ("measured",), {"lower": "1", "upper": "1000"})
        return
    for factor in ("1.00001", "0.99999", "2", "0.5"):
        moved = {
            side: decimal_text(Fraction(end) * Fraction(factor))
            for side, end in (("lower", low), ("upper", high))
        }
        yield edited(content, ("measured",), moved)
    for use, each in enumerate(content["uses"]):
        yield edited(content, ("uses", use, "times"), str(int(each["times"]) + 1))
        for key in ("scale", "variance", "sigma2"):
            if key in (law := each["mechanism"].get("law", {})):
                for factor in ("1.001", "0.999"):
                    other = decimal_text(Fraction(law[key]) * Fraction(factor))
                    yield edited(content, ("uses", use, "mechanism", "law", key), other)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind", "released"), list(_certificates()))
def test_what_is_false_by_construction_is_not_accepted(name, kind, released):
    for one in islice(audits(released, KINDS[kind]), 1 if (name, kind) in SLOW else 3):
        for content in false_by_construction(certificate_of(one).content):
            assert not check(content).valid, content
