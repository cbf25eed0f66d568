# Ask the Blog. `make` prints what there is to do.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null)
RUN := .venv/bin/python -m

.DEFAULT_GOAL := help
.PHONY: help run test check fmt lock ingest doctor evals calibrate bench clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

run: .venv/.stamp ## start everything: Postgres, the sample blog, the demo on 127.0.0.1:8000
	@exec $(RUN) service run

test: .venv/.stamp ## run every test
	@$(RUN) pytest

check: .venv/.stamp ## format, lint and types, as CI checks them
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy

fmt: .venv/.stamp ## format and fix what can be fixed
	@$(RUN) ruff check --fix --quiet .
	@$(RUN) ruff format .

ingest: .venv/.stamp ## bring the index in line with content/articles
	@$(RUN) service ingest

doctor: .venv/.stamp ## check the installation and say how to mend it
	@$(RUN) service doctor

evals: .venv/.stamp ## measure retrieval on the labelled questions; free, no key needed
	@$(RUN) evals retrieval

calibrate: .venv/.stamp ## choose the cosine floor from the labelled questions
	@$(RUN) evals calibrate

bench: .venv/.stamp ## measure ingest and search against the bare model
	@$(RUN) evals speed

lock: ## renew requirements.lock (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  --extra local --group dev pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 \
	  pyproject.toml -o deploy/requirements.lock

clean: ## remove the environment, embedded Postgres and fetched models
	rm -rf .venv .ask-blog

.venv/.stamp: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; name it with: make PYTHON=python3.12")'
ifdef UV
	@echo "Setting up .venv with uv …"
	@$(UV) venv --quiet --clear --python '>=3.11' .venv
	@VIRTUAL_ENV=$(CURDIR)/.venv $(UV) pip sync --quiet --require-hashes requirements.lock
else
	@echo "Setting up .venv (once, under a minute) …"
	@$(PYTHON) -m venv --clear .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
endif
	@touch $@
