"""What mpi_es.evolve adds to the calls of a function, on 8 ranks, with both dispatch modes.

python benchmarks/functions.py [--ranks 8] [--repeats 3], on 4 ranks or more

Calls only sleep, so that 8 ranks fit on two cores. The ideal is the calls of a generation, divided by the
ranks, times the seconds of a call; populations are multiples of the ranks.
"evaluation" is what the evaluation of a generation takes beyond the ideal, and
"generation" the same with ask, tell and the save, both in ms for each call, as if a single rank made them all
("a call") and as the rank that makes the call sees it ("of a rank": times the ranks). "idle" is the share of
the ranks' time in which they do not sleep: 1 - ideal / seconds. All are medians over the generations of a run
but the first, and then over the runs. Where ranks share cores, they wait for each other's work, and "of a
rank" is more than on a core of its own.
"""

import argparse
import itertools
import json
import tempfile
import time
from functools import partial
from pathlib import Path

import launching
import numpy as np

import mpi_es

DIM = 50
SETTINGS = (  # seconds of a call, calls of a rank in a generation, generations
    (0.0, 32, 20),
    (0.001, 32, 20),
    (0.02, 4, 10),
    (1.0, 1, 4),
    (1.0, 4, 3),
)


def sleeping(seconds: float, x) -> float:
    """Return the squared length of x, after a while."""
    if seconds:
        time.sleep(seconds)
    return float(x @ x)


def worker(ranks: int, repeats: int, place: str) -> None:
    """Evolve on all ranks; rank 0 prints one line of JSON for each run."""
    numbers = itertools.count()
    for _, setting, dispatch in itertools.product(range(repeats), SETTINGS, ("static", "dynamic")):
        seconds, share, generations = setting
        mpi_es.evolve(
            partial(sleeping, seconds),
            np.ones(DIM),
            minimise=True,
            population_size=share * ranks,
            max_iter=generations,
            dispatch=dispatch,
            console="silent",
            tensorboard=False,
            run_dir=(run := Path(place, str(next(numbers)))),
        )
        if mpi_es.rank() == 0:
            timing = mpi_es.load_run(run)["timing"]
            taken = {name: float(np.median(timing[name][1:])) for name in ("evaluate", "total")}
            print(json.dumps({"setting": setting, "dispatch": dispatch} | taken), flush=True)


def load() -> str:
    """Return how many processes have wanted a core in the last minute."""
    return Path("/proc/loadavg").read_text(encoding="ascii").split()[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--worker", default="")
    options = parser.parse_args()
    if options.ranks < 4:
        parser.error("--ranks: expected 4 or more, as a population of cma_es has so many candidates")
    if options.worker:
        worker(options.ranks, options.repeats, options.worker)
        return
    before = load()
    with tempfile.TemporaryDirectory() as place:
        words = ("--worker", place, "--ranks", options.ranks, "--repeats", options.repeats)
        records = launching.records(options.ranks, __file__, *words)
    print(f"{options.ranks} ranks, {options.repeats} runs, load {before} before and {load()} after")
    print("          calls of            evaluation, ms      generation, ms      idle (all runs)")
    print("s a call  a rank    dispatch  a call  of a rank   a call  of a rank   evaluation; generation")
    for setting, dispatch in itertools.product(SETTINGS, ("static", "dynamic")):
        mine = [r for r in records if (tuple(r["setting"]), r["dispatch"]) == (setting, dispatch)]
        print(line(setting, dispatch, mine, options.ranks), flush=True)


def line(setting, dispatch, records, ranks) -> str:
    """Return the line of a setting."""
    seconds, share, _ = setting
    ideal = share * seconds
    costs, idle = [], []
    for name in ("evaluate", "total"):
        beyond = np.median([r[name] for r in records]) - ideal
        costs += [f"{1e3 * beyond / (share * ranks):6.3f}  {1e3 * beyond / share:9.3f}"]
        shares = sorted(1 - ideal / r[name] for r in records)
        idle += [f"{np.median(shares):.1%} ({' '.join(f'{x:.1%}' for x in shares)})"]
    words = f"{seconds:8g}  {share:6d}    {dispatch:8s}  {'   '.join(costs)}"
    return f"{words}   {'; '.join(idle)}" if seconds >= 0.02 else words


if __name__ == "__main__":
    main()
