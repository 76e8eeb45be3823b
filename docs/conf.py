"""The site: `make docs`. Nothing is fetched but Python for the browser; notebooks are run."""

import importlib.metadata
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "browser"))

project = "exactdp"
copyright = "exactdp contributors"
release = importlib.metadata.version("exactdp")
html_title = f"exactdp {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
pygments_dark_style = "monokai"
templates_path: list[str] = []

myst_heading_anchors = 4  # links to headings, as on a code host
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autosummary_generate = False
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_member_order = "groupwise"
autodoc_class_signature = "mixed"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 80
suppress_warnings = ["ref.python"]  # one class under its own name and the front door's


def _inline(text: str) -> str:
    """`code` as literal; what is markup in reStructuredText and not meant so, escaped."""
    parts = re.split(r"`+([^`]+)`+", text)
    prose = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    code = [f"``{part}``" for part in parts[1::2]] + [""]
    # A literal must not touch a word.
    joined = "".join(f"{a}\0{b}\0" if b else a for a, b in zip(prose, code, strict=True))
    return re.sub(r"(?<=\w)\0|\0(?=\w)", r"\\ ", joined).replace("\0", "")


def _paragraph(lines: list[str]) -> list[str]:
    if lines[0].lstrip().startswith(">>>"):
        return lines
    if any(line.startswith(" ") for line in lines):  # a table, a formula, code
        if not lines[0].startswith(" "):
            lines = [" " + line for line in lines]
        return ["::", "", *("    " + line for line in lines)]
    return [_inline(line) for line in "\n".join(lines).split("\n")]


def _to_rst(app, what, name, obj, options, lines) -> None:
    """Docstrings are plain text: paragraphs, examples, indented blocks that stay as they are."""
    if lines and lines[0].startswith("Alias for field number"):  # said by namedtuple of each
        lines.clear()
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    lines[:] = [line for found in paragraphs if found for line in [*_paragraph(found), ""]]


def _browser_checker(app, error) -> None:
    """`check/`: the page on which certificates are checked."""
    if error is None and app.builder.format == "html":
        from browser_checker import build

        if not build(Path(app.outdir) / "check", HERE.parent / "build" / "pyodide"):
            print("check/ cannot check: npm, which brings Python for the browser, is not there")


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _to_rst)
    app.connect("build-finished", _browser_checker)
