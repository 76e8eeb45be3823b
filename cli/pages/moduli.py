"""Messages that are reduced in one modulus and summed in another."""

from __future__ import annotations

from collections.abc import Sequence

from ...mechanisms import papers
from ...verify.mismatch import mismatched_epsilon
from ..render import shown
from .markdown import table

__all__ = ["moduli"]


def moduli(epsilon: str = "0.5", batches: Sequence[int] = (2, 3, 4), horizon: int = 10) -> str:
    """Pure epsilon of small protocols whose aggregator sums in the wrong modulus."""
    rows = []
    for users in batches:
        protocol = papers.theorem1(epsilon, users, horizon).protocol
        modulus = protocol.modulus or 1
        rounded = 1 << (modulus - 1).bit_length()
        seen = (modulus, modulus + 1, rounded, 2 * rounded, None)
        found = (shown(mismatched_epsilon(protocol, each)) for each in seen)
        rows.append([f"{users}, m = {modulus}", *found])
    columns = ("users", "mod m", "mod m + 1", "mod 2^k ≥ m", "mod 2^(k+1)", "not reduced")
    return f"""\
Theorem 1's protocol, ε = {epsilon}, T = {horizon}, with so few users that every dataset can be gone
through. Users reduce their messages mod m; the aggregator sums mod another number (a power of two,
say, which some secure aggregation insists on), or over the integers. All parts are right by
themselves, and the guarantee is lost: pure ε of what the aggregator sees.

{table(columns, rows)}

**What to do.** Sum in the modulus that the certificate names, and nowhere else: a certificate holds
m, `verify.through(certificate, aggregation)` refuses an aggregation in another one, and so does
`aggregator=M` in a spec. Where the aggregation wants a power of two, choose that as the protocol's
own m (`modulus=M`): a larger modulus costs bits, but no privacy."""
