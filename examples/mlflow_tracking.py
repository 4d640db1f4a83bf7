"""Log a run to MLflow: its options as parameters, and one metric for each number that TensorBoard shows.

It needs mlflow (pip install mlflow). From this folder; MLFLOW_TRACKING_URI names a server or a database:

    mpiexec -n 2 python -m mpi_es.train cartpole --callback mlflow_tracking:Log --run-dir runs/mlflow
    python -m mpi_es.train --resume runs/mlflow --target-fitness None --max-iter 100
"""

import mlflow


class Log:
    """Rank 0 makes one object of this class, after the first line of the console."""

    def __init__(self, config, directory):
        mlflow.set_experiment("mpi_es")
        # A resumed run continues in the MLflow run of its directory.
        note = directory / "mlflow.txt"
        known = note.read_text() if note.exists() else None
        self.run = mlflow.start_run(run_id=known, run_name=directory.name)
        if known is None:
            note.write_text(self.run.info.run_id)
            mlflow.log_params(config)

    def generation(self, numbers):
        generation = numbers.pop("generation")
        mlflow.log_metrics(numbers, step=generation)

    def finish(self, reason):
        mlflow.set_tag("reason", reason)
        mlflow.end_run()

    def close(self):
        mlflow.end_run("FAILED")  # one that has finished stays as it is
