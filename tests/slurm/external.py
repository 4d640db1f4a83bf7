"""A script as users submit it: each call starts a step of two tasks, which add up what they read."""

import subprocess

import mpi_es

TASK = (
    'awk -v task="$SLURM_PROCID" "NR % 2 == task { sum += (\\$1 - 1) ^ 2 } END { print sum + 0 }" input.txt'
)
COMMAND = ["srun", "--overlap", "--exact", "--nodes=1", "--ntasks=2", "--input=none", "sh", "-c", TASK]


def cost(x, directory):
    """Return the squared distance of x from 1."""
    (directory / "input.txt").write_text("".join(f"{number!r}\n" for number in x.tolist()))
    done = subprocess.run(COMMAND, cwd=directory, capture_output=True, text=True, check=True)
    return sum(map(float, done.stdout.split()))


result = mpi_es.minimise(cost, [0.0] * 4, 0.3, population_size=4, max_iter=3, seed=3, tensorboard=False)
if mpi_es.rank() == 0:
    print("result", result.value < 4, result.evaluations)
