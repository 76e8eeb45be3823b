"""What is the same costs the same: another name, another order, the other way round."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from math import comb

from conformance.relations.draw import additive, ask, binomial, level, scenario, table, times
from conformance.relations.engine import AtMost, Held, Statement, equal, in_python, on_command_line
from conformance.relations.scenarios import Cost, Scenario, Spec, Table, pmf, spec

from exactdp import Enclosure

_NARROW = Fraction(1, 10**6)


def swapped_files(rng: random.Random) -> Iterator[AtMost]:
    """All files of a list the other way round: only the names of the datasets change."""
    tables = [table(rng) for _ in range(rng.choice((1, 2, 3)))]
    slack = rng.choice((Fraction(0), Fraction(1, 100)))
    counts = [min(times(rng), 5) for _ in tables]
    others = () if rng.random() < 0.6 else ((additive(rng), 1),)
    found = [
        Scenario((*((pmf(one, slack), k) for one, k in zip(way, counts, strict=True)), *others))
        for way in (tables, [one.swapped() for one in tables])
    ]
    for _ in range(2):
        cost = ask(rng, found[0])
        yield from equal(cost, Cost(found[1], cost.quantity, cost.at), "all files swapped")


def written_otherwise(rng: random.Random) -> Iterator[AtMost]:
    """Rows in another order, an outcome that never occurs, an outcome that a coin splits."""
    given = table(rng)
    rows = [*zip(given.p, given.q, strict=True), (Fraction(0), Fraction(0))]
    p, q = rows.pop(rng.randrange(len(rows)))
    rows += [(p / 3, q / 3), (p * 2 / 3, q * 2 / 3)]
    rng.shuffle(rows)
    other = Table(tuple(p for p, _ in rows), tuple(q for _, q in rows))
    count = min(times(rng), 5)
    others = scenario(rng).uses[:1] if rng.random() < 0.3 else ()
    cost = ask(rng, Scenario(((pmf(given), count), *others)))
    same = Scenario(((pmf(other), count), *others))
    yield from equal(cost, Cost(same, cost.quantity, cost.at), "rows moved and split")


def _same_mechanisms(rng: random.Random) -> tuple[Spec, Spec]:
    sensitivity = rng.choice((1, 2, 3, 11, 40000))
    scale, sigma2 = rng.choice(("0.5", "3", "1000")), rng.choice(("0.17", "1", "100"))
    count, trials = rng.choice((2, 5, 16)), rng.choice((1, 2, 7, 40))
    pairs = (
        (spec("discrete-laplace", scale=scale), spec("polya-difference", shape=1, scale=scale)),
        (
            spec("discrete-gaussian", sigma2=sigma2),
            spec("discrete-gaussian-sum", count=1, sigma2=sigma2),
        ),
        (
            spec("discrete-laplace", scale=scale),
            spec("discrete-laplace", epsilon=sensitivity / Fraction(scale)),
        ),
        (spec("binomial", trials=trials, probability="0.01"),
         spec("binomial", trials=trials, probability="0.99")),
        (spec("discrete-gaussian-sum", count=count, sigma2=sigma2),
         spec("discrete-gaussian-sum", count=count, sigma2=sigma2, users=count, dropout=0)),
    )  # fmt: skip
    modulus = rng.choice((None, None, 2, 5, 64, 65537))
    one, other = rng.choice(pairs)
    return (
        one.but(sensitivity=sensitivity, modulus=modulus),
        other.but(sensitivity=sensitivity, modulus=modulus),
    )


def another_name(rng: random.Random) -> Iterator[AtMost]:
    """One law by two names; noise that is mirrored."""
    one, other = _same_mechanisms(rng)
    count = times(rng)
    cost = ask(rng, Scenario.of((one, count)))
    yield from equal(cost, Cost(Scenario.of((other, count)), cost.quantity, cost.at), "renamed")


def another_order(rng: random.Random) -> Iterator[AtMost]:
    """Uses in another order, and K uses written one by one."""
    what = scenario(rng)
    singly = [(one, part) for one, k in what.uses for part in ((1, k - 1) if k > 1 else (1,))]
    rng.shuffle(singly)
    cost = ask(rng, what)
    yield from equal(cost, Cost(Scenario(tuple(singly)), cost.quantity, cost.at), "reordered")


def nothing_released(rng: random.Random) -> Iterator[AtMost]:
    """A use that tells nothing adds nothing."""
    what = scenario(rng)
    same = (Fraction(1, 3), Fraction(2, 3))
    nothing = rng.choice((
        spec("randomized-response", epsilon=0),
        pmf(Table((Fraction(1),), (Fraction(1),))),
        pmf(Table(same, same)),
        spec("discrete-laplace", scale=3, sensitivity=2, modulus=1),
        spec("binomial", trials=3, probability="1/2", modulus=1, sensitivity=4),
        spec("skellam", variance=2, sensitivity=1, modulus=1),
    ))  # fmt: skip
    cost = ask(rng, what)
    more = what.plus((nothing, times(rng)))
    yield from equal(cost, Cost(more, cost.quantity, cost.at), "nothing is released besides")


def as_table(law: Spec) -> Table:
    """Binomial noise with the whole shift, seen mod m if it is reduced."""
    n, probability = int(law["trials"]), Fraction(law["probability"])
    masses = [comb(n, k) * probability**k * (1 - probability) ** (n - k) for k in range(n + 1)]
    shift = int(law["sensitivity"])
    modulus = int(law["modulus"]) if "modulus" in law else n + shift + 1
    p, q = [Fraction(0)] * modulus, [Fraction(0)] * modulus
    for k, mass in enumerate(masses):
        p[k % modulus] += mass
        q[(k + shift) % modulus] += mass
    return Table(tuple(p), tuple(q))


def law_as_file(rng: random.Random) -> Iterator[AtMost]:
    """Binomial noise typed as a file is one of its choices; the only one that counts if it is not
    reduced and used once.
    """
    law = binomial(rng, rng.choice((1, 2, 3, 10)))
    modulus = rng.choice((None, None, 2, 3, 5, 12))
    law = law.but(sensitivity=rng.choice((1, 2, 3, 12)), modulus=modulus)
    count = rng.choice((1, 1, 1, 2, 3))
    file = pmf(as_table(law))
    for _ in range(2):
        cost = ask(rng, Scenario.of((file, count)))
        noise = Cost(Scenario.of((law, count)), cost.quantity, cost.at)
        yield AtMost(cost, noise, "a law as a file")
        symmetric = law["probability"] == "1/2"
        if modulus is None and (count == 1 or cost.quantity in ("pure", "renyi") or symmetric):
            yield AtMost(noise, cost, "a law as a file")


def typed_and_called(rng: random.Random) -> Iterator[Statement]:
    """The command line and the library tell of the same number."""
    what = scenario(rng)
    cost = ask(rng, what)
    if cost.quantity == "zcdp":
        cost = Cost(what, "epsilon", level(rng, what))
    called, typed = in_python(cost), on_command_line(cost)
    yield from (AtMost(called, typed, str(cost)), AtMost(typed, called, str(cost)))
    again = in_python(cost)
    yield from equal(again, called, f"again: {cost}")
    if again.is_within(_NARROW) and called.is_within(_NARROW):  # else the time may have ended it
        yield Held(again == called, f"the same again: {cost}", (str(called), str(again)))


def typed_into_a_process(rng: random.Random) -> Iterator[Statement]:
    """`exactdp` as a process of its own: one JSON object, exit 0 or 3, the library's number."""
    what = scenario(rng)
    called = in_python(Cost(what, "pure"))
    command = [sys.executable, "-m", "exactdp.cli", "compose", *what.typed(), "--pure", "--json"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    yield Held(told.returncode in (0, 3), f"exit of pure of {what}", told.stderr[-300:])
    (result,) = json.loads(told.stdout)["results"]
    typed = Enclosure.from_json({end: result[end] for end in ("lower", "upper")})
    yield from equal(typed, called, f"pure of {what}")


PROCESSES = (typed_into_a_process,)
RELATIONS = (
    swapped_files,
    written_otherwise,
    another_name,
    another_order,
    nothing_released,
    law_as_file,
    typed_and_called,
)
