"""Noise that is made of users' shares: what missing ones cost, and a federated round."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from ..accounting.composition.composed import compose
from ..accounting.composition.curves import rising
from ..common.table import Cell, Table
from ..exact import Enclosure
from ..mechanisms.specs.spec import Spec, parse
from ..protocols.federated import Settings, error_bound
from .measured import NARROW, measured, part_of
from .page import Section
from .subject import Subject

_GONE = ("0.01", "0.1", "0.25", "0.5")  # of all users; and a single one
_FAILURE = Fraction(1, 10**6)


def missing_shares(subject: Subject) -> list[Section]:
    """epsilon with some users' shares left out of every use; nothing where no shares are stated."""
    shared = [how_many(spec) for spec, _ in subject.uses]
    counts = [count for count in shared if count is not None]
    if not counts:
        return []
    users, level = min(counts), subject.deltas[0]
    gone = sorted({1, *(math.ceil(users * Fraction(share)) for share in _GONE)} - {users})
    found = [subject.epsilon]
    for waiting, missing in zip(range(len(gone), 0, -1), gone, strict=True):
        left = [(without(spec, missing).mechanism, times) for spec, times in subject.uses]
        compute = partial(compose(*left).epsilon, level, NARROW)
        found.append(measured(compute, part_of(waiting)))
    # fewer shares and further independent ones are what there is with all of them
    rows = [*zip(map(str, (0, *gone)), rising(found), strict=True)]
    section = Section(
        "shares",
        "What dropouts cost",
        text=(
            f"The noise is made of {users} users' shares. When users drop out, or tell what they "
            "drew, less noise protects the others, and nothing in the result shows it.",
        ),
        tables=(Table(("dropouts", f"ε at δ = {subject.delta}"), rows, "Dropouts"),),
    )
    return [section]


def how_many(spec: Spec) -> int | None:
    """In how many users' shares the noise is made; None where nothing is said, or some are out."""
    if spec.text.endswith((".toml", ".json")) or "dropout=" in spec.text:
        return None
    if spec.federated is not None:
        return spec.federated.clients
    users = spec.derived.get("users")
    return int(users) if users is not None and "collusion=" not in spec.text else None


def without(spec: Spec, missing: int) -> Spec:
    """The same with so many shares left out, where it is made of shares."""
    if not missing or how_many(spec) is None:
        return spec
    return parse(f"{spec.text},dropout={missing}")


def rounds(subject: Subject) -> list[Section]:
    """What each federated round sends, and how often it wraps."""
    settings = [spec.federated for spec, _ in subject.uses if spec.federated is not None]
    return [_round(each, f"round-{k}") for k, each in enumerate(settings, 1)]


def _round(settings: Settings, key: str) -> Section:
    encoding = settings.encoding
    bound = error_bound(encoding, settings.share, settings.clients, _FAILURE)
    facts: dict[str, Cell] = {
        "clients": str(settings.clients),
        "clipping bound (L2)": Enclosure.exactly(encoding.clip),
        "scale": Enclosure.exactly(encoding.scale),
        "coordinates sent": str(encoding.size),
        "bits each": str(encoding.bits),
        "rounding": encoding.rounding.text,
        "standard deviation of a share": Enclosure.exactly(settings.deviation),
        "probability of modular overflow": bound.wrap,
    }
    return Section(
        key,
        "The federated round",
        text=(
            "Every client clips, rotates, scales and rounds its vector, adds its share of noise, "
            "and sends it modulo a power of two; only the sum is seen.",
        ),
        facts=facts,
    )
