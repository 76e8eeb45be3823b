"""Certificates with one thing changed: what is no longer true is never accepted.

Whether a changed certificate is still true the prover says, which shares no code with the checker:
an audit of what it is about, whose enclosure must lie inside the certificate's.
"""

from fractions import Fraction
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
)

from exactdp.exact.number import decimal_text
from exactdp.verify.certificate import certificate_of


def _certificates():
    for name, mechanism in MECHANISMS.items():
        for kind in KINDS:
            yield name, kind, mechanism
    for name, composition in COMPOSITIONS.items():
        for kind in ("pure", "approx", "rdp"):
            yield name, kind, composition


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
