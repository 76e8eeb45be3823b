"""The site: `make docs`. Nothing is fetched but Python for the browser; notebooks are run."""

import importlib.metadata
import re
import sys
from pathlib import Path

import latex2mathml.converter
from docutils import nodes
from sphinx import addnodes

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "browser")]

import docstrings  # noqa: E402

project = "exactdp"
copyright = "exactdp contributors"
release = importlib.metadata.version("exactdp")
html_title = f"exactdp {release}"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
# The colours and letters of reports and of the explorer (report/style.css), light and dark.
_LETTERS = 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif'
_CODE = 'ui-monospace, "Cascadia Mono", Menlo, "DejaVu Sans Mono", monospace'
_LOOK = {
    "color-foreground-primary": ("#1b1f24", "#e6e9ed"),
    "color-foreground-secondary": ("#57606a", "#a5aeb8"),
    "color-background-primary": ("#ffffff", "#14171b"),
    "color-background-secondary": ("#f5f7f9", "#1d2127"),
    "color-background-border": ("#d5dae0", "#3a414a"),
    "color-code-background": ("#f5f7f9", "#1d2127"),
    "color-brand-primary": ("#0b5cad", "#79b8ff"),
    "color-brand-content": ("#0b5cad", "#79b8ff"),
    "color-brand-visited": ("#0b5cad", "#79b8ff"),
}
html_theme_options = {
    "light_css_variables": {"font-stack": _LETTERS, "font-stack--monospace": _CODE}
    | {name: light for name, (light, _) in _LOOK.items()},
    "dark_css_variables": {name: dark for name, (_, dark) in _LOOK.items()},
}
html_show_sphinx = False
pygments_dark_style = "monokai"
templates_path: list[str] = []

myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_digits = False
html_math_renderer = "mathml"
myst_heading_anchors = 4  # links to headings, as on a code host
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
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
    """Docstrings are plain text: what they say of arguments, results and errors become lists."""
    if lines and lines[0].startswith("Alias for field number"):  # said by namedtuple of each
        lines.clear()
    names = [] if what == "module" else docstrings.arguments(obj)
    found = docstrings.parts(lines, names)
    said = {key: _inline(text) for key, text in found.arguments.items()}
    told = {key: docstrings.EVERYWHERE[key] for key in names if key in docstrings.EVERYWHERE} | said
    fields = [f":param {key}: {told[key]}" for key in names if key in told]
    fields += [f":Returns: {_inline(text)}" for text in found.returns]
    fields += [f":Raises: {_inline(text)}" for text in found.raises]
    examples = [one for one in found.paragraphs if one[0].lstrip().startswith(">>>")]
    prose = [one for one in found.paragraphs if one not in examples]
    blocks = [*map(_paragraph, prose), fields, *([_inline(text)] for text in found.sources)]
    lines[:] = [line for block in [*blocks, *examples] if block for line in [*block, ""]]


def _signature(app, what, name, obj, options, signature, returned):
    """Signatures by the names of the source: what attrs makes of them says them at length."""
    if signature:
        number = r"int \| float \| str \| ~?(fractions\.)?Fraction \| ~?(decimal\.)?Decimal"
        signature = re.sub(number, "ExactInput", signature)
        signature = re.sub(r"attr_dict\['\w+'\]\.default", "...", signature)
    return signature, returned


def _browser_checker(app, error) -> None:
    """`check/`: the page on which certificates are checked."""
    if error is None and app.builder.format == "html":
        from browser_checker import build

        if not build(Path(app.outdir) / "check", HERE.parent / "build" / "pyodide"):
            print("check/ cannot check: npm, which brings Python for the browser, is not there")


def _words(app, doctree) -> None:
    """The field's words, of the glossary's table: whoever searches for one finds its row first."""
    if app.env.docname != "notions/glossary":
        return
    (table,) = doctree.findall(nodes.tbody)
    for number, row in enumerate(table.children):
        cell = row.children[0]
        cell["ids"].append(target := f"word-{number}")
        words = cell.astext().split(", ")
        cell += addnodes.index(entries=[("single", word, target, "main", None) for word in words])


def _formula(display: str):
    """Formulas as MathML, which browsers set by themselves: no script, nothing to fetch."""

    def visit(writer, node) -> None:
        writer.body.append(latex2mathml.converter.convert(node.astext(), display=display))
        raise nodes.SkipNode

    return visit, None


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", _formula("inline"), _formula("block"))
    for module, names in docstrings.public():
        for name in names:  # what is imported where it is first asked for
            setattr(module, name, getattr(module, name))
    app.connect("autodoc-process-docstring", _to_rst)
    app.connect("autodoc-process-signature", _signature)
    app.connect("doctree-read", _words)
    app.connect("build-finished", _browser_checker)
