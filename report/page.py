"""A page: sections of facts, tables, pictures and files. HTML and JSON are made from the same."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from attrs import field, frozen

from ..common.extra import bring
from ..common.table import Cell, Table, html_text

FORMAT, VERSION = "exactdp report", 1


@frozen
class Picture:
    """An <svg>, and what it shows, for those who do not see it."""

    svg: str
    caption: str


@frozen
class File:
    """A file inside the page, with what to type to check it."""

    name: str
    content: str
    check: str

    @property
    def sha256(self) -> str:
        """Of the file's bytes, UTF-8."""
        return hashlib.sha256(self.content.encode()).hexdigest()

    @property
    def link(self) -> str:
        """The file as a link that holds it."""
        kind = "application/json" if self.name.endswith(".json") else "text/plain"
        return f"data:{kind};base64,{base64.b64encode(self.content.encode()).decode()}"

    def to_json(self) -> dict[str, str]:
        """Its name, its digest, and all of it as text: the bytes that the digest is of."""
        return {"name": self.name, "sha256": self.sha256, "content": self.content}


@frozen
class Section:
    """key: unique on the page. text: paragraphs. facts: names and what they are."""

    key: str
    title: str
    text: Sequence[str] = ()
    facts: Mapping[str, Cell] = field(factory=dict)
    points: Sequence[str] = ()
    tables: Sequence[Table] = ()
    picture: Picture | None = None
    files: Sequence[File] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it but the picture, whose points are a table."""
        shown: dict[str, Any] = {"key": self.key, "title": self.title}
        several = {"text": self.text, "points": self.points, "tables": self.tables}
        shown |= {name: [*held] for name, held in several.items() if held}
        shown |= {"facts": dict(self.facts)} if self.facts else {}
        return shown | ({"files": [*self.files]} if self.files else {})


@frozen
class Page:
    """made: who made it and when. owner: whose it is, where somebody says."""

    title: str
    summary: str
    made: Mapping[str, str]
    sections: Sequence[Section]
    owner: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Everything that the page says."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "title": self.title,
            **({} if self.owner is None else {"owner": self.owner}),
            "summary": self.summary,
            "made": dict(self.made),
            "sections": [*self.sections],
        }

    def html(self) -> str:
        """One HTML file that asks nobody for anything. Raises ImportError without jinja2."""
        text = template("page.html.j2").render(page=self, data=self._data())
        return str(text)

    def _data(self) -> str:
        """JSON that may stand inside <script>: nothing in it ends the element."""
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False, default=_plain)
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def template(name: str) -> Any:
    """A page to be filled in, all text in it escaped. Raises ImportError without jinja2."""
    jinja2 = bring("jinja2", "report")
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FunctionLoader(read_file),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["shown"] = html_text
    return environment.get_template(name)


def read_file(name: str) -> str:
    """The text of a file that pages are made of."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _plain(value: Any) -> object:
    return value.to_json()
