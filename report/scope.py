"""What a report is about and what it is not: mechanism, unit of privacy, trust, what is open.

The questions are those of NIST SP 800-226, "Guidelines for evaluating differential privacy
guarantees": the unit of privacy, the parameters, the mechanism and its implementation, the trust
model, and what lies outside of the guarantee.
"""

from __future__ import annotations

import math
import shlex
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

from ..common.table import Cell
from ..exact import brief_text, decimal_text
from ..exact.rounding import float_above, to_digits
from ..mechanisms.additive.protocol import Trust
from ..mechanisms.specs.spec import Spec
from .measured import NARROW
from .page import Section
from .subject import Subject, used

_ALARMS = Fraction(1, 20)  # what a test may have, for whoever signs
_LARGEST = 50  # an epsilon above which nothing is promised of tests
_DIGITS = 4
_TRUST = {
    Trust.CENTRAL: "Central: the server is trusted with the data; it adds the noise and releases "
    "the result",
    Trust.DISTRIBUTED: "Distributed: every user adds a share of the noise; the server sees the sum "
    "modulo m only, by secure aggregation, and need not be trusted with more",
    Trust.LOCAL: "Local: every message is private by itself; nobody need be trusted",
}
_SHUFFLED = "Shuffle: users send noisy bits; who shuffles them must not work with the server"
_FEDERATED = (
    "Federated: every client adds a share of the noise; the server sees the sum modulo m only, by "
    "secure aggregation"
)
_UNSTATED = "Not stated by the mechanism: whoever adds the noise sees the data without it"

NOT_CHECKED = (
    "That the released program draws from this distribution, which is certified: its code is not.",
    "That the sensitivity (or clipping bound) and the neighbours that are stated are those of the "
    "real query.",
    "That nothing else about these users was released: other releases of the same data add up with "
    "these.",
    "Preprocessing, the choice of parameters on the data, and tuning: what was looked at before "
    "the release is no part of it.",
    "Randomness, timing, memory and floating-point arithmetic of the implementation.",
    "Anything that is learned about a user from others' data, or that is released without noise.",
)
_MASKS = "Secure aggregation: that the server sees nothing but the sum is assumed, not shown."
_CONTINUOUS = (
    "Continuous noise cannot be drawn exactly by a computer: an implementation in floats has "
    "another distribution than the one that is certified."
)


def plainly(subject: Subject) -> Section:
    """Three sentences for whoever signs.

    Who holds an (epsilon, delta) for all neighbours has, of each test with false alarms alpha, at
    most e^epsilon alpha + delta and 1 - e^-epsilon (1 - alpha - delta) of detections.
    """
    delta, figure, most = subject.deltas[0], subject.epsilon, Fraction(1)
    if figure.upper == Decimal("Infinity"):
        proved = f"No ε is proved at δ = {subject.delta}: more noise, or a larger δ, is needed."
    else:
        least, epsilon = (
            decimal_text(to_digits(Fraction(end), _DIGITS, rounding))
            for end, rounding in ((figure.lower, ROUND_FLOOR), (figure.upper, ROUND_CEILING))
        )
        proved = f"Together they are ({epsilon}, {subject.delta})-differentially private: proved."
        if not figure.is_within(NARROW):
            proved += f" The least ε of which that is true is {least} or more."
    if figure.upper < _LARGEST:
        factor = Fraction(math.exp(float_above(figure.upper)) * (1 + 1e-9))
        most = min(_ALARMS * factor + delta, 1 - (1 - _ALARMS - delta) / factor, most)
    percent = math.ceil(1000 * most) / 10
    return Section(
        "plain",
        "In plain words",
        text=(
            f"This page is about {subject.releases}, seen together; two datasets are neighbours "
            f"if {subject.differing}.",
            proved,
            "Whoever sees all of it, knows everybody else's data and tells the two datasets apart "
            f"with {float(100 * _ALARMS):g} false alarms in 100 notices the other one in at most "
            f"{percent:g} cases of 100.",
        ),
    )


def audited(subject: Subject) -> Section:
    """The mechanisms with all their parameters; neighbours, sampling and how often."""
    facts: dict[str, Cell] = {}
    several = len(subject.uses) > 1
    for number, (spec, times) in enumerate(subject.uses, 1):
        mark = f" {number}" if several else ""
        shown = spec.to_json()
        facts[f"mechanism{mark}"] = shown.pop("spec")
        for name, value in shown.items():
            facts[f"{name.replace('_', ' ')}{mark}"] = value
        facts[f"releases{mark}"] = str(times)
    facts["neighbouring datasets"] = f"{subject.differing} ({subject.neighbours})"
    facts["adjacency"] = subject.adjacency
    facts["sampling"] = subject.sampling
    return Section("audited", "What was audited", facts=facts)


def questions(subject: Subject) -> list[Section]:
    """The unit of privacy, who is trusted, and what was not checked."""
    trust = dict.fromkeys(trust_model(spec) for spec, _ in subject.uses)
    unit = (
        "What is protected is everything that one user contributes to all releases together: "
        f"neighbouring datasets differ in that {subject.differing}. Whoever can be several users "
        "in the data has less protection: that of a group."
    )
    points = list(NOT_CHECKED)
    if any(spec.protocol or spec.federated for spec, _ in subject.uses):
        points.append(_MASKS)
    if any(spec.text.startswith(("gaussian:", "laplace:")) for spec, _ in subject.uses):
        points.append(_CONTINUOUS)
    return [
        Section("unit", "Unit of privacy", text=(unit,)),
        Section("trust", "Trust model", text=tuple(trust)),
        Section("open", "What was not checked", points=points),
        Section(
            "again",
            "How to make this report again",
            text=(_again(subject),),
        ),
    ]


def trust_model(spec: Spec) -> str:
    """Whom users trust, in words."""
    if spec.shuffled is not None:
        return _SHUFFLED
    if spec.federated is not None:
        return _FEDERATED
    return _UNSTATED if spec.protocol is None else _TRUST[spec.protocol.trust]


def _again(subject: Subject) -> str:
    words = ["exactdp", "report", *(used(*each) for each in subject.uses)]
    named = (("--title", subject.name), ("--owner", subject.owner))
    words += [word for option, text in named if text for word in (option, text)]
    words += [word for claim in subject.claims for word in ("--claim", claim.brief())]
    words += [word for delta in subject.deltas for word in ("--delta", brief_text(delta))]
    return shlex.join([*words, "--out", "report.html"])
