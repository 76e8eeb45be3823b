"""Pairs of claims around what is true: the first verified, the second refuted."""

import shutil
from pathlib import Path

import pytest

from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms.specs.spec import parse_use
from exactdp.verify import audit, parse_claim
from exactdp.verify.kernel import theorem_of

with_tools = pytest.mark.skipif(
    None in (shutil.which("coqc"), shutil.which("ocamlfind")), reason="needs coqc and ocamlfind"
)
NEAR = [
    ("discrete-laplace:epsilon=0.1", "pure:0.1", "pure:0.0999999999"),
    ("discrete-laplace:scale=7/3,sensitivity=4", "pure:12/7", "pure:1.714285714"),
    ("discrete-laplace:epsilon=0.1", "approx:0.0980933460721,1e-3",
     "approx:0.0980933460720,1e-3"),
    ("discrete-laplace:epsilon=0.1*7", "pure:0.7", "pure:0.6999999999"),
    ("discrete-laplace:epsilon=0.1*100", "approx:4.774567588108,1e-6",
     "approx:4.7745675881079,1e-6"),
    ("discrete-laplace:scale=7/3,sensitivity=4*5", "approx:8.5590692740572,1e-3",
     "approx:8.5590692740571,1e-3"),
    ("binomial:trials=50,probability=1/3,sensitivity=2", "approx:3.4813938078,1e-5",
     "approx:3.4813938077,1e-5"),
    ("binomial:trials=62,probability=1/2", "approx:1,1e-5", "approx:0.9953676134,1e-5"),
    ("randomized-response:epsilon=1*48", "pure:48", "pure:47.9999999999"),
    ("randomized-response:epsilon=1*48", "approx:45.8468881827,1e-6", "approx:45.8468881826,1e-6"),
    ("discrete-gaussian:sigma2=100", "approx:0.3967900926952,1e-6", "approx:0.3967900926951,1e-6"),
    ("discrete-gaussian:sigma2=7/3,sensitivity=3", "approx:1.0052401205786,0.5",
     "approx:1.0052401205785,0.5"),
    ("discrete-gaussian:sigma2=7/3,sensitivity=3", "zcdp:27/14", "zcdp:1.9285714285"),
    ("discrete-gaussian:sigma2=7/3,sensitivity=3*5", "zcdp:135/14", "zcdp:9.6428571428"),
    ("discrete-gaussian:sigma2=7/3,sensitivity=3", "rdp:2,27/7", "rdp:2,3.857142857"),
    ("discrete-gaussian:sigma2=7/3,sensitivity=3*5", "rdp:7/3,22.5", "rdp:7/3,22.4999999999"),
    ("randomized-response:epsilon=1*48", "rdp:7/3,37.6312300442", "rdp:7/3,37.6312300441"),
    ("pmf:file={pair}*5", "rdp:3,1.9962692405445", "rdp:3,1.9962692405444"),
    ("skellam:variance=25", "approx:0.6852603602,1e-5", "approx:0.6852603601,1e-5"),
    ("skellam:variance=7/3,sensitivity=3", "approx:3.0370477553638,0.1",
     "approx:3.0370477553637,0.1"),
    ("pmf:file={pair}", "pure:0.6931471805599454", "pure:0.6931471805599453"),
    ("pmf:file={pair}*5", "approx:1.7227665977412,0.1", "approx:1.7227665977411,0.1"),
]  # fmt: skip
LISTS = [
    ("discrete-laplace:epsilon=0.1*10 + randomized-response:epsilon=0.5*8",
     "approx:4.9716976455681,1e-6", "approx:4.971697645568,1e-6"),
    ("discrete-laplace:scale=7/3,sensitivity=4*3 + discrete-laplace:epsilon=1*2 "
     "+ randomized-response:epsilon=0.5*4",
     "approx:9.0850842381876,1e-3", "approx:9.0850842381875,1e-3"),
    ("randomized-response:epsilon=1 + randomized-response:epsilon=2/3", "pure:1.66666666667",
     "pure:1.66666666666"),
    ("discrete-laplace:scale=7/3,sensitivity=4*3 + randomized-response:epsilon=2/5*6",
     "pure:264/35", "pure:7.542857142857"),
]  # fmt: skip
GAUSSIANS = [
    (
        "discrete-gaussian:sigma2=100 + discrete-gaussian:sigma2=9,sensitivity=2*3",
        "zcdp:403/600",
        "zcdp:0.6716666666",
    ),
    ("discrete-gaussian:sigma2=7/3,l2=4*5", "zcdp:120/7", "zcdp:17.142857142857"),
    (
        "discrete-gaussian:sigma2=50,l1=5,linf=2*3 "
        "+ discrete-gaussian:sigma2=10,l2=7/2,dimension=40",
        "rdp:3,2.61",
        "rdp:3,2.6099999999",
    ),
    (
        "discrete-gaussian:sigma2=5,l1=2,linf=1,neighbours=add-remove",
        "zcdp:0.2",
        "zcdp:0.1999999999",
    ),
]
ONE_SIDED = [
    ("discrete-gaussian:sigma2=100*50", "approx:3.5425,1e-6", "VERIFIED"),
    (
        "discrete-gaussian:sigma2=50,l2=3*3 + discrete-gaussian:sigma2=10",
        "approx:2.7011,1e-3",
        "VERIFIED",
    ),
    ("binomial:trials=61,probability=1/2", "approx:1,1e-5", "REFUTED"),
    ("skellam:variance=4", "pure:2", "REFUTED"),
    ("skellam:variance=25,sensitivity=2*5", "approx:3.4,1e-4", "VERIFIED"),
    ("discrete-gaussian:sigma2=9*4", "approx:2.45,1e-4", "VERIFIED"),
    ("pmf:file={pair}*15", "approx:6.45,0.01", "VERIFIED"),
    ("binomial:trials=20,probability=1/2*3", "approx:2.5,1e-3", "VERIFIED"),
    ("randomized-response:epsilon=1", "pure:1", "VERIFIED"),
]
_SAMPLED = "discrete-gaussian:sigma2=4,neighbours=add-remove,poisson=0.01*1000"
SAMPLED = [  # VERIFIED; of the others it is not known by whole orders
    (_SAMPLED, "approx:0.686186,1e-5", "approx:0.686185,1e-5"),
    (_SAMPLED, "rdp:24,0.36635923", "rdp:24,0.36635922"),
    (
        "discrete-gaussian:sigma2=20,l2=5/2,dimension=9,neighbours=add-remove,poisson=1/50*30 "
        "+ discrete-gaussian:sigma2=50,sensitivity=4,neighbours=add-remove",
        "approx:1.80811,1e-3",
        "approx:1.8081,1e-3",
    ),
]
ONE_SIDED += [(spec, claim, "VERIFIED") for spec, claim, _ in SAMPLED]
PAIR = "outcome,p,q\na,0.5,0.25\nb,0.3,0.45\nc,0.2,0.3\n"
LISTED = """\
Axioms:
ClassicalDedekindReals.sig_not_dec : forall P : Prop, {~ ~ P} + {~ P}
ClassicalDedekindReals.sig_forall_dec
  : forall P : nat -> Prop,
    (forall n : nat, {P n} + {~ P n}) -> {n : nat | ~ P n} + {forall n : nat, P n}
"""


def theorem(spec: str, claim: str, pair: Path) -> str:
    """What is written of this claim, of uses with + between; {pair} is a file with PAIR."""
    pair.write_text(PAIR)
    uses = [parse_use(each.replace("{pair}", str(pair))) for each in spec.split(" + ")]
    listed = compose(*((named.mechanism, times) for named, times in uses))
    return theorem_of(audit(listed, parse_claim(claim)))
