"""The forms of theorems that are written and compiled: Coq texts with numbers left out.

A file is one of these forms with whole numbers filled in, and nothing else: neither names nor
comments nor tactics come from anywhere but here. So what is compiled is always this package's own
text, whoever wrote the file, and the numbers of the statement are all that it says. Numbers that
are in the proof alone are hints: with wrong ones the file does not compile.
"""

from __future__ import annotations

from . import words
from .form import Form, FormError

__all__ = ["FORMS", "Form", "FormError", "recognise"]


def recognise(text: str) -> tuple[Form, dict[str, int | tuple[int, ...]]]:
    """The form of a file and its numbers. Raises FormError for anything else."""
    for form in FORMS.values():
        numbers = form.read(text)
        if numbers is not None:
            if form.write(numbers) != text:
                raise FormError("it is not what is written for its own numbers")
            return form, numbers
    raise FormError("it is not a file that `--coq` writes, and nothing else is compiled")


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
    bits = "(binomial (Z.to_nat {t}) (1 / 2))"
    # how fine and how far a grid of losses goes, then the claim and the precision of exp
    grid = (
        "{m} {g} (Z.to_nat {e}) (Z.to_nat {f}) (Z.to_nat {h}) (Z.to_nat {j}) "
        "{a} {b} {n} {d} {p} {r}"
    )
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
            words.noise(words.laplace_law),
        ),
        Form(
            "discrete Laplace mod m, pure, VERIFIED",
            "DiscreteLaplace",
            f"noise_mod_dp (discrete_laplace ({{t}} / {{u}})) {{m}} {{s}} {claim}",
            "laplace_mod_dp {t} {u} {m} {s} {a} {b} {n} {d}",
            words.reduced,
        ),
        Form(
            "discrete Laplace, pure, REFUTED",
            "DiscreteLaplace",
            f"noise_not_dp {laplace} {pure}",
            "laplace_not_dp {t} {u} {s} {a} {b}",
            words.noise(words.laplace_law),
        ),
        Form(
            "discrete Laplace, K uses, pure, VERIFIED",
            "Lattice",
            f"noise_uses_dp {uses} {claim}",
            f"pure_uses_dp {lattice} {{a}} {{b}} {{n}} {{d}}",
            words.answers(words.laplace_law),
        ),
        Form(
            "discrete Laplace, K uses, VERIFIED",
            "ListSums",
            f"noise_uses_dp {uses} {claim}",
            f"lattice_dp {lattice} {precise}",
            words.answers(words.laplace_law),
        ),
        Form(
            "discrete Laplace, K uses, REFUTED",
            "ListSums",
            f"noise_uses_not_dp {uses} {claim}",
            f"lattice_not_dp {lattice} {precise}",
            words.answers(words.laplace_law),
        ),
        Form(
            "discrete Gaussian, VERIFIED",
            "DiscreteGaussian",
            f"{gaussian} noise_dp f {{s}} {claim}",
            f"gauss_dp {around}",
            words.noise(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, REFUTED",
            "DiscreteGaussian",
            f"{gaussian} noise_not_dp f {{s}} {claim}",
            f"gauss_not_dp {around}",
            words.noise(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, zero-concentrated, VERIFIED",
            "Concentrated",
            f"{gaussian} noise_zcdp f {{s}} ({{a}} / {{b}})",
            "zcdp_dp {t} {u} {s} {a} {b}",
            words.noise(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, zero-concentrated, REFUTED",
            "Concentrated",
            f"{gaussian} noise_not_zcdp f {{s}} ({{a}} / {{b}})",
            "zcdp_not_dp {t} {u} {s} {a} {b}",
            words.noise(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, K uses, zero-concentrated, VERIFIED",
            "Concentrated",
            f"{gaussian} noise_uses_zcdp f (Z.to_nat {{k}}) {{s}} ({{a}} / {{b}})",
            "zcdp_uses_dp (Z.to_nat {k}) {t} {u} {s} {a} {b}",
            words.answers(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, K uses, zero-concentrated, REFUTED",
            "Concentrated",
            f"{gaussian} noise_uses_not_zcdp f (Z.to_nat {{k}}) {{s}} ({{a}} / {{b}})",
            "zcdp_uses_not_dp (Z.to_nat {k}) {t} {u} {s} {a} {b}",
            words.answers(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, Renyi, VERIFIED",
            "Concentrated",
            f"{gaussian} noise_uses_renyi f (Z.to_nat {{k}}) {{s}} ({{c}} / {{o}}) ({{a}} / {{b}})",
            "gauss_renyi_dp (Z.to_nat {k}) {t} {u} {s} {c} {o} {a} {b}",
            words.answers(words.gaussian_law),
        ),
        Form(
            "discrete Gaussian, Renyi, REFUTED",
            "Concentrated",
            f"{gaussian} noise_uses_not_renyi f (Z.to_nat {{k}}) {{s}} "
            "({c} / {o}) ({a} / {b})",
            "gauss_renyi_not_dp (Z.to_nat {k}) {t} {u} {s} {c} {o} {a} {b}",
            words.answers(words.gaussian_law),
        ),
        Form(
            "Skellam, VERIFIED",
            "Skellam",
            f"{skellam} noise_dp f {{s}} {claim}",
            f"skellam_dp {ratios}",
            words.noise(words.skellam_law),
        ),
        Form(
            "Skellam, REFUTED",
            "Skellam",
            f"{skellam} noise_not_dp f {{s}} {claim}",
            f"skellam_not_dp {ratios}",
            words.noise(words.skellam_law),
        ),
        Form(
            "binomial, VERIFIED",
            "Binomial",
            f"noise_dp {binomial} {claim}",
            f"binomial_dp (Z.to_nat {{t}}) {{u}} {{v}} {{s}} {precise}",
            words.noise(words.binomial_law),
        ),
        Form(
            "binomial, REFUTED",
            "Binomial",
            f"noise_not_dp {binomial} {claim}",
            f"binomial_not_dp (Z.to_nat {{t}}) {{u}} {{v}} {{s}} (Z.to_nat {{s}}) {precise}",
            words.noise(words.binomial_law),
        ),
        Form(
            "fair bits, sensitivity 1, VERIFIED",
            "BinomialTail",
            f"noise_dp {fair} {claim}",
            f"tail_dp (Z.to_nat {{t}}) (Z.to_nat {{m}}) {precise}",
            words.noise(words.binomial_law),
        ),
        Form(
            "fair bits, sensitivity 1, REFUTED",
            "BinomialTail",
            f"noise_not_dp {fair} {claim}",
            f"tail_not_dp (Z.to_nat {{t}}) (Z.to_nat {{m}}) {precise}",
            words.noise(words.binomial_law),
        ),
        Form(
            "Skellam, K uses, VERIFIED",
            "SkellamUses",
            f"{skellam} noise_uses_dp f (Z.to_nat {{k}}) {{s}} {claim}",
            "skellam_uses_dp (Z.to_nat {k}) {t} {u} (Z.to_nat {s}) {q} (Z.to_nat {o}) "
            f"(Z.to_nat {{l}}) {grid}",
            words.answers(words.skellam_law),
        ),
        Form(
            "discrete Gaussian, K uses, VERIFIED",
            "GaussianUses",
            f"{gaussian} noise_uses_dp f (Z.to_nat {{k}}) {{s}} {claim}",
            f"gauss_uses_dp (Z.to_nat {{k}}) {{t}} {{u}} (Z.to_nat {{s}}) (Z.to_nat {{l}}) {grid}",
            words.answers(words.gaussian_law),
        ),
        Form(
            "fair bits, K uses, VERIFIED",
            "BinomialUses",
            f"noise_uses_dp {bits} (Z.to_nat {{k}}) {{s}} {claim}",
            f"bits_uses_dp (Z.to_nat {{k}}) (Z.to_nat {{t}}) (Z.to_nat {{s}}) {grid}",
            words.answers(words.binomial_law),
        ),
        Form(
            "randomized response, pure, VERIFIED",
            "RandomizedResponse",
            f"dp differ {response} {claim}",
            "pure_answers_dp (Z.to_nat {k}) {e} {f} {a} {b} {n} {d}",
            words.response,
        ),
        Form(
            "randomized response, pure, REFUTED",
            "RandomizedResponse",
            f"not_dp differ {response} {pure}",
            "pure_answers_not_dp (Z.to_nat {k}) {e} {f} {a} {b}",
            words.response,
        ),
        Form(
            "randomized response, VERIFIED",
            "ResponseUses",
            f"list_dp (repeat (Response ({{e}} / {{f}})) (Z.to_nat {{k}})) {claim}",
            f"answers_uses_dp (Z.to_nat {{k}}) {{e}} {{f}} {precise}",
            words.bits,
        ),
        Form(
            "randomized response, REFUTED",
            "RandomizedResponse",
            f"not_dp differ {response} {claim}",
            f"answers_are_not_dp (Z.to_nat {{k}}) {{e}} {{f}} {precise}",
            words.response,
        ),
        Form(
            "randomized response, Renyi, VERIFIED",
            "RenyiPairs",
            f"renyi_dp differ {response} ({{c}} / {{o}}) ({{a}} / {{b}})",
            "response_renyi_dp (Z.to_nat {k}) {e} {f} {c} {o} {a} {b} {p} {r}",
            words.response,
        ),
        Form(
            "randomized response, Renyi, REFUTED",
            "RenyiPairs",
            f"not_renyi_dp differ {response} ({{c}} / {{o}}) ({{a}} / {{b}})",
            "response_renyi_not_dp (Z.to_nat {k}) {e} {f} {c} {o} {a} {b} {p} {r}",
            words.response,
        ),
        Form(
            "pair of tables, Renyi, VERIFIED",
            "RenyiPairs",
            f"renyi_dp differ {pair} ({{c}} / 1) ({{a}} / {{b}})",
            "tables_renyi_dp list_a list_b (Z.to_nat {k}) {c} {a} {b} {p} {r}",
            words.pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, Renyi, REFUTED",
            "RenyiPairs",
            f"not_renyi_dp differ {pair} ({{c}} / 1) ({{a}} / {{b}})",
            "tables_renyi_not_dp list_a list_b (Z.to_nat {k}) {c} {a} {b} {p} {r}",
            words.pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, VERIFIED",
            "Pairs",
            f"dp differ {pair} {claim}",
            f"pair_dp list_a list_b (Z.to_nat {{k}}) {precise}",
            words.pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, REFUTED",
            "Pairs",
            f"not_dp differ {pair} {claim}",
            f"pair_not_dp list_a list_b (Z.to_nat {{k}}) {precise}",
            words.pair,
            ("A", "B"),
        ),
        Form(
            "pair of tables, on a grid, VERIFIED",
            "PairUses",
            f"dp differ {pair} {claim}",
            f"pair_uses_dp list_a list_b (Z.to_nat {{k}}) {grid}",
            words.pair,
            ("A", "B"),
        ),
        Form(
            "list of uses, pure, VERIFIED",
            "PureLists",
            f"list_dp (uses_in list_w) {claim}",
            "pure_list_dp list_w {a} {b} {n} {d}",
            words.listed,
            ("W",),
        ),
        Form(
            "list of uses, VERIFIED",
            "ListSums",
            f"list_dp (uses_in list_w) {claim}",
            f"mixed_dp list_w {precise}",
            words.listed,
            ("W",),
        ),
        Form(
            "list of uses, REFUTED",
            "ListSums",
            f"list_not_dp (uses_in list_w) {claim}",
            f"mixed_not_dp list_w {precise}",
            words.listed,
            ("W",),
        ),
        Form(
            "list of Gaussians, zero-concentrated, VERIFIED",
            "Vectors",
            "vectors_zcdp (vectors_in list_v) ({a} / {b})",
            "vectors_zcdp_dp list_v {a} {b}",
            words.vectors,
            ("V",),
        ),
        Form(
            "list of Gaussians, zero-concentrated, REFUTED",
            "Vectors",
            "vectors_not_zcdp (vectors_in list_v) ({a} / {b})",
            "vectors_zcdp_not_dp list_v {a} {b}",
            words.vectors,
            ("V",),
        ),
        Form(
            "list of Gaussians, Renyi, VERIFIED",
            "Vectors",
            "vectors_renyi (vectors_in list_v) ({c} / {o}) ({a} / {b})",
            "vectors_renyi_dp list_v {c} {o} {a} {b}",
            words.vectors,
            ("V",),
        ),
        Form(
            "list of Gaussians, Renyi, REFUTED",
            "Vectors",
            "vectors_not_renyi (vectors_in list_v) ({c} / {o}) ({a} / {b})",
            "vectors_renyi_not_dp list_v {c} {o} {a} {b}",
            words.vectors,
            ("V",),
        ),
        Form(
            "list of Gaussians, VERIFIED",
            "Vectors",
            f"vectors_dp (vectors_in list_v) {claim}",
            f"vectors_are_dp list_v {{c}} {{o}} {precise}",
            words.vectors,
            ("V",),
        ),
        Form(
            "sampled Gaussians, Renyi, VERIFIED",
            "SampledGaussians",
            "sampled_renyi (sampled_in list_u) ({c} / 1) ({a} / {b})",
            "sampled_renyi_dp list_u {c} {a} {b} {p} {r}",
            words.sampled,
            ("U",),
        ),
        Form(
            "sampled Gaussians, VERIFIED",
            "SampledGaussians",
            f"sampled_dp (sampled_in list_u) {claim}",
            f"sampled_are_dp list_u {{c}} {precise}",
            words.sampled,
            ("U",),
        ),
    ]


FORMS = {form.title: form for form in _forms()}
