"""The checker alone: mpmath and the standard library, in one file, the same bytes each time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from certificates import edited

from exactdp import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from exactdp.accounting import compose
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, DiscreteLaplace, FinitePair, Skellam
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of
from exactdp.verify.checker.pack import pack

AUDITS = {
    "pure": (compose(AdditiveNoise(DiscreteLaplace(10), 1)), PureDP("0.1")),
    "approx": (compose((AdditiveNoise(DiscreteGaussian(9), 1), 4)), ApproxDP(1, "1e-3")),
    "rdp": (compose(AdditiveNoise(Skellam(20), 2)), RenyiDP(2, "0.3")),
    "zcdp": (compose(FinitePair(("a", "b"), ("0.5", "0.5"), ("0.4", "0.6"))), ZCDP(1)),
    "gdp": (compose(AdditiveNoise(Skellam(20), 2)), GaussianDP("0.5")),
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("checker") / "exactdp-check.pyz"
    pack(path)
    return path


def run(archive, *words):
    """In isolation: neither the site's packages nor the environment are seen."""
    command = [sys.executable, "-I", "-S", str(archive), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("kind", AUDITS)
def test_it_accepts_what_is_true_and_nothing_else(archive, tmp_path, kind):
    certificate = certificate_of(audit(*AUDITS[kind]))
    path = tmp_path / "certificate.json"
    certificate.write(path)
    done = run(archive, str(path))
    assert done.returncode == 0, done.stderr
    assert "valid: re-established" in done.stdout
    turned = {"VERIFIED": "REFUTED", "REFUTED": "VERIFIED"}[certificate.verdict.name]
    path.write_text(json.dumps(edited(certificate.content, ("verdict",), turned)))
    assert run(archive, str(path)).returncode == 1


def test_the_same_bytes_each_time(archive, tmp_path):
    again = tmp_path / "again.pyz"
    pack(again)
    assert again.read_bytes() == archive.read_bytes()


def test_it_is_made_without_the_package(archive, tmp_path):
    """As `make checker` does: with mpmath alone, and nothing of exactdp imported."""
    script, again = Path(pack.__code__.co_filename), tmp_path / "again.pyz"
    code = (
        "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__');"
        "sys.exit(' '.join({'exactdp', 'flint', 'numpy', 'scipy'} & {*sys.modules}) or 0)"
    )
    command = [sys.executable, "-I", "-c", code, str(script), str(again)]
    subprocess.run(command, check=True)
    assert again.read_bytes() == archive.read_bytes()


BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        first = name.partition(".")[0]
        if first not in {"__main__", "exactdp", "mpmath", *sys.stdlib_module_names}:
            raise ModuleNotFoundError(f"{name} is not installed", name=name)

sys.meta_path.insert(0, Blocked())
"""  # FLINT, numpy, scipy, sympy, attrs, typer, rich and whatever else there is


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """An environment with Python and mpmath alone: importing anything else fails."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "sitecustomize.py").write_text(BLOCKED)
    return {**os.environ, "PYTHONPATH": str(folder)}


def started(bare, *words):
    return subprocess.run(
        [sys.executable, *words], env=bare, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name", ["flint", "numpy", "scipy", "sympy", "attrs", "typer", "rich"])
def test_the_bare_environment_is_bare(bare, name):
    assert f"{name} is not installed" in started(bare, "-c", f"import {name}").stderr


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("packed", [False, True], ids=["module", "archive"])
def test_python_and_mpmath_are_all_it_needs(bare, archive, tmp_path, packed):
    path = tmp_path / "certificate.json"
    certificate_of(audit(*AUDITS["zcdp"])).write(path)
    checker = [str(archive)] if packed else ["-m", "exactdp.verify.checker"]
    done = started(bare, *checker, str(path))
    assert done.returncode == 0, done.stderr
    assert "valid: re-established" in done.stdout
    path.write_text("{}")
    assert started(bare, *checker, str(path)).returncode == 2
    assert started(bare, *checker, "--schema").returncode == 0
