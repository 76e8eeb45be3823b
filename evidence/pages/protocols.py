"""The page of protocols: what they really guarantee, cost and need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from types import MappingProxyType

from exactdp.cli.parts import shown
from exactdp.cli.protocol_shuffle import Sent, rarest
from exactdp.exact import Enclosure
from exactdp.exact.precision import refine
from exactdp.mechanisms.additive import papers
from exactdp.protocols import SumProtocol, least_accuracy, least_modulus, off_probability
from exactdp.verify import least_noise_bits
from exactdp.verify.mismatch import mismatched_epsilon

from . import page as pages
from .missing import pure, renyi
from .page import table
from .played import played

INTRODUCTION = """\
# Protocols as they run

Written by `make pages`; run it again to check every figure here.

The papers prove privacy for a protocol in which everybody stays and every sum is taken as stated.
Here is what is left where that is not so, and what keeps the promise. Every figure is computed
from the exact law of the noise; digits shown are certain to within one unit of the last one. All
figures are for the sum before it is reduced mod m, unless a modulus is named: the reduction is
post-processing and costs no privacy.

![Remaining ε against the share of users who drop out](protocols.svg)

What is left of both protocols as users drop out: as published, and with shares that were made
larger for at most 10 % and for at most 30 % of users who drop out. These keep the promise up to
there."""


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


def bits(
    epsilon: str = "0.5",
    batches: Sequence[int] = (1024, 65536),
    horizon: int = 10**6,
    scaling: int = 10,
) -> str:
    """(tau, m, bits) of Theorems 1 to 6, and the least that fail as rarely."""
    columns = (
        "protocol",
        "n",
        "g",
        "τ",
        "m",
        "bits",
        "P(off by more than τ/g)",
        "least τ",
        "its m",
        "bits",
        "least m",
        "bits",
    )
    rows = [
        [name, str(users), *_row(protocol, failure)]
        for users in batches
        for name, protocol, failure in _protocols(epsilon, users, horizon, scaling)
    ]
    return f"""\
Theorems 1 to 6 at ε = {epsilon}, T = {horizon} (scaling {scaling} where there is one). A theorem
bounds the probability that the sum is off by more than τ/g by 1/T (Theorem 3: by 1/(2T), the other
half being its aggregation's), and m = ng + 2τ + 1 follows. Beside it what is really so: the exact
probability (of noise and wrap-around with the worst data; rounding comes on top), the least τ that
meets the bound, and the least m with which sums wrap around with at most that probability.

{table(columns, rows)}

**What to do.** Use the least τ: it is what an analyzer may promise, and confidence radii shrink
with it. Bits hardly change: nearly all of m is ng, the range of the sum itself."""


def _protocols(
    epsilon: str, users: int, horizon: int, scaling: int
) -> list[tuple[str, SumProtocol, Fraction]]:
    plain: dict[int, Callable[..., papers.Preset | papers.RelaxedPreset]] = {
        1: papers.theorem1,
        3: papers.theorem3,
        5: papers.theorem5,
        6: papers.theorem6,
    }
    scaled = {2: papers.theorem2, 4: papers.theorem4}
    found = []
    for number in range(1, 7):
        build = plain.get(number) or scaled[number]
        preset = build(epsilon, users, horizon, *([scaling] if number in scaled else []))
        failure = Fraction(1, horizon)
        if isinstance(preset, papers.RelaxedPreset):
            failure -= preset.aggregation.failure
        found.append((preset.source, preset.protocol, failure))
    return found


def _row(protocol: SumProtocol, failure: Fraction) -> list[str]:
    accuracy, modulus = least_accuracy(protocol, failure), least_modulus(protocol, failure)
    return [
        str(protocol.precision),
        str(protocol.accuracy),
        str(protocol.modulus),
        str(protocol.bits_per_user),
        shown(off_probability(protocol)),
        str(accuracy.accuracy),
        str(accuracy.modulus),
        str(accuracy.bits_per_user),
        str(modulus.modulus),
        str(modulus.bits_per_user),
    ]


def shuffled(
    epsilon: str = "0.5", delta: str = "1e-6", batches: Sequence[int] = (1, 1000, 10**6)
) -> str:
    """Algorithm 3 of the shuffle paper: exact epsilon and delta, and the least bits."""
    rows = []
    for users in batches:
        given = papers.shuffle_sum(epsilon, delta, users)
        least = least_noise_bits(epsilon, delta, users)
        stated = Sent.of(given.protocol, given)
        enough = rarest(given, least) or Sent.of(least.protocol(), given)
        variance, needed = (each.protocol.error_variance() for each in (stated, enough))
        ratio = Enclosure(
            Fraction(variance.lower) / Fraction(needed.upper),
            Fraction(variance.upper) / Fraction(needed.lower),
        )
        rows.append(
            [
                str(users),
                _bits(stated),
                shown(stated.epsilon),
                shown(stated.delta),
                shown(variance),
                str(least.total),
                _bits(enough),
                shown(needed),
                shown(ratio),
            ]
        )
    columns = (
        "users",
        "noise bits of a user",
        f"ε at δ = {delta}",
        f"δ at ε = {epsilon}",
        "variance",
        "least fair bits in all",
        "enough of a user",
        "its variance",
        "the paper's ×",
    )
    tau = refine(papers.shuffle_sum(epsilon, delta, 1).tau.ball)
    return f"""\
Algorithm 3 of the shuffle paper at ({epsilon}, {delta}), a sum of bits: τ = 96 log(2/δ)/ε² =
{shown(tau)} noise bits together, fair up to τ users, rare ones beyond. It claims ε = {epsilon};
what it spends is the exact figure, and the least number of fair bits is certified from both sides:
so many are ({epsilon}, {delta})-private, one bit fewer is not.

{table(columns, rows)}

**What to do.** Add what is enough: the least fair bits divided among the users, or, with more users
than that, one bit of each that is as rare as it may be (1/(1000 n) less is refuted). The last
column is how many times as much variance the paper's noise has. Where users may drop out,
`exactdp protocol shuffle-sum:... --dropout D` gives what each has to send."""


def _bits(sent: Sent) -> str:
    bits, chance = sent.protocol.noise_bits, sent.protocol.success
    return f"{bits} fair" if chance == Fraction(1, 2) else f"{bits} of P(1) = {shown(sent.success)}"


SECTIONS: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "Users who drop out: pure ε": pure,
        "Users who drop out: Rényi divergences": renyi,
        "Another modulus than the certified one": moduli,
        "Shuffled bits": shuffled,
        "What the papers send, and the least": bits,
        "A whole round": played,
    }
)
page = partial(pages.page, INTRODUCTION, SECTIONS)
