"""Log a run to Weights & Biases: one curve for each number that TensorBoard shows.

It needs wandb (pip install wandb). From this folder; without an account, set WANDB_MODE=offline first:

    mpiexec -n 2 python -m mpi_es.train cartpole --callback weights_and_biases:Log --run-dir runs/wandb
    python -m mpi_es.train --resume runs/wandb --target-fitness None --max-iter 100
"""

import wandb


class Log:
    """Rank 0 makes one object of this class, after the first line of the console."""

    def __init__(self, config, directory):
        # A resumed run continues in the W&B run of its directory.
        note = directory / "wandb.txt"
        known = note.read_text() if note.exists() else None
        self.run = wandb.init(
            project="mpi_es", id=known, name=directory.name, config=config, dir=directory, resume="allow"
        )
        note.write_text(self.run.id)
        self.run.define_metric("*", step_metric="generation")

    def generation(self, numbers):
        self.run.log(numbers)

    def finish(self, reason):
        self.run.summary["reason"] = reason
        self.run.finish()

    def close(self):
        self.run.finish(exit_code=1)  # of a run that failed; one that has finished stays as it is
