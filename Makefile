PYTHON ?= python3
BIN = .venv/bin
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check

.PHONY: quickstart test light check lint-javascript docs validate catalog clean

quickstart: .venv/installed
	$(BIN)/robustssl run quickstart --store quickstart.sqlite
	$(BIN)/robustssl report --store quickstart.sqlite --out quickstart-report
	$(BIN)/robustssl site quickstart-site --store quickstart.sqlite

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
# (but for transformers, which take a GPU).
validate: .venv/installed
	$(BIN)/robustssl results validate --sample 5 --seed 0 $(dir $(wildcard results/*/study.yaml results/leaderboard/*/study.yaml))
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

# Groups of dependencies need pip 25.1.
.venv/installed: WHAT = --group dev --editable ".[boosting,deep,hub,parquet,postgres,ray,text]"
.venv-light/installed: WHAT = --group test --editable .
.venv/installed .venv-light/installed: pyproject.toml constraints.txt
	@echo "Installing into $(@D) (a minute or two, once) ..."
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP_INSTALL) "pip>=25.1"
	$(@D)/bin/python $(PIP_INSTALL) --constraint constraints.txt $(WHAT)
	@touch $@

node_modules/installed: package.json
	npm install --no-save --no-package-lock --no-audit --no-fund --silent
	@touch $@
