# make install   .venv with everything pinned, and a headless Chromium
# make demo      the whole life of the benchmark on five clips of our own, with embedded backends
# make test      all tests          make lint      what must hold before a commit
# make test-slurm    the workflow on a real SLURM, which is brought up for it and down again; as root
# Running any of them again is quick.

PYTHON ?= python3
BIN := .venv/bin
CORES ?= $(shell nproc)
WORKERS ?= 3
SLURM_TESTS ?= slurm
INSTALLED := .venv/installed

.PHONY: install demo test test-slurm lint

install: $(INSTALLED)

$(INSTALLED): pyproject.toml envs/sam2.txt
	@$(PYTHON) -c 'import sys; sys.exit("codecap: needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "codecap: this Python cannot make virtual environments; as root: apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	SAM2_BUILD_CUDA=0 $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --require-hashes -r envs/sam2.txt
	$(BIN)/codecap install-browser
	@touch $@

demo: $(INSTALLED)
	$(BIN)/snakemake --profile profiles/demo --cores $(CORES) dataset all
	@echo
	@echo "The report: $(CURDIR)/results/8_report/index.html"

test: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS)

test-slurm: $(INSTALLED)
	$(BIN)/python -m pytest -m $(SLURM_TESTS) tests/slurm

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint --configfile config/demo.yaml
