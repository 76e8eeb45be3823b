"""The forms of theorems that are written and compiled: Coq texts with numbers left out.

A file is one of these forms with whole numbers filled in, and nothing else: neither names nor
comments nor tactics come from anywhere but here. So what is compiled is always this package's own
text, whoever wrote the file, and the numbers of the statement are all that it says. Numbers that
are in the proof alone are hints: with wrong ones the file does not compile.

A form is a row: what it is of, a notion of privacy, and the check that proves it, once for either
verdict unless its title names one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from attrs import frozen

from . import words
from .form import Form, FormError, Numbers

__all__ = ["FORMS", "Form", "FormError", "recognise"]

_NOTIONS = {  # its name in Coq, the claim in a statement, and its numbers
    "dp": ("dp", "({a} / {b}) ({n} / {d})", "a b n d"),
    "pure": ("dp", "({a} / {b}) (0 / 1)", "a b"),
    "zcdp": ("zcdp", "({a} / {b})", "a b"),
    "renyi": ("renyi", "({c} / {o}) ({a} / {b})", "c o a b"),
    "renyi of pairs": ("renyi_dp", "({c} / {o}) ({a} / {b})", "c o a b"),
    "whole renyi": ("renyi", "({c} / 1) ({a} / {b})", "c a b"),
    "whole renyi of pairs": ("renyi_dp", "({c} / 1) ({a} / {b})", "c a b"),
}
_VERDICTS = {"VERIFIED": "", "REFUTED": "not_"}


@frozen
class _Subject:
    """What is released: in Coq, NOTION left out, and in words."""

    statement: str
    words: Callable[[Numbers], str]
    given: tuple[str, ...] = ()


_Law: TypeAlias = tuple[str, str, str]  # what introduces it in Coq, its term, and in words
_LAPLACE = ("", "(discrete_laplace ({t} / {u}))", words.LAPLACE)
_GAUSSIAN = ("exists f, discrete_gaussian ({t} / {u}) f /\\ ", "f", words.GAUSSIAN)
_SKELLAM = ("exists f, skellam ({t} / {u}) f /\\ ", "f", words.SKELLAM)
_BINOMIAL = ("", "(binomial (Z.to_nat {t}) ({u} / {v}))", words.BINOMIAL)
_FAIR = ("", "(binomial (Z.to_nat {t}) (1 / 2))", words.FAIR)


def _once(law: _Law, sensitivity: str = "{s}") -> _Subject:
    given, term, text = law
    return _Subject(f"{given}noise_NOTION {term} {sensitivity}", words.noise(text, sensitivity))


def _uses(law: _Law) -> _Subject:
    given, term, text = law
    return _Subject(f"{given}noise_uses_NOTION {term} (Z.to_nat {{k}}) {{s}}", words.answers(text))


_laplace, _gaussian, _skellam, _binomial = map(_once, (_LAPLACE, _GAUSSIAN, _SKELLAM, _BINOMIAL))
_laplaces, _gaussians, _skellams, _fairs = map(_uses, (_LAPLACE, _GAUSSIAN, _SKELLAM, _FAIR))
_fair = _once(_FAIR, "1")
_reduced = _Subject(f"noise_mod_NOTION {_LAPLACE[1]} {{m}} {{s}}", words.noise(words.REDUCED))
_response = _Subject(
    "NOTION differ (repeated (randomized_response ({e} / {f})) (Z.to_nat {k}))", words.response
)
_answers = _Subject("list_NOTION (repeat (Response ({e} / {f})) (Z.to_nat {k}))", words.bits)
_pair = _Subject(
    "NOTION differ (repeated (two_tables list_a list_b) (Z.to_nat {k}))", words.pair, ("A", "B")
)
_list = _Subject("list_NOTION (uses_in list_w)", words.listed, ("W",))
_vectors = _Subject("vectors_NOTION (vectors_in list_v)", words.vectors, ("V",))
_sampled = _Subject("sampled_NOTION (sampled_in list_u)", words.sampled, ("U",))

# Title, module, subject, notion; then the check and its numbers: CLAIM for those of the claim, k'
# for k as a natural number, NOT_ where the one that refutes is named so, GRID for how fine and how
# far a grid of losses goes, then the claim and the precision of exp.
# fmt: off
_ROWS = (
    ("discrete Laplace, pure, VERIFIED", "DiscreteLaplace", _laplace, "dp",
     "laplace_dp t u s CLAIM"),
    ("discrete Laplace mod m, pure, VERIFIED", "DiscreteLaplace", _reduced, "dp",
     "laplace_mod_dp t u m s CLAIM"),
    ("discrete Laplace, pure, REFUTED", "DiscreteLaplace", _laplace, "pure",
     "laplace_not_dp t u s CLAIM"),
    ("discrete Laplace, K uses, pure, VERIFIED", "Lattice", _laplaces, "dp",
     "pure_uses_dp k' t u s' CLAIM"),
    ("discrete Laplace, K uses", "ListSums", _laplaces, "dp",
     "lattice_NOT_dp k' t u s' CLAIM p r"),
    ("discrete Gaussian", "DiscreteGaussian", _gaussian, "dp",
     "gauss_NOT_dp t u s CLAIM p r l' h'"),
    ("discrete Gaussian, zero-concentrated", "Concentrated", _gaussian, "zcdp",
     "zcdp_NOT_dp t u s CLAIM"),
    ("discrete Gaussian, K uses, zero-concentrated", "Concentrated", _gaussians, "zcdp",
     "zcdp_uses_NOT_dp k' t u s CLAIM"),
    ("discrete Gaussian, Renyi", "Concentrated", _gaussians, "renyi",
     "gauss_renyi_NOT_dp k' t u s CLAIM"),
    ("Skellam", "Skellam", _skellam, "dp", "skellam_NOT_dp t u s CLAIM p r q o' l'"),
    ("binomial, VERIFIED", "Binomial", _binomial, "dp", "binomial_dp t' u v s CLAIM p r"),
    ("binomial, REFUTED", "Binomial", _binomial, "dp", "binomial_not_dp t' u v s s' CLAIM p r"),
    ("fair bits, sensitivity 1", "BinomialTail", _fair, "dp", "tail_NOT_dp t' m' CLAIM p r"),
    ("Skellam, K uses, VERIFIED", "SkellamUses", _skellams, "dp",
     "skellam_uses_dp k' t u s' q o' l' GRID"),
    ("discrete Gaussian, K uses, VERIFIED", "GaussianUses", _gaussians, "dp",
     "gauss_uses_dp k' t u s' l' GRID"),
    ("fair bits, K uses, VERIFIED", "BinomialUses", _fairs, "dp", "bits_uses_dp k' t' s' GRID"),
    ("randomized response, pure, VERIFIED", "RandomizedResponse", _response, "dp",
     "pure_answers_dp k' e f CLAIM"),
    ("randomized response, pure, REFUTED", "RandomizedResponse", _response, "pure",
     "pure_answers_not_dp k' e f CLAIM"),
    ("randomized response, VERIFIED", "ResponseUses", _answers, "dp",
     "answers_uses_dp k' e f CLAIM p r"),
    ("randomized response, REFUTED", "RandomizedResponse", _response, "dp",
     "answers_are_not_dp k' e f CLAIM p r"),
    ("randomized response, Renyi", "RenyiPairs", _response, "renyi of pairs",
     "response_renyi_NOT_dp k' e f CLAIM p r"),
    ("pair of tables, Renyi", "RenyiPairs", _pair, "whole renyi of pairs",
     "tables_renyi_NOT_dp list_a list_b k' CLAIM p r"),
    ("pair of tables", "Pairs", _pair, "dp", "pair_NOT_dp list_a list_b k' CLAIM p r"),
    ("pair of tables, on a grid, VERIFIED", "PairUses", _pair, "dp",
     "pair_uses_dp list_a list_b k' GRID"),
    ("list of uses, pure, VERIFIED", "PureLists", _list, "dp", "pure_list_dp list_w CLAIM"),
    ("list of uses", "ListSums", _list, "dp", "mixed_NOT_dp list_w CLAIM p r"),
    ("list of Gaussians, zero-concentrated", "Vectors", _vectors, "zcdp",
     "vectors_zcdp_NOT_dp list_v CLAIM"),
    ("list of Gaussians, Renyi", "Vectors", _vectors, "renyi",
     "vectors_renyi_NOT_dp list_v CLAIM"),
    ("list of Gaussians, VERIFIED", "Vectors", _vectors, "dp",
     "vectors_are_dp list_v c o CLAIM p r"),
    ("sampled Gaussians, Renyi, VERIFIED", "SampledGaussians", _sampled, "whole renyi",
     "sampled_renyi_dp list_u CLAIM p r"),
    ("sampled Gaussians, VERIFIED", "SampledGaussians", _sampled, "dp",
     "sampled_are_dp list_u c CLAIM p r"),
)
# fmt: on


def _forms() -> Iterator[Form]:
    for title, module, subject, notion, check in _ROWS:
        name, claim, numbers = _NOTIONS[notion]
        proof = check.replace("GRID", "m g e' f' h' j' CLAIM p r").replace("CLAIM", numbers)
        proof = re.sub(r"\b(\w)\b('?)", lambda one: _TAKEN[one[2]].format(one[1]), proof)
        for verdict, negated in _VERDICTS.items():
            if title.endswith(tuple(_VERDICTS)) and not title.endswith(verdict):
                continue
            yield Form(
                title if title.endswith(verdict) else f"{title}, {verdict}",
                module,
                f"{subject.statement.replace('NOTION', negated + name)} {claim}",
                proof.replace("NOT_", negated),
                subject.words,
                subject.given,
            )


_TAKEN = {"": "{{{}}}", "'": "(Z.to_nat {{{}}})"}  # a number, as Coq takes it
FORMS = {form.title: form for form in _forms()}


def recognise(text: str) -> tuple[Form, dict[str, int | tuple[int, ...]]]:
    """The form of a file and its numbers. Raises FormError for anything else."""
    for form in FORMS.values():
        numbers = form.read(text)
        if numbers is not None:
            if form.write(numbers) != text:
                raise FormError("it is not what is written for its own numbers")
            return form, numbers
    raise FormError("it is not a file that `--coq` writes, and nothing else is compiled")
