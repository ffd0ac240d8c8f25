PYTHON ?= python3
BIN = .venv/bin
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check

.PHONY: quickstart test light check lint-javascript docs validate catalog lock clean

quickstart: .venv/installed
	$(BIN)/robustssl quickstart

# The tests start many processes, which start sooner from modules that are compiled once.
test light: export PYTHONDONTWRITEBYTECODE =

test: .venv/installed
	$(BIN)/pytest

# The tests that must pass without any extra: no torch, no xgboost, no ray.
light: .venv-light/installed
	.venv-light/bin/pytest

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# The JavaScript of the site is linted too, where npm is there.
ifneq ($(shell command -v npm),)
check: lint-javascript
endif

lint-javascript: node_modules/installed
	npm run --silent lint

# Submissions of results: whole, of the present code, and the same when some of them are run again
# (but for transformers, which take a GPU). Those of the pilot are on images, on texts and of a net.
validate: .venv/installed
	$(BIN)/robustssl results validate --sample 5 --seed 0 $(filter-out results/pilot/,$(dir $(wildcard results/*/study.yaml results/leaderboard/*/study.yaml)))
	$(BIN)/robustssl results validate --sample 3 --seed 30 results/pilot
	$(BIN)/robustssl results validate --sample 0 results/reproduction/deep

# What reports and `robustssl list` know of built-in methods, written down from the code.
catalog: .venv/installed
	$(BIN)/python -m robustssl.checks.catalog

docs: .venv/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/robustssl site public/leaderboard --store results/leaderboard
	@echo "Open public/index.html in a browser."

clean:
	rm -rf .venv .venv-light node_modules quickstart.sqlite* quickstart-report quickstart-site public

# First what is locked, each file by its digest; then torch by its version, since its build is a
# choice of the device (docs/decisions/0014-lock.md); then the project itself.
.venv/installed: LOCK = locks/dev.txt
.venv/installed: TORCH = torch==2.13.0
.venv-light/installed: LOCK = locks/light.txt
.venv/installed .venv-light/installed: pyproject.toml locks/dev.txt locks/light.txt
	@echo "Installing into $(@D) (a minute or two, once) ..."
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP_INSTALL) --require-hashes --requirement $(LOCK)
	$(if $(TORCH),$(@D)/bin/python $(PIP_INSTALL) $(TORCH))
	$(@D)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# Lock the newest versions that pyproject.toml allows; needs uv. Besides our own dependencies, those
# of torch, so that it is installed alone.
COMPILE = uv pip compile --quiet --upgrade --universal --python-version 3.11.5 --generate-hashes --no-header --no-annotate
lock:
	printf 'filelock\nfsspec\nnetworkx\nsetuptools\nsympy\ntransformers>=5\n' | \
	$(COMPILE) pyproject.toml - --group dev --extra boosting --extra hub --extra mcp --extra parquet --extra postgres --extra ray -o locks/dev.txt
	$(COMPILE) pyproject.toml --group test -o locks/light.txt

node_modules/installed: package.json
	npm install --no-save --no-package-lock --no-audit --no-fund --silent
	@touch $@
