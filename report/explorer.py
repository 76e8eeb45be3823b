"""The explorer's page: what one asks, read from the query of its address, and what is certified.

The query is the whole state: a page is shared by its address, and works without scripts. Mechanisms
and their keys are those of the catalogue, but for the ones that read files.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Mapping
from fractions import Fraction
from urllib.parse import parse_qsl, urlencode

from attrs import Factory, evolve, frozen

from ..accounting.figure import Figure
from ..common.suggest import meant
from ..exact import (
    Enclosure,
    OutOfTimeError,
    ParameterError,
    exact,
    time_left,
    time_limit,
    whole,
)
from ..mechanisms.fields.schema import Entry, Key
from ..mechanisms.specs.catalogue import entries
from ..mechanisms.specs.spec import Spec, parse
from ..verify import parse_claim
from .costs import STEPS
from .least import least
from .page import Picture, read_file, template
from .pictures import profile_svg, tradeoff_svg
from .subject import Subject

LONGEST = 4096  # characters of a query
_MOST_FIELDS = 64
_MOST_TIMES = 10**9
_FIRST = "discrete-laplace"
_ABOUT = {  # besides the mechanism's own keys: what each takes, what it says, what it starts as
    "times": Key("a whole number, 1 to 1e9", "how often it is released, adaptively", "1"),
    "at": Key("a number above 0, below 1", "δ, at which ε is shown", "1e-6"),
    "target": Key("a number above 0", "ε, for which the least noise is sought; empty: it is not"),
}
_LABELS = {"neighbours": "adjacency", "times": "releases", "at": "at δ", "target": "target ε"}
FILES = {  # what the page consists of besides, by its path: the kind and the text
    "/explorer.js": ("text/javascript", read_file("explorer.js")),
    "/style.css": ("text/css", read_file("style.css")),
}
_SHOWN = ("sensitivity", "neighbours", "poisson", "fixed-size", "shuffled")  # not folded away
_CHOICE = re.compile(r"[a-z-]+(?:, [a-z-]+)* or [a-z-]+")
_FIGURES, _LEAST, _CURVES = 0.3, 0.35, 0.7  # of the time that is left


@frozen
class Input:
    """One input of the form: its key, what it means, and the text in it."""

    key: str
    meaning: Key
    value: str
    needed: bool
    folded: bool

    @property
    def label(self) -> str:
        """What stands above it."""
        return _LABELS.get(self.key, self.key)

    @property
    def choices(self) -> list[str]:
        """What can be chosen, where the key names all of it."""
        takes = self.meaning.takes
        return re.split(r", | or ", takes) if _CHOICE.fullmatch(takes) else []


@frozen
class Question:
    """What the form holds: a mechanism by name, the text of each key, and of `_ABOUT`."""

    name: str
    values: Mapping[str, str]
    about: Mapping[str, str]
    unknown: str = ""

    @property
    def entry(self) -> Entry:
        return mechanisms()[self.name]

    @property
    def inputs(self) -> list[Input]:
        """Of the mechanism: those that matter most first, the others folded unless given."""
        first = (*self.entry.needs, *self._example, *_SHOWN)
        ordered = sorted(self.entry.keys.items(), key=lambda item: item[0] not in first)
        return [
            Input(
                key,
                meaning,
                self.values.get(key, ""),
                key in self.entry.needs,
                key not in first and not self.values.get(key),
            )
            for key, meaning in ordered
        ]

    @property
    def others(self) -> list[Input]:
        """Besides the mechanism: how often, at which δ, for which target."""
        return [Input(key, of, self.about[key], False, False) for key, of in _ABOUT.items()]

    @property
    def query(self) -> str:
        """What an address ends with."""
        return urlencode({"name": self.name, **self.values, **self.about})

    @property
    def _example(self) -> dict[str, str]:
        return example(self.name)

    @property
    def spec(self) -> str:
        """The mechanism as specs write it. Raises ParameterError for a value that is not one."""
        parts: list[str] = []
        for key, value in self.values.items():
            if key == "claim":
                parts.insert(0, value)
            elif "," in value:
                raise ParameterError(f"{key} must hold no comma, got {value[:40]!r}")
            else:
                parts.append(f"{key}={value}")
        return f"{self.name}:{','.join(parts)}" if parts else self.name


def mechanisms() -> dict[str, Entry]:
    """The catalogue without what is read from files: a page asks for no file."""
    return {name: entry for name, entry in entries().items() if "file" not in entry.keys}


def example(name: str) -> dict[str, str]:
    """The keys of a mechanism's example."""
    return dict(part.split("=", 1) for part in mechanisms()[name].example.split(","))


def read(query: str) -> Question:
    """Read a query: anything at all gives a question, with one line about what it is not."""
    try:
        if len(query) > LONGEST:
            raise ValueError
        given = dict(parse_qsl(query, max_num_fields=_MOST_FIELDS, errors="strict"))
    except ValueError:
        return _asked({}, "", "the address is too long, or is none")
    name = given.pop("name", _FIRST)
    was = given.pop("was", name)
    if name not in mechanisms():
        message = f"name must be a mechanism that reads no file, got {name[:40]!r}"
        return _asked({}, "", message + meant(name, mechanisms()))
    return _asked(given, name, "", fresh=was != name)


def _asked(given: dict[str, str], name: str, unknown: str, fresh: bool = False) -> Question:
    """fresh: the mechanism was just chosen, so that it starts as its example."""
    name = name or _FIRST
    about = {key: given.pop(key, of.default).strip() for key, of in _ABOUT.items()}
    keys = mechanisms()[name].keys
    for key in given:
        if key not in keys and not fresh and not unknown:
            unknown = f"{name}: {key[:40]!r} is not known{meant(key, keys)}"
    values = {key: given[key].strip() for key in keys if given.get(key, "").strip()}
    return Question(name, example(name) if fresh or not values else values, about, unknown)


@frozen
class Row:
    """A figure: its name, the certified value, and what else is to be said."""

    name: str
    value: Enclosure
    remark: str = ""


@frozen
class Answer:
    """error: one line about the input, or where what was asked stays open; key: of which input.

    late: how much longer it took than was allowed, on a busy machine; else "".
    """

    question: Question
    error: str = ""
    key: str = ""
    rows: list[Row] = Factory(list)
    pictures: list[Picture] = Factory(list)
    lines: Mapping[str, str] = Factory(dict)
    facts: Mapping[str, str] = Factory(dict)
    late: str = ""

    def html(self) -> str:
        """The page. Raises ImportError without jinja2."""
        return str(template("explorer.html.j2").render(answer=self, mechanisms=mechanisms()))


def answer(query: str, seconds: float) -> Answer:
    """What is certified of what this query asks, in so many seconds."""
    question = read(query)
    if question.unknown:
        return _refused(question, question.unknown)
    try:
        began = time.monotonic()
        with time_limit(seconds):
            found = _answer(question)
        took = time.monotonic() - began
        late = (
            f"It took {took:.1f} s, --time is {seconds:g}: a busy machine. What is quick is told."
        )
        return found if took <= seconds else evolve(found, late=late)
    except ParameterError as error:
        return _refused(question, str(error))
    except (OutOfTimeError, ArithmeticError, NotImplementedError) as error:
        return _refused(question, f"undecided: {error}")
    except MemoryError:
        return _refused(question, "undecided: out of memory")


def _refused(question: Question, message: str) -> Answer:
    """One line, and the input that it names first; `at` is a word as well, unless it begins."""
    begins = message.partition(" ")[0]
    if begins in _ABOUT:
        return Answer(question, message, begins)
    keys = map(re.escape, sorted(question.entry.keys, key=len, reverse=True))
    named = re.search(rf"(?<![\w-])(?:{'|'.join(keys)})(?![\w-])", message)
    return Answer(question, " ".join(message.split()), named[0] if named else "")


def _answer(question: Question) -> Answer:
    times = whole(question.about["times"], "times", at_least=1, at_most=_MOST_TIMES)
    delta = exact(question.about["at"], "at", above=0, below=1)
    text = question.about["target"]
    target = exact(text, "target", above=0) if text else None
    spec = parse(question.spec)
    subject = Subject([(spec, times)], [], [delta])
    at = question.about["at"]
    figures = {
        f"ε at δ = {at}": Figure("epsilon", delta),
        "pure ε": Figure("epsilon", Fraction(0)),
        "ρ of zero-concentrated DP": Figure("zcdp"),
        "μ of Gaussian DP": Figure("gdp"),
    }
    with time_limit(_FIGURES * time_left()):
        for waiting, figure in zip(range(len(figures), 0, -1), figures.values(), strict=True):
            subject.figure(figure, time_left() / waiting)
    sought = [] if target is None else [_least(question, times, f"approx:{text},{at}")]
    pictures = _pictures(subject)
    subject.known.close(subject.figures)
    rows = [Row(name, subject.known.of(figure)) for name, figure in figures.items()]
    rows += sought
    used = spec.text if times == 1 else f"{spec.text}*{times}"
    return Answer(
        question,
        rows=rows,
        pictures=pictures,
        lines={
            "spec": used,
            "shell": f"exactdp compose {shlex.quote(used)} --delta {shlex.quote(at)}",
            "Python": f"exactdp.mechanism({json.dumps(used)}).epsilon(delta={json.dumps(at)})",
        },
        facts=_facts(subject, spec),
    )


def _facts(subject: Subject, spec: Spec) -> dict[str, str]:
    found = {key: value for key, value in spec.to_json().items() if key != "spec"}
    about = {
        "adjacency": subject.adjacency,
        "sampling": subject.sampling,
    }
    return {key.replace("_", " "): value for key, value in (found | about).items()}


def _pictures(subject: Subject) -> list[Picture]:
    """The privacy profile and the trade-off curve."""
    try:
        with time_limit(_CURVES * time_left()):
            known = subject.profile
            errors = subject.composition.tradeoff(points=STEPS, known=known)
    except OutOfTimeError:
        return []
    return [
        Picture(profile_svg(known), "The privacy profile: the least δ at every ε."),
        Picture(tradeoff_svg(errors), "The trade-off curve: the least errors of an adversary."),
    ]


def _least(question: Question, times: int, claim: str) -> Row:
    with time_limit(_LEAST * time_left()):
        found = least(question.name, question.values, times, parse_claim(claim))
    return Row(f"{found.parameter} for {claim}", found.value, found.remark)
