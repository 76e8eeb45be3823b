"""The forms of theorems that are written and compiled: Coq texts with numbers left out.

A file is one of these forms with whole numbers filled in, and nothing else: neither names nor
comments nor tactics come from anywhere but here. So what is compiled is always this package's own
text, whoever wrote the file, and the numbers of the statement are all that it says. Numbers that
are in the proof alone are hints: with wrong ones the file does not compile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from string import Formatter
from typing import TypeAlias

from ...exact.number import decimal_text

Numbers: TypeAlias = Mapping[str, "int | Sequence[int]"]  # lists have names in upper case

_DIGITS = 4_000  # of one number; Python itself reads no integers of more than 4,300
_NUMBER = rf"(?:0|[1-9][0-9]{{0,{_DIGITS - 1}}})"
_FILE = """\
(* exactdp theorem, version 1: {title} *)
From Coq Require Import Reals List ZArith.
From ExactDP Require Import Definitions Laws {module}.
Import ListNotations.
Open Scope R_scope.

{given}Theorem verdict :
  {statement}.
Proof. apply ({proof}). vm_cast_no_check (eq_refl true). Qed.
Print Assumptions verdict.
"""


class FormError(ValueError):
    """Not a file of any of these forms."""


@dataclass(frozen=True)
class Form:
    """A theorem with its numbers left out.

    title      unlike any other form's
    module     of the library, where the theorem that proves it is
    statement  the claim, in the words of `Definitions.v` and `Laws.v`
    proof      what is applied: with the checks that the kernel runs, and hints
    words      the mechanism in words, of the numbers
    given      lists that the statement names
    """

    title: str
    module: str
    statement: str
    proof: str
    words: Callable[[Numbers], str]
    given: tuple[str, ...] = ()

    @cached_property
    def template(self) -> str:
        """The whole file, with names in braces for numbers."""
        lists = "".join(
            f"Definition list_{name.lower()} : list Z := [{{{name}}}]%Z.\n" for name in self.given
        )
        return _FILE.format(
            title=self.title,
            module=self.module,
            given=f"{lists}\n" if lists else "",
            statement=self.statement,
            proof=self.proof,
        )

    @property
    def verified(self) -> bool:
        """Does it say that the claim holds?"""
        return self.title.endswith("VERIFIED")

    @property
    def kind(self) -> str:
        """Of which claim: epsilon or rho is a/b, delta n/d, an order c/o."""
        for kind, word in (("zcdp", "zcdp"), ("rdp", "renyi")):
            if word in self.statement:
                return kind
        return "approx"

    def write(self, numbers: Numbers) -> str:
        """The file with these numbers. Raises FormError where one is too long or negative."""
        text = self.template.format(
            **{
                name: str(number) if isinstance(number, int) else "; ".join(map(str, number))
                for name, number in numbers.items()
            }
        )
        if self.read(text) is None:
            raise FormError(f"a number has more than {_DIGITS:,} digits")
        return text

    def read(self, text: str) -> dict[str, int | tuple[int, ...]] | None:
        """The numbers with which this form is just this text; None where there are none."""
        found = self._pattern.fullmatch(text)
        if found is None:
            return None
        return {
            name: int(part) if name.islower() else tuple(map(int, part.split("; ")))
            for name, part in found.groupdict().items()
        }

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts, seen = [], set()
        for fixed, name, _, _ in Formatter().parse(self.template):
            parts.append(re.escape(fixed))
            if name is None:
                continue
            number = _NUMBER if name.islower() else f"{_NUMBER}(?:; {_NUMBER})*"
            parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{number})")
            seen.add(name)
        return re.compile("".join(parts), re.A)

    def described(self, numbers: Numbers) -> str:
        """What the theorem says, in words."""
        claimed = ratio(numbers, "a", "b")
        if self.kind == "zcdp":
            claimed = f"({claimed})-zero-concentrated differentially private"
        elif self.kind == "rdp":
            claimed = f"({ratio(numbers, 'c', 'o')}, {claimed})-Rényi differentially private"
        else:
            claimed = f"({claimed}, {ratio(numbers, 'n', 'd')})-differentially private"
        says, which = ("is", "every") if self.verified else ("is not", "some")
        scope = ""
        if "noise_" in self.statement:
            asked = "way of asking" if "noise_uses" in self.statement else "query"
            scope = f", for {which} data type, neighbour relation and {asked} of that sensitivity"
        elif "list_not_dp" in self.statement or "list_dp" in self.statement:
            scope = f", for {which} data type, neighbour relation and way of asking of this kind"
        return f"{self.words(numbers)} {says} {claimed}{scope}"


def recognise(text: str) -> tuple[Form, dict[str, int | tuple[int, ...]]]:
    """The form of a file and its numbers. Raises FormError for anything else."""
    for form in FORMS.values():
        numbers = form.read(text)
        if numbers is not None:
            if form.write(numbers) != text:
                raise FormError("it is not what is written for its own numbers")
            return form, numbers
    raise FormError("it is not a file that `--coq` writes, and nothing else is compiled")


def ratio(numbers: Numbers, top: str, bottom: str) -> str:
    """A quotient of two of the numbers, as text; a form may have 0/1 for good."""
    n, d = (numbers.get(name, default) for name, default in ((top, 0), (bottom, 1)))
    assert isinstance(n, int) and isinstance(d, int)
    return f"{n}/0" if d == 0 else decimal_text(Fraction(n, d))


def _noise(law: Callable[[Numbers], str]) -> Callable[[Numbers], str]:
    return lambda numbers: (
        f"an integer query of sensitivity {numbers.get('s', 1)} plus {law(numbers)}"
    )


def _uses(numbers: Numbers) -> str:
    return f", used {numbers['k']:,} times on the same data," if numbers["k"] != 1 else ""


def _laplace_law(numbers: Numbers) -> str:
    return f"discrete Laplace noise of scale {ratio(numbers, 't', 'u')}"


def _answers(law: Callable[[Numbers], str]) -> Callable[[Numbers], str]:
    return lambda numbers: (
        _noise(law)(numbers)
        if numbers["k"] == 1
        else f"a sequence of {numbers['k']:,} integer queries of sensitivity {numbers['s']}, each "
        f"chosen by the answers before, plus {law(numbers)},"
    )


@_noise
def _reduced(numbers: Numbers) -> str:
    return f"discrete Laplace noise of scale {ratio(numbers, 't', 'u')}, seen mod {numbers['m']},"


def _gaussian_law(numbers: Numbers) -> str:
    return f"discrete Gaussian noise of sigma2 {ratio(numbers, 't', 'u')}"


@_noise
def _skellam(numbers: Numbers) -> str:
    mean = ratio(numbers, "t", "u")
    return f"Skellam noise (the difference of two Poisson counts of mean {mean})"


@_noise
def _binomial(numbers: Numbers) -> str:
    chance = ratio(numbers, "u", "v") if "u" in numbers else "1/2"
    return f"binomial noise of {numbers['t']} trials with probability {chance}"


def _response(numbers: Numbers) -> str:
    return f"randomized response (epsilon {ratio(numbers, 'e', 'f')}){_uses(numbers)}"


def _pair(numbers: Numbers) -> str:
    a = numbers["A"]
    assert not isinstance(a, int)
    return f"a pair of laws on {len(a)} outcomes, either way round{_uses(numbers)}"


def in_fours(numbers: Numbers) -> list[tuple[int, int, int, int]]:
    """The uses of a list, as `uses_in` of `Laws.v` reads them: any numbers left over are none."""
    w = numbers["W"]
    assert not isinstance(w, int)
    return list(zip(w[::4], w[1::4], w[2::4], w[3::4], strict=False))


def _list(numbers: Numbers) -> str:
    said = []
    for k, t, u, s in in_fours(numbers):
        if s:
            law = _noise(_laplace_law)({"t": t, "u": u, "s": s})
        else:
            law = f"a bit by randomized response (epsilon {ratio({'t': t, 'u': u}, 'u', 't')})"
        said.append(f"{law} {k:,} times")
    return f"{', then '.join(said) or 'nothing'}, each chosen by the answers before,"


def _forms() -> list[Form]:
    laplace = "(discrete_laplace ({t} / {u})) {s}"
    uses = "(discrete_laplace ({t} / {u})) (Z.to_nat {k}) {s}"
    lattice = "(Z.to_nat {k}) {t} {u} (Z.to_nat {s})"
    gaussian = "exists f, discrete_gaussian ({t} / {u}) f /\\"
    skellam = "exists f, skellam ({t} / {u}) f /\\"
    ratios = "{t} {u} {s} {a} {b} {n} {d} {p} {r} {q} (Z.to_nat {o}) (Z.to_nat {l})"
    around = "{t} {u} {s} {a} {b} {n} {d} {p} {r} (Z.to_nat {l}) (Z.to_nat {h})"
    binomial = "(binomial (Z.to_nat {t}) ({u} / {v})) {s}"
    fair = "(binomial (Z.to_nat {t}) (1 / 2)) 1"
    response = "(repeated (randomized_response ({e} / {f})) (Z.to_nat {k}))"
    pair = "(repeated (two_tables list_a list_b) (Z.to_nat {k}))"
    claim, pure, precise = (
        "({a} / {b}) ({n} / {d})",
        "({a} / {b}) (0 / 1)",
        "{a} {b} {n} {d} {p} {r}",
    )
    return [
        Form(
            "discrete Laplace, pure, VERIFIED",
            "DiscreteLaplace",
            f"noise_dp {laplace} {claim}",
            "laplace_dp {t} {u} {s} {a} {b} {n} {d}",
            _noise(_laplace_law),
        ),
        Form(
            "discrete Laplace mod m, pure, VERIFIED",
            "DiscreteLaplace",
            f"noise_mod_dp (discrete_laplace ({{t}} / {{u}})) {{m}} {{s}} {claim}",
            "laplace_mod_dp {t} {u} {m} {s} {a} {b} {n} {d}",
            _reduced,
        ),
        Form(
            "discrete Laplace, pure, REFUTED",
            "DiscreteLaplace",
            f"noise_not_dp {laplace} {pure}",
            "laplace_not_dp {t} {u} {s} {a} {b}",
            _noise(_laplace_law),
        ),
        Form(
            "discrete Laplace, K uses, pure, VERIFIED",
            "Lattice",
            f"noise_uses_dp {uses} {claim}",
            f"pure_uses_dp {lattice} {{a}} {{b}} {{n}} {{d}}",
            _answers(_laplace_law),
        ),
        Form(
            "discrete Laplace, K uses, VERIFIED",
            "Lattice",
            f"noise_uses_dp {uses} {claim}",
            f"lattice_dp {lattice} {precise}",
            _answers(_laplace_law),
        ),
        Form(
            "discrete Laplace, K uses, REFUTED",
            "Lattice",
            f"noise_uses_not_dp {uses} {claim}",
            f"lattice_not_dp {lattice} {precise}",
            _answers(_laplace_law),
        ),
        Form(
            "discrete Gaussian, VERIFIED",
            "DiscreteGaussian",
            f"{gaussian} noise_dp f {{s}} {claim}",
            f"gauss_dp {around}",
            _noise(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, REFUTED",
            "DiscreteGaussian",
            f"{gaussian} noise_not_dp f {{s}} {claim}",
            f"gauss_not_dp {around}",
            _noise(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, zero-concentrated, VERIFIED",
            "Concentrated",
            f"{gaussian} noise_zcdp f {{s}} ({{a}} / {{b}})",
            "zcdp_dp {t} {u} {s} {a} {b}",
            _noise(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, zero-concentrated, REFUTED",
            "Concentrated",
            f"{gaussian} noise_not_zcdp f {{s}} ({{a}} / {{b}})",
            "zcdp_not_dp {t} {u} {s} {a} {b}",
            _noise(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, K uses, zero-concentrated, VERIFIED",
            "Concentrated",
            f"{gaussian} noise_uses_zcdp f (Z.to_nat {{k}}) {{s}} ({{a}} / {{b}})",
            "zcdp_uses_dp (Z.to_nat {k}) {t} {u} {s} {a} {b}",
            _answers(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, K uses, zero-concentrated, REFUTED",
            "Concentrated",
            f"{gaussian} noise_uses_not_zcdp f (Z.to_nat {{k}}) {{s}} ({{a}} / {{b}})",
            "zcdp_uses_not_dp (Z.to_nat {k}) {t} {u} {s} {a} {b}",
            _answers(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, Renyi, VERIFIED",
            "Concentrated",
            f"{gaussian} noise_uses_renyi f (Z.to_nat {{k}}) {{s}} ({{c}} / {{o}}) ({{a}} / {{b}})",
            "gauss_renyi_dp (Z.to_nat {k}) {t} {u} {s} {c} {o} {a} {b}",
            _answers(_gaussian_law),
        ),
        Form(
            "discrete Gaussian, Renyi, REFUTED",
            "Concentrated",
            f"{gaussian} noise_uses_not_renyi f (Z.to_nat {{k}}) {{s}} "
            "({c} / {o}) ({a} / {b})",
            "gauss_renyi_not_dp (Z.to_nat {k}) {t} {u} {s} {c} {o} {a} {b}",
            _answers(_gaussian_law),
        ),
        Form(
            "Skellam, VERIFIED",
            "Skellam",
            f"{skellam} noise_dp f {{s}} {claim}",
            f"skellam_dp {ratios}",
            _skellam,
        ),
        Form(
            "Skellam, REFUTED",
            "Skellam",
            f"{skellam} noise_not_dp f {{s}} {claim}",
            f"skellam_not_dp {ratios}",
            _skellam,
        ),
        Form(
            "binomial, VERIFIED",
            "Binomial",
            f"noise_dp {binomial} {claim}",
            f"binomial_dp (Z.to_nat {{t}}) {{u}} {{v}} {{s}} {precise}",
            _binomial,
        ),
        Form(
            "binomial, REFUTED",
            "Binomial",
            f"noise_not_dp {binomial} {claim}",
            f"binomial_not_dp (Z.to_nat {{t}}) {{u}} {{v}} {{s}} (Z.to_nat {{s}}) {precise}",
            _binomial,
        ),
        Form(
            "fair bits, sensitivity 1, VERIFIED",
            "BinomialTail",
            f"noise_dp {fair} {claim}",
            f"tail_dp (Z.to_nat {{t}}) (Z.to_nat {{m}}) {precise}",
            _binomial,
        ),
        Form(
            "fair bits, sensitivity 1, REFUTED",
            "BinomialTail",
            f"noise_not_dp {fair} {claim}",
            f"tail_not_dp (Z.to_nat {{t}}) (Z.to_nat {{m}}) {precise}",
            _binomial,
        ),
        Form(
            "randomized response, pure, VERIFIED",
            "RandomizedResponse",
            f"dp differ {response} {claim}",
            "pure_answers_dp (Z.to_nat {k}) {e} {f} {a} {b} {n} {d}",
            _response,
        ),
        Form(
            "randomized response, pure, REFUTED",
            "RandomizedResponse",
            f"not_dp differ {response} {pure}",
            "pure_answers_not_dp (Z.to_nat {k}) {e} {f} {a} {b}",
            _response,
        ),
        Form(
            "randomized response, VERIFIED",
            "RandomizedResponse",
            f"dp differ {response} {claim}",
            f"answers_are_dp (Z.to_nat {{k}}) {{e}} {{f}} {precise}",
            _response,
        ),
        Form(
            "randomized response, REFUTED",
            "RandomizedResponse",
            f"not_dp differ {response} {claim}",
            f"answers_are_not_dp (Z.to_nat {{k}}) {{e}} {{f}} {precise}",
            _response,
        ),
        Form(
            "randomized response, Renyi, VERIFIED",
            "RenyiPairs",
            f"renyi_dp differ {response} ({{c}} / {{o}}) ({{a}} / {{b}})",
            "response_renyi_dp (Z.to_nat {k}) {e} {f} {c} {o} {a} {b} {p} {r}",
            _response,
        ),
        Form(
            "randomized response, Renyi, REFUTED",
            "RenyiPairs",
            f"not_renyi_dp differ {response} ({{c}} / {{o}}) ({{a}} / {{b}})",
            "response_renyi_not_dp (Z.to_nat {k}) {e} {f} {c} {o} {a} {b} {p} {r}",
            _response,
        ),
        Form(
            "pair of tables, Renyi, VERIFIED",
            "RenyiPairs",
            f"renyi_dp differ {pair} ({{c}} / 1) ({{a}} / {{b}})",
            "tables_renyi_dp list_a list_b (Z.to_nat {k}) {c} {a} {b} {p} {r}",
            _pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, Renyi, REFUTED",
            "RenyiPairs",
            f"not_renyi_dp differ {pair} ({{c}} / 1) ({{a}} / {{b}})",
            "tables_renyi_not_dp list_a list_b (Z.to_nat {k}) {c} {a} {b} {p} {r}",
            _pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, VERIFIED",
            "Pairs",
            f"dp differ {pair} {claim}",
            f"pair_dp list_a list_b (Z.to_nat {{k}}) {precise}",
            _pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, REFUTED",
            "Pairs",
            f"not_dp differ {pair} {claim}",
            f"pair_not_dp list_a list_b (Z.to_nat {{k}}) {precise}",
            _pair,
            ("A", "B"),
        ),
        Form(
            "list of uses, pure, VERIFIED",
            "PureLists",
            f"list_dp (uses_in list_w) {claim}",
            "pure_list_dp list_w {a} {b} {n} {d}",
            _list,
            ("W",),
        ),
        Form(
            "list of uses, VERIFIED",
            "ListSums",
            f"list_dp (uses_in list_w) {claim}",
            f"mixed_dp list_w {precise}",
            _list,
            ("W",),
        ),
        Form(
            "list of uses, REFUTED",
            "ListSums",
            f"list_not_dp (uses_in list_w) {claim}",
            f"mixed_not_dp list_w {precise}",
            _list,
            ("W",),
        ),
    ]


FORMS = {form.title: form for form in _forms()}
