"""The papers' statements as the command tells them: docs/claims.md to the digit; figures apart."""

import json
import math
import re
from pathlib import Path

import brute_force
import mpmath
import numpy as np
import oracles
import pytest
from mpmath import mpf
from pages import claims as page

from exactdp.cli.main import main

WRITTEN = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
SLOW = {"D-lem3", "D-lem4", "D-appI", "S-thmA1-privacy", "V-gaussians"}  # seconds


def told(capsys, *ids, workers=1):
    assert main(["claims", *ids, "--json", "--workers", str(workers)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow_cases("D-thm2-curve")
@pytest.mark.contract
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in re.findall(r"^### (\S+)$", WRITTEN, re.M)
    ],
)
def test_what_is_told_of_a_statement_is_what_is_written(name, capsys):
    (row,) = told(capsys, name)
    assert row["id"] == name and row["source"] and row["statement"]
    section, written = page.text([row]).partition("\n### ")[2], f"{WRITTEN}\n"
    if name == "D-appI":  # its last digits are those of the middle of a bracket
        section, written = (re.sub(r"(\.\d+)\d\b", r"\1", each) for each in (section, written))
    assert f"\n### {section}" in written


@pytest.mark.contract
def test_ids_are_kept_in_the_order_of_the_papers_and_others_refused(capsys):
    found = told(capsys, "D-modulus", "D-fact3", "D-modulus")
    assert [row["id"] for row in found] == ["D-fact3", "D-modulus"]
    assert main(["claims", "D-lem99"]) == 2 and "ID" in capsys.readouterr().err


@pytest.mark.contract
@pytest.mark.slow
def test_all_are_on_the_page_however_many_are_checked_at_a_time(capsys):
    rows = told(capsys, workers=2)
    assert {row["id"] for row in rows} == {*re.findall(r"^### (\S+)$", WRITTEN, re.M)}
    (alone,) = told(capsys, "S-thmA1-subgauss")
    assert alone in rows and WRITTEN.startswith(page.text(rows).partition("\n## ")[0])


def gaussian(sigma2, shift, order):
    """The divergence of the discrete Gaussian, from its definition."""
    return brute_force.renyi(
        brute_force.shifted(oracles.discrete_gaussian(sigma2), shift, 40), order
    )


def excess(count, shift, order):
    """Of a sum of so many N_Z(0, 1/4) the divergence beyond order shift^2/(2 count/4)."""
    one = np.exp(-2.0 * np.arange(-9, 10) ** 2)
    total = one
    for _ in range(count - 1):
        total = np.convolve(total, one)
    total = total[np.nonzero(total > 1e-290)]
    terms = total[shift:] ** order * total[:-shift] ** (1 - order)
    return math.log(terms.sum() / total.sum()) / (order - 1) - 2 * order * shift**2 / count


def xi(count):
    return 10 * sum(math.exp(-(math.pi**2) / 2 * k / (k + 1)) for k in range(1, count))


def failing(p, arms, count, steepness):
    """1 - the product over batches and arms of P(|noise| <= what the radius allows)."""
    kept = mpf(1)
    for b in range(1, count + 1):
        q, users = p / (arms * b * b), 2**b
        allowed = steepness * mpmath.log(2 / q) + mpmath.sqrt(users * mpmath.log(4 / q) / 2)
        kept *= (1 - 4 * mpmath.exp(-allowed / steepness)) ** arms
    return 1 - kept


def two_laplace(epsilon, g, users, horizon):
    """P(|X1 + X2| > tau) T of two Lap_Z(g/epsilon), tau as Theorem 6 states it."""
    c, beta = 1 / mpmath.sqrt(1 - mpmath.exp(-mpf(1) / 2)), mpmath.exp(-mpf(epsilon) / g)
    tau = mpmath.ceil(c * g / epsilon * mpmath.sqrt(2 * users * mpmath.log(2 * horizon)))
    front = ((1 - beta) / (1 + beta)) ** 2
    term = lambda k: front * beta**k * (k + 1 + 2 * beta**2 / (1 - beta**2))  # noqa: E731
    return 2 * horizon * mpmath.nsum(term, [tau + 1, mpmath.inf])


def response(share, count, level):
    """The least delta at this level of so many randomized responses."""
    p = 1 / (1 + mpmath.exp(-share))
    return mpmath.fsum(
        mpmath.binomial(count, k)
        * max(
            p**k * (1 - p) ** (count - k) - mpmath.exp(level) * p ** (count - k) * (1 - p) ** k, 0
        )
        for k in range(count + 1)
    )


def converted(rho, delta):
    """The infimum over orders of Lemma 10, where its derivative is 0."""
    bound = lambda a: rho * a - mpmath.log(delta * a) / (a - 1) + mpmath.log(1 - 1 / a)  # noqa: E731
    return bound(mpmath.findroot(lambda a: mpmath.diff(bound, a), 6))


def wrapped(g, scale, tau):
    """P(the error is above n) of Theorem 1 with all rewards 1."""
    beta = mpmath.exp(-1 / mpf(scale))
    return (beta ** (tau + 1) - beta ** (2 * tau + 1)) / (1 + beta)


def log_mgf(epsilon, rate):
    """log E e^(rate X) of Lap_Z(1/epsilon)."""
    beta = mpmath.exp(-epsilon)
    up, down = beta * mpmath.exp(rate), beta * mpmath.exp(-rate)
    return mpmath.log((1 - beta) / (1 + beta) * (1 + up / (1 - up) + down / (1 - down)))


def least(pmf, p):
    """The least t with P(|X| > t) <= p."""
    inside, t = pmf(0), 0
    while 1 - inside > p:
        t += 1
        inside += 2 * pmf(t)
    return t


BEST = 1 / mpmath.sqrt(1 - mpmath.exp(-mpf(1) / 2))
FIGURES = [  # of a statement, in the evidence of this name, what it is by its definition
    ("D-fact3", "least epsilon at Delta = 5/2, epsilon = 1", lambda: mpf(2) / mpf("2.5")),
    ("D-thm1-tau", "tau at epsilon = 1/10, n = 2, T = 10",
     lambda: least(oracles.discrete_laplace(10), mpf(1) / 10)),
    ("D-thm1-tau", "tau at epsilon = 5, n = 16, T = 1000",
     lambda: least(oracles.discrete_laplace(4), mpf(1) / 1000)),
    ("D-prop1", "best variance factor at h = sqrt(2)/2", lambda: mpmath.cosh(mpmath.sqrt(2)) - 1),
    ("D-prop1", "best h at variance factor 2 v",
     lambda: 1 / mpmath.findroot(lambda s: mpmath.cosh(s) - 1 - s * s, 3)),
    ("D-prop1", "at v = 100, p = 1e-06", lambda: least(oracles.skellam(100), mpf(10) ** -6)),
    ("D-lem3", "needed below order 2 only",
     lambda: brute_force.renyi(brute_force.shifted(oracles.skellam(1), 1, 40), "1.01")),
    ("D-thm2-radius", "T = 1e6, s = 10", lambda: mpf("1.1") * mpmath.log(2 * 10**6) / (
        2 * mpmath.sqrt(mpmath.log(2 * 10**6)) + mpmath.sqrt(2) * mpmath.log(2 * 10**6) / 10)),
    ("D-thm3", "e^(-epsilon/9) as printed", lambda: mpf(32) / 9),
    ("D-fact2", "sigma² = 1/10, Delta = 1, order 3/2", lambda: gaussian("1/10", 1, "1.5")),
    ("D-fact2", "sigma² = 1/4, Delta = 1, order 3/2", lambda: gaussian("1/4", 1, "1.5")),
    ("D-fact2", "sigma² = 1/10, Delta = 1, order 11/10", lambda: gaussian("1/10", 1, "1.1")),
    ("D-lem4", "witness sigma = 1/2, n = 64, Delta = 32, order 1.001",
     lambda: excess(64, 32, 1.001)),
    ("D-lem4", "witness sigma = 1/2, n = 51, Delta = 25, order 1.0001",
     lambda: 1.0001 * xi(51) / 4),
    ("D-lem2-prob", "union bound", lambda: 5 * mpmath.pi**2 / 12),
    ("D-lem2-prob", "witness", lambda: failing(mpf(2) ** -20, 2, 18, 10**9) * 2**20),
    ("D-lem2-prob", "least factor", lambda: 4 * mpmath.pi**2 / (36 - mpmath.pi**2)),
    ("D-asm1", "witness", lambda: wrapped(128, 256, mpmath.ceil(256 * mpmath.log(2 * 10**6)))),
    ("D-thm5", "ε = 0.1, n = 64, T = 10000",
     lambda: 2 * mpmath.exp(-mpf("10.1")) / (1 + mpmath.exp(-mpf("0.1")))),
    ("D-lem5", "best constant", lambda: BEST),
    ("D-lem5", "least", lambda: log_mgf(mpf(10) ** -6, mpf(10) ** -6 / BEST / (1 - mpf(10) ** -9))
     - mpf(1) / 2),
    ("D-thm6", "T = 1000000, n < 2 log(2T) = 29.02", lambda: two_laplace(0.5, 1, 2, 10**6)),
    ("D-lem10", "1-CDP (epsilon = 1) at delta = 1e-6", lambda: converted(mpf("0.5"), 1e-6)),
    ("D-lem10", "pure epsilon = 1, order 10",
     lambda: mpmath.log(mpmath.cosh(mpf("9.5")) / mpmath.cosh(mpf("0.5"))) / 9),
    ("D-thm7", "witness: k = 16, delta = 0, delta' = 0.9975", lambda: response(
        mpf("0.999") / (2 * mpmath.sqrt(-32 * mpmath.log(mpf("0.9975")))), 16, mpf("0.999"))),
    ("D-code", "true epsilon at epsilon = 1/10, n = 1024",
     lambda: -4 * mpmath.log(1 - mpmath.exp(-mpf(1) / 40))),
    ("S-thmA1-subgauss", "V/τ at m = 100 τ",
     lambda: 100 * (1 - mpf(1) / 100) / (2 * mpmath.log(mpf(199)))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "evidence", "truth"), FIGURES, ids=[f"{n}-{e[:40]}" for n, e, _ in FIGURES]
)
def test_figures_that_are_told_are_those_of_definitions(name, evidence, truth):
    """One number of the line, whose digits are certain; the page is held to what is computed."""
    (line,) = re.findall(
        rf"^- {re.escape(evidence)}: (.*)$",
        WRITTEN.partition(f"### {name}\n")[2].partition("\n### ")[0],
        re.M,
    )
    with mpmath.workdps(60):
        exact = truth()
        numbers = map(mpf, re.findall(r"\d+(?:\.\d+)?(?:e[+-]\d+)?", line))
        assert any(abs(one / exact - 1) < mpf(10) ** -3 for one in numbers), (line, exact)
