"""Every strategy, pycma and cmaes on COCO's test suites, of which bbob is the best known.

pip install coco-experiment cocopp cmaes
nice -n 19 python benchmarks/studies/coco.py run SUITE [--results DIR] [--only SOLVER …] [--dims 2 3 …]
python benchmarks/studies/coco.py show SUITE [--results DIR] [--only SOLVER …]

`run` plays what is missing in DIR/SUITE/SOLVER, a folder for each number of parameters, in as many processes
as the machine has cores; `show` writes cocopp's figures, and prints the tables of docs/coco.md, of no more
than --budget evaluations for each parameter. A run begins at a point drawn from [-4, 4]^n with a sigma of 2,
and ends when COCO's last target is hit or the evaluations are spent; a search that converges before begins
again.
"""

import argparse
import shutil
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from os import cpu_count
from pathlib import Path
from typing import Any

import cma
import cmaes
import cocoex
import numpy as np
from threadpoolctl import threadpool_limits

import mpi_es
from mpi_es.errors import RolloutError

SIGMA, REACH = 2.0, 4.0
DIMS = (2, 3, 5, 10, 20, 40)
SUITES = ("bbob", "bbob-noisy", "bbob-constrained", "bbob-mixint")
BUDGET = 1000  # evaluations for each parameter
LARGEST = 1e300  # value that a search is told: far away some functions are infinite
DRAWS = 1000  # of the bootstrap
TARGETS = 10.0 ** np.arange(2, -8.1, -0.2)  # COCO's, above the optimum
Problem = Any  # cocoex.Problem


def begin(problem: Problem, start: int) -> np.ndarray:
    """Return where a start begins."""
    if is_plain(problem):
        return np.random.default_rng([*problem.id_triple, start]).uniform(-REACH, REACH, problem.dimension)
    return problem.initial_solution_proposal(start)  # of a constrained problem the first is feasible


def seed_of(problem: Problem, start: int) -> int:
    """Return the seed of a start, for each problem another."""
    return int(np.random.default_rng([*problem.id_triple, start, 1]).integers(2**31))


def is_plain(problem: Problem) -> bool:
    """Return whether a problem has neither constraints nor integers."""
    return not (problem.number_of_constraints or problem.number_of_integer_variables)


def left(problem: Problem, budget: int) -> int:
    """Return the evaluations that are left, 0 when a problem is solved; a constraint counts as one."""
    spent = problem.evaluations + problem.evaluations_constraints
    return 0 if problem.final_target_hit else max(budget - spent, 0)


def ours(problem: Problem, budget: int, **options: Any) -> None:
    """Run one of our strategies, from a new point whenever it has converged."""
    size = 4 + int(3 * np.log(problem.dimension))  # pycma's
    if options["strategy"] != "cma_es":
        size += size % 2  # candidates are pairs
    settings = {"population_size": size, "max_iter": budget, "minimise": True, **options}
    sigma: Any = SIGMA
    if problem.number_of_integer_variables:  # they come first
        settings["integers"] = [*range(problem.number_of_integer_variables)]
        settings["bounds"] = (problem.lower_bounds, problem.upper_bounds)
        sigma = quarters(problem)
    constrained = problem.number_of_constraints > 0
    start = 0
    while left(problem, budget):
        x0 = begin(problem, start)
        seed = seed_of(problem, start)
        search = mpi_es.Search(x0, sigma, seed=seed, constraints=problem.number_of_constraints, **settings)
        while not search.done and left(problem, budget):
            try:
                asked = search.ask()
            except RolloutError as error:  # it diverged
                print(f"{problem.id}, start {start}: {error}", flush=True)
                break
            limits = [problem.constraint(x) for x in asked] if constrained else None
            search.tell(np.minimum([problem(x) for x in asked], LARGEST), limits)
        start += 1


def quarters(problem: Problem) -> np.ndarray:
    """Return a quarter of each parameter's domain."""
    return (problem.upper_bounds - problem.lower_bounds) / 4


def fmin2(problem: Problem, budget: int, **options: Any) -> None:
    """Run pycma's own loop, with its restarts."""
    starts = iter(range(budget))
    np.random.seed(problem.index + 1)  # noqa: NPY002 - fmin2 draws bipop's sizes from it
    settings = {
        "maxfevals": budget,
        "verbose": -9,
        "seed": problem.index + 1,
        "termination_callback": lambda es: not left(problem, budget),
    }
    sigma = SIGMA
    if problem.number_of_integer_variables:
        settings["integer_variables"] = [*range(problem.number_of_integer_variables)]
        settings["bounds"] = [problem.lower_bounds, problem.upper_bounds]
        settings["CMA_stds"], sigma = quarters(problem), 1.0
    if not problem.number_of_constraints:
        cma.fmin2(problem, lambda: begin(problem, next(starts)), sigma, settings, restarts=100, **options)
    while problem.number_of_constraints and left(problem, budget):
        x0 = begin(problem, next(starts))
        cma.fmin_con2(problem, x0, sigma, problem.constraint, options=dict(settings))


def cmaes_ipop(problem: Problem, budget: int) -> None:
    """Run cmaes with doubled populations, the loop of its README."""
    start, popsize = 0, 4 + int(3 * np.log(problem.dimension))
    while left(problem, budget):
        x0 = begin(problem, start)
        optimizer = cmaes.CMA(mean=x0, sigma=SIGMA, population_size=popsize, seed=seed_of(problem, start))
        while not optimizer.should_stop() and left(problem, budget):
            asked = [optimizer.ask() for _ in range(popsize)]
            optimizer.tell([(x, problem(x)) for x in asked])
        start, popsize = start + 1, 2 * popsize


ADAM = {"learning_rate": 0.3, "lr_decay": 0.99, "lr_min": 1e-9}  # see functions.py
FULL = {"strategy": "cma_es", "cma_variant": "full"}
OURS: dict[str, dict[str, Any]] = {
    "cma_es-ipop": FULL | {"restarts": "ipop"},
    "cma_es-bipop": FULL | {"restarts": "bipop"},
    "cma_es": FULL,
    "cma_es-separable": FULL | {"cma_variant": "separable"},
    "cr_fm_nes": {"strategy": "cr_fm_nes"},
    "snes": {"strategy": "snes"},
    "pepg": {"strategy": "pepg", **ADAM},
    "openai_es": {"strategy": "openai_es", "sigma_decay": 0.99, **ADAM},
    "ga": {"strategy": "ga", "sigma_decay": 0.995},
}
SOLVERS: dict[str, Callable[[Problem, int], None]] = {
    **{name: partial(ours, **options) for name, options in OURS.items()},
    "pycma-ipop": fmin2,
    "pycma-bipop": partial(fmin2, bipop=True),
    "cmaes-ipop": cmaes_ipop,
}


def play(suite: str, solver: str, dim: int, folder: Path, budget: int) -> None:
    """Run a solver on all functions with so many parameters; the folder holds only what is whole."""
    warnings.simplefilter("ignore")
    part = folder.parent / "unfinished" / f"{solver}-{dim}"
    shutil.rmtree(part, ignore_errors=True)
    problems = cocoex.Suite(suite, "instances: 1-15", f"dimensions: {dim}")
    observer = cocoex.Observer(
        suite, f"outer_folder: {part.parent} result_folder: {part.name} algorithm_name: {solver}"
    )
    with threadpool_limits(1):
        for problem in problems:
            problem.observe_with(observer)
            SOLVERS[solver](problem, budget * dim)
            problem.free()
    folder.mkdir(exist_ok=True)
    part.rename(folder / str(dim))


def run(options: argparse.Namespace) -> None:
    """Play what is missing: the fewest parameters first."""
    cocoex.log_level("warning")
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = {}
        for dim in options.dims:
            for solver in options.only or SOLVERS:
                folder = options.results / options.suite / solver
                if not (folder / str(dim)).exists():
                    jobs[solver, dim] = pool.submit(play, options.suite, solver, dim, folder, options.budget)
        for (solver, dim), job in jobs.items():
            job.result()
            print(f"{options.suite}, {dim} parameters: {solver}", flush=True)


def show(options: argparse.Namespace) -> None:
    """Write cocopp's figures, and print the tables of docs/coco.md."""
    import cocopp

    settings = cocopp.genericsettings
    settings.verbose = settings.isTab = settings.isFig = settings.isRldOnSingleFcts = False
    settings.figure_file_formats = ["png"]
    settings.in_a_hurry = 0  # for the resolution
    folder = options.results / options.suite
    solvers = [name for name in options.only or SOLVERS if (folder / name).exists()]
    found = cocopp.main(f"-o {folder / 'ppdata'} " + " ".join(str(folder / name) for name in solvers))
    runs = {name: found[key] for name, key in zip(solvers, found, strict=True)}
    dims = sorted({data.dim for data in runs[solvers[0]]})
    print_table(
        "Targets reached, %",
        dims,
        {name: [share(runs[name], dim, options.budget) for dim in dims] for name in solvers},
    )
    reference = next(name for name in solvers if name.startswith("pycma"))
    ratios = {
        name: [ratio(runs[name], runs[reference], dim, options.budget) for dim in dims] for name in solvers
    }
    print_table(f"Evaluations, as multiples of those of {reference}", dims, ratios)


def print_table(title: str, dims: list[int], rows: dict[str, list[str]]) -> None:
    """Print a table with a column for each number of parameters."""
    print(f"\n| {title} | {' | '.join(map(str, dims))} |\n| --- {'| --- ' * len(dims)}|")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")


def share(runs: Any, dim: int, budget: int) -> str:
    """Return how many of all targets of all functions and instances were reached within the budget."""
    evaluations = np.array([data.detEvals(TARGETS) for data in runs if data.dim == dim])
    return f"{100 * (evaluations <= budget * dim).mean():.1f}"


def ratio(runs: Any, reference: Any, dim: int, budget: int) -> str:
    """Return how many times the reference's evaluations were needed, with a bootstrap interval.

    It is the geometric mean over the functions and the targets that both reached, of COCO's aRT: all
    evaluations, of successful runs and others, divided by the number of successful runs. Functions are drawn
    again, and of each its instances.
    """
    of = [{data.funcId: data for data in some if data.dim == dim} for some in (runs, reference)]
    rng, logs = np.random.default_rng(0), []
    for function in sorted(of[0].keys() & of[1].keys()):
        pair = [some[function] for some in of]
        count = min(len(data.maxevals) for data in pair)
        drawn = np.vstack([np.arange(count), rng.integers(count, size=(DRAWS, count))])
        logs.append(mean_log_ratio(*(running_times(data, drawn, budget * dim) for data in pair)))
    table = np.array(logs)  # of a function and a draw; the first draw is of all instances once
    again = rng.integers(len(table), size=(DRAWS, len(table)))
    means = np.nanmean(table[again, np.arange(1, DRAWS + 1)[:, None]], axis=1)
    low, high = np.exp(np.nanquantile(means, [0.025, 0.975]))
    return f"{np.exp(np.nanmean(table[:, 0])):.2f} [{low:.2f}, {high:.2f}]"


def running_times(data: Any, drawn: np.ndarray, budget: int) -> np.ndarray:
    """Return the aRT of each target in each draw of instances; infinite where none reached it."""
    evaluations = np.array(data.detEvals(TARGETS))[:, drawn]
    reached = evaluations <= budget
    spent = np.where(reached, evaluations, np.minimum(data.maxevals, budget)[drawn]).sum(axis=2)
    with np.errstate(divide="ignore"):
        return spent / reached.sum(axis=2)


def mean_log_ratio(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return the mean over the targets that both reached; NaN where there is none."""
    both = np.isfinite(ours) & np.isfinite(theirs)
    with np.errstate(all="ignore"):
        return np.where(both, np.log(ours / theirs), 0).sum(axis=0) / both.sum(axis=0)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("section", choices=("run", "show"))
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--results", type=Path, default=Path("results/coco"))
    parser.add_argument("--only", nargs="+", choices=SOLVERS, metavar="SOLVER")
    parser.add_argument("--dims", nargs="+", type=int, default=DIMS, metavar="DIM")
    parser.add_argument("--budget", type=int, default=BUDGET, help="evaluations for each parameter")
    parser.add_argument("--jobs", type=int, default=cpu_count())
    options = parser.parse_args()
    {"run": run, "show": show}[options.section](options)


if __name__ == "__main__":
    main()
