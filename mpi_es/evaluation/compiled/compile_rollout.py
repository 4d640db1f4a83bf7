"""python -m mpi_es.evaluation.compiled.compile_rollout: make a rollout's machine code, for the caller."""

from mpi_es.evaluation.build import make_rollout
from mpi_es.jit.compile_subprocess import read_task

if __name__ == "__main__":
    make_rollout(*read_task()).compile()
