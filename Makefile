PYTHON ?= python3
BIN = .venv/bin

.PHONY: quickstart test check docs validate catalog clean

quickstart: .venv/installed
	$(BIN)/robustssl run quickstart --store quickstart.sqlite
	$(BIN)/robustssl report --store quickstart.sqlite --out quickstart-report
	$(BIN)/robustssl site quickstart-site --store quickstart.sqlite

test: .venv/installed
	$(BIN)/pytest

check: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

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
	rm -rf .venv quickstart.sqlite* quickstart-report quickstart-site public

.venv/installed: pyproject.toml constraints.txt
	@echo "Installing into .venv (a minute or two, once) ..."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[deep,parquet,text,postgres,ray,docs,dev]"
	@touch $@
