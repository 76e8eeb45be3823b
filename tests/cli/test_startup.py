"""What a command does not use, it does not load; nothing is timed here (benchmarks/startup.py)."""

import json
import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import pytest

HEAVY = ("scipy", "sympy", "mpmath", "pydantic", "rich", "pandas", "matplotlib", "tomllib")
HEAVY += ("sqlalchemy", "alembic", "psycopg")
SHOWN = "import json; print('\\n' + json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"


def loaded(*arguments: str) -> set[str]:
    code = f"import sys; from exactdp.cli.main import main; main({list(arguments)!r}); {SHOWN}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.contract
@pytest.mark.slow_cases("arguments0")
@pytest.mark.parametrize(
    "arguments",
    [
        ("compose", "discrete-laplace:epsilon=0.1*100", "--delta", "1e-6", "--json"),
        ("compose", "discrete-gaussian:sigma2=100*10", "--order", "2", "--json"),
        ("--version",),
    ],
)
def test_a_short_command_loads_what_it_uses(arguments: tuple[str, ...]) -> None:
    assert not loaded(*arguments) & set(HEAVY)


@pytest.mark.contract
def test_the_list_of_what_is_heavy_is_seen() -> None:
    assert "rich" in loaded("compose", "discrete-laplace:epsilon=0.1", "--pure")


@pytest.mark.parametrize("package", ["exactdp.accounting", "exactdp.protocols"])
def test_lazy_packages_hold_all_that_they_name(package: str) -> None:
    module = import_module(package)
    for name in module.__all__:
        assert name.isupper() or getattr(module, name).__module__.startswith("exactdp")
    # a module of that name would take its place
    assert not {each.name for each in iter_modules(module.__path__)} & set(module.__all__)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = module.other
