"""Read a run into pandas: one table of its generations, one of its held-out evaluations.

It needs pandas (pip install 'mpi_es[examples]'). From this folder:

    python -m mpi_es.train cartpole --run-dir runs/cartpole
    python read_run.py runs/cartpole history.csv
"""

import sys

import numpy as np
import pandas as pd

from mpi_es import load_run


def generations(run):
    """Return a row for each generation: its fitness, its sizes, and the seconds of its parts."""
    history, timing = pd.DataFrame(run["history"]), pd.DataFrame(run["timing"])
    return history.join(timing).set_index("generation")


def evaluations(run):
    """Return a row for each held-out evaluation."""
    returns = run["evaluations"]["returns"]  # (evaluations, episodes); shorter ones end in NaN
    columns = {"mean": np.nanmean(returns, axis=1), "std": np.nanstd(returns, axis=1)}
    return pd.DataFrame(columns, index=pd.Index(run["evaluations"]["generation"], name="generation"))


def main(directory, path):
    run = load_run(directory)
    config, best = run["config"], run["best"]
    table = generations(run)
    problem = config["function"] or config["env"]
    print(f"{config['strategy']} on {problem}, seed {config['seed']}, {len(table)} generations")
    print(table[["best", "mean", "sigma", "evaluate"]].tail())
    print(evaluations(run))
    print(
        f"best: {best['fitness']:.1f} at generation {best['generation']}, {best['candidate'].size} parameters"
    )
    table.to_csv(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
