# Every target sets up its own virtual environment in .venv; it needs make and Python >= 3.11.
#   make PYTHON=python3.12 test    uses another interpreter

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
FROM ?= 0
MUTANTS ?= 300
REACH ?= --reach
IN ?=
# Most of what is installed is never imported: 40 s less from nothing if it is compiled when it is.
export PIP_NO_COMPILE := 1
FOLDERS := $(filter-out api tests,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))

.PHONY: help demo test contract slow marathon relations mutants kernel kernel-checker flower lowest coverage lint bench checker pages docs clean
.NOTPARALLEL:

help:
	@echo "make demo   compose and calibrate, audit the papers' mechanisms, run the audited bandit"
	@echo "make test   the tests"
	@echo "make contract  the tests that use nothing but the command line, its JSON and import exactdp"
	@echo "make slow   the slow tests as well"
	@echo "make marathon  what takes minutes by itself, and all cases of the slow tests"
	@echo "make relations  350 newly drawn cases of each relation between answers (FROM=0: the first seed)"
	@echo "make mutants  300 seeded changes of the source, each held against the tests that reach it:"
	@echo "            which survive (FROM=0: the first seed, MUTANTS=300: how many, IN=ledger/: of these files);"
	@echo "            1 if one survives that is not known to do no harm"
	@echo "make kernel the tests of theorems, with Coq, which it installs by apt if it may"
	@echo "make kernel-checker  build/exactdp-kernel: the checks of theorems as a native program, from their proofs"
	@echo "make flower the tests of what stands in Flower, with Flower itself and its simulation"
	@echo "make lowest the tests, with the lowest versions of everything that they need"
	@echo "make coverage  the tests, and the lines that none of them runs"
	@echo "make lint   ruff and mypy --strict"
	@echo "make bench  the figures of the benchmarks on this machine"
	@echo "make checker  build/exactdp-check.pyz: the checker in one file, for a bare python3"
	@echo "make pages  docs/claims.md, bugs.md, ... and their pictures, every figure computed again"
	@echo "make docs   the documentation as a site, build/docs, its notebooks run"
	@echo "make clean  remove the virtual environment and everything built"

demo: $(VENV)/ready-bandit
	@PYTHONPATH=evidence $(BIN)/python -m demo

test: $(VENV)/ready-test
	$(BIN)/python -m pytest -q -n $(WORKERS)

contract: $(VENV)/ready-test
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "contract and not slow"

slow: $(VENV)/ready-test $(VENV)/ready-docs flower
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "(slow or not slow) and not marathon"

marathon: $(VENV)/ready-test
	$(BIN)/python -m pytest -q -n $(WORKERS) -m marathon

relations: $(VENV)/ready-test
	cd tests && ../$(BIN)/python -m conformance.relations --cases 350 --workers $(WORKERS) --from $(FROM)

mutants: $(VENV)/ready-mutants
	cd tests && ../$(BIN)/python -m mutation --mutants $(MUTANTS) --from $(FROM) $(REACH) $(IN)

kernel: $(VENV)/ready-test
	@command -v coqc > /dev/null || apt-get install --yes --no-install-recommends coq || { \
		echo "the tests of theorems need coqc on the path: apt install coq" >&2; exit 1; }
	$(MAKE) kernel-checker
	$(BIN)/python -m pytest -q -m "slow or not slow" tests/verify/kernel

kernel-checker: $(VENV)/ready-test
	@command -v coqc ocamlfind > /dev/null && ocamlfind query zarith > /dev/null 2>&1 || \
		apt-get install --yes --no-install-recommends coq ocaml-nox ocaml-findlib libzarith-ocaml-dev || { \
		echo "the native checker needs coqc, ocamlfind and zarith:" \
			"apt install coq ocaml-nox ocaml-findlib libzarith-ocaml-dev" >&2; exit 1; }
	$(BIN)/python -m exactdp.verify.kernel.extracted build/exactdp-kernel

# Flower wants older versions than the other tests: it has an environment of its own.
flower: $(VENV)/flower/ready
	$(VENV)/flower/bin/python -m pytest -q -m "slow or not slow" tests/accounting/interop/test_flower.py

$(VENV)/flower/ready: pyproject.toml constraints-flower.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/flower
	$(VENV)/flower/bin/python -m pip install --quiet -c constraints-flower.txt -e '.[simulation]'
	@touch $@

lowest: $(BIN)/python
	$(PYTHON) -m venv $(VENV)/lowest
	$(BIN)/python tests/lowest.py > $(VENV)/lowest.txt
	$(VENV)/lowest/bin/python -m pip install --quiet -c $(VENV)/lowest.txt '.[test]'
	$(VENV)/lowest/bin/python -m pytest -q -n $(WORKERS)

coverage: $(VENV)/ready-coverage
	$(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=term-missing:skip-covered

lint: $(VENV)/ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@rm -rf build/typing && mkdir -p build/typing/exactdp
	@ln -s $(addprefix ../../../,$(FOLDERS) $(wildcard api/*.py)) build/typing/exactdp
	@ln -s ../../evidence/pages ../../evidence/demo build/typing
	$(BIN)/mypy
	MYPYPATH=build/typing:tests:benchmarks $(BIN)/mypy --config-file tests/mypy.ini

bench: $(VENV)/ready-bench
	$(BIN)/python benchmarks/run.py

checker: $(VENV)/ready-checker
	@mkdir -p build
	$(BIN)/python -I verify/checker/pack.py build/exactdp-check.pyz

pages: $(VENV)/ready-docs
	PYTHONPATH=evidence $(BIN)/python -m pages

docs: $(VENV)/ready-docs
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/docs
	@echo "build/docs/index.html"

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "exactdp needs Python 3.11 or newer; \`$(PYTHON)\` is not" \
			"(another one: make PYTHON=/path/to/python3.11 ...)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Of all that there is the checker needs mpmath, which its file then carries.
$(VENV)/ready-checker: constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet -c constraints.txt mpmath
	@touch $@

$(VENV)/ready-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[$*]'
	@touch $@
