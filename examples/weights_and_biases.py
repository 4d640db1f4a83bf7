"""Log a run to Weights & Biases: one curve for each number that TensorBoard shows.

It needs wandb (pip install wandb). From this folder; without an account, set WANDB_MODE=offline first:

    mpiexec -n 2 python -m mpi_es.train cartpole --callback weights_and_biases:Log --run-dir runs/wandb
    python -m mpi_es.train --resume runs/wandb --target-fitness None --max-iter 100
"""

import hashlib

import wandb


class Log:
    """Rank 0 makes one object of this class, after the first line of the console."""

    def __init__(self, config, directory):
        # A resumed run continues under the name of its directory.
        name = hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:16]
        self.run = wandb.init(
            project="mpi_es", id=name, name=directory.name, config=config, dir=directory, resume="allow"
        )
        self.run.define_metric("*", step_metric="generation")

    def generation(self, numbers):
        self.run.log(numbers)

    def finish(self, reason):
        self.run.summary["reason"] = reason

    def close(self):
        self.run.finish()
