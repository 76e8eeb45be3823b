"""What a page shows, read back from its HTML; and the JSON that it holds."""

import json
from html.parser import HTMLParser
from typing import Any


class Shown(HTMLParser):
    """Tables and facts by section, every cell as (text, lower, upper); tags; links; headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[tuple[str, str | None, str | None]]]]] = {}
        self.facts: dict[str, list[tuple[str, str | None, str | None]]] = {}
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.figures: Any = None
        self._section, self._text, self._ends = "", "", (None, None)
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.tags.append((tag, held))
        self.links += [held[name] for name in ("href", "src", "xlink:href") if name in held]
        if tag == "section":
            self._section = held["id"]
            self.tables[self._section], self.facts[self._section] = [], []
        elif tag == "table":
            self.tables[self._section].append([])
        elif tag == "tr":
            self.tables[self._section][-1].append([])
        if tag in ("td", "dd", "th", "script"):
            self._text, self._ends = "", (None, None)
        if "data-lower" in held:
            self._ends = (held["data-lower"], held["data-upper"])

    def handle_data(self, data):
        self._text += data

    def handle_endtag(self, tag):
        cell = (self._text.strip(), *self._ends)
        if tag == "td":
            self.tables[self._section][-1][-1].append(cell)
        elif tag == "dd":
            self.facts[self._section].append(cell)
        elif tag == "script":
            self.figures = json.loads(self._text)


def cell(value: Any) -> tuple[str | None, str | None, str | None]:
    """A cell of the JSON as `Shown` has it; the text of an enclosure is None."""
    return (
        (None, value["lower"], value["upper"]) if isinstance(value, dict) else (value, None, None)
    )
