"""What is not installed is named, with the extra that brings it, by every command that needs it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from exactdp.cli.main import _EXTRAS, _VERBS

RUN = "bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50"
ROUND = "round theorem1:epsilon=0.5,batch=4,horizon=100"
WITHOUT = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

NAMES = sys.argv[1].split(",")
sys.meta_path.insert(0, Without())
sys.argv[:2] = ["exactdp"]
from exactdp.cli.main import run
run()
"""


def without(names, call, folder):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, names, *call.split()],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )


@pytest.mark.quick_cases(2)
@pytest.mark.contract
@pytest.mark.slow_cases(
    "alembic-ledger init a.db --limit zcdp:1-ledger",
    "cryptography-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --faithful --masked-masks",  # noqa: E501
    "cryptography-round theorem1:epsilon=0.5,batch=4,horizon=100-masks",
    "dask-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --cluster local-cluster",
    "distributed-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --cluster local-cluster",  # noqa: E501
    "jinja2-report randomized-response:epsilon=1 --out page.html-report",
    "joblib-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --workers 2-parallel",
    "matplotlib-bandit study figure5 --out folder --quick-figures",
    "matplotlib-report randomized-response:epsilon=1 --out page.html-figures",
    "pandas-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --instance fair-data",
    "psycopg-ledger show postgresql://localhost/none-postgresql",
    "sklearn-bandit study figure5 --out folder --quick-data",
    "sklearn-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --instance fair-data",
    "sklearn-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --instance ratings.letor --arms 2-data",  # noqa: E501
    "sqlalchemy-sample SPEC --size 1 --ledger a.db --user a --key k-ledger",
    "statsmodels-bandit run --algorithm dist-dp-se --epsilon 0.5 --horizon 50 --instance fair-data",
)
@pytest.mark.parametrize(
    ("missing", "call", "extra"),
    [
        ("sklearn", f"{RUN} --instance fair", "data"),
        ("statsmodels", f"{RUN} --instance fair", "data"),
        ("pandas", f"{RUN} --instance fair", "data"),
        ("sklearn", f"{RUN} --instance ratings.letor --arms 2", "data"),
        ("joblib", f"{RUN} --workers 2", "parallel"),
        ("distributed", f"{RUN} --cluster local", "cluster"),
        ("dask", f"{RUN} --cluster local", "cluster"),
        ("cryptography", f"{RUN} --faithful --masked", "masks"),
        ("cryptography", ROUND, "masks"),
        ("jinja2", "report randomized-response:epsilon=1 --out page.html", "report"),
        ("matplotlib", "report randomized-response:epsilon=1 --out page.html", "figures"),
        ("matplotlib", "profile randomized-response:epsilon=1 --plot curves.svg", "figures"),
        ("matplotlib", "bandit study figure5 --out folder --quick", "figures"),
        ("sklearn", "bandit study figure5 --out folder --quick", "data"),
        ("sqlalchemy", "ledger init a.db --limit zcdp:1", "ledger"),
        ("alembic", "ledger init a.db --limit zcdp:1", "ledger"),
        ("sqlalchemy", "ledger show a.db", "ledger"),
        ("sqlalchemy", "ledger check a.db", "ledger"),
        ("sqlalchemy", "ledger migrate a.db", "ledger"),
        ("sqlalchemy", "report --ledger a.db --out page.html", "ledger"),
        ("psycopg", "ledger show postgresql://localhost/none", "postgresql"),
        ("sqlalchemy", "sample SPEC --size 1 --ledger a.db --user a --key k", "ledger"),
    ],
)
def test_a_missing_extra_is_named(missing, call, extra, tmp_path, monkeypatch):
    monkeypatch.setenv("EXACTDP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "ratings.letor").write_text("0 1:1\n1 1:2\n")
    ended = without(missing, call.replace("SPEC", "skellam:variance=9"), tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert f'pip install "exactdp[{extra}]"' in ended.stderr


@pytest.mark.slow
def test_without_any_extra_the_rest_works(tmp_path):
    ended = without(",".join([*_EXTRAS, "dp_accounting"]), RUN, tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("verb", [*_VERBS, "ledger init", "ledger check", "bandit study"])
def test_help_needs_no_extra(verb, tmp_path):
    ended = without(",".join([*_EXTRAS, "dp_accounting"]), f"{verb} --help", tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Usage: exactdp" in ended.stdout


def test_every_extra_exists():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert set(_EXTRAS.values()) <= settings["project"]["optional-dependencies"].keys()
