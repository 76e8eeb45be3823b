"""The page on which the standalone checker runs in a browser: `check/` of the built site.

Python for the browser is the npm package pyodide, its core only (13 MB), obtained by npm while the
site is built and kept in build/. Without npm the page says so, and how to check otherwise.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from base64 import b64decode
from pathlib import Path

from exactdp.report.page import read_file
from exactdp.verify.checker.pack import pack

HERE = Path(__file__).parent
VERSION = "314.0.7"
_SHA512 = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)
_SECONDS = 120
_WITHOUT = (
    "This copy of the site was built without Python for the browser. Check a certificate by "
    "python3 exactdp-check.pyz FILE, with the file that is linked below."
)


def build(target: Path, kept: Path) -> bool:
    """Write the page into this folder; can it check? kept: where a download is kept."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in ("index.html", "check.js", "worker.mjs"):
        shutil.copyfile(HERE / name, target / name)
    (target / "style.css").write_text(read_file("style.css"), encoding="utf-8")
    pack(target / "exactdp-check.pyz")
    if complete := _pyodide(kept):
        shutil.copytree(kept, target / "pyodide")
    else:
        page = (target / "index.html").read_text(encoding="utf-8")
        page = page.replace('<script src="check.js" defer></script>\n', "")
        page = page.replace("loading the checker …", _WITHOUT)
        (target / "index.html").write_text(page, encoding="utf-8")
    return complete


def _pyodide(kept: Path) -> bool:
    """Have its core in this folder, by npm if it is not there yet; is it?"""
    if all((kept / name).is_file() for name in _FILES):
        return True
    if (npm := shutil.which("npm")) is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"pyodide@{VERSION}"]
        try:
            subprocess.run(command, cwd=folder, check=True, timeout=_SECONDS, capture_output=True)
        except (OSError, subprocess.SubprocessError):
            return False
        (archive,) = Path(folder).glob("*.tgz")
        if hashlib.sha512(archive.read_bytes()).digest() != b64decode(_SHA512):
            raise ValueError(f"pyodide {VERSION} is not what it was")
        with tarfile.open(archive) as held:
            held.extractall(folder, filter="data")
        kept.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            shutil.copyfile(Path(folder, "package", name), kept / name)
    return True
