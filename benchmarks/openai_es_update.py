"""What a generation of OpenAI-ES costs beside its rollouts: a million parameters whose evaluation is free.

python benchmarks/openai_es_update.py [--ranks 2] [--generations 5] [--dim 1000000] [--popsize 512]

Seconds of ask, evaluate and tell on rank 0, and the bytes that left it and came to it, counted where
messages are handed to MPI; medians of the generations. A rollout returns at once what depends on its number
only. "made" says whether the rank that would run it makes its candidate, centre + sigma * noise, as it must
if there is to be a rollout; without, what is left is the communication and the update.

    table       noise read from a table of 25,000,000 numbers in memory that the ranks share
    computed    noise drawn anew wherever it is needed
    dense       as estool does it: rank 0 draws the noise, makes all candidates and sends them, gets the
                returns and sums the gradient alone, by a matrix product

Dense candidates get all that can be granted: single precision (estool keeps doubles, and sends integers
that it converts candidate by candidate), matrices that are allocated once, one Scatterv from them, and no
message for the share that rank 0 evaluates itself (estool's rank 0 sends everything away). Both kinds are
mirrored, and strategy, shaping and optimizer are the same code.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mpi_es.arrays import Vector
from mpi_es.evaluation.build import shared_table
from mpi_es.evaluation.evaluator import Evaluator
from mpi_es.evaluation.rollout import Rows, Source, Terms
from mpi_es.parallel.collectives import Comm, offsets
from mpi_es.seeds import Stream, rng
from mpi_es.strategies.base import Seeded
from mpi_es.strategies.noise import ComputedNoise, TableNoise
from mpi_es.strategies.openai_es import OpenAIES

SEED, SIGMA = 1, 0.02
TABLE = 25_000_000  # --noise-table: 100 MB
ORDER = [("table", True), ("table", False), ("computed", True), ("computed", False), ("dense", True)]
NUMBERS = ("seconds", "ask", "evaluate", "tell", "sent", "received")


class Counting:
    """A communicator that counts the bytes of what rank 0 sends and receives.

    A broadcast counts once for each other rank, also where these pass it on among themselves.
    """

    def __init__(self, comm: Comm) -> None:
        self.comm = comm
        self.sent = self.received = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def Ibcast(self, array: Any, root: int = 0) -> Any:  # noqa: N802
        """Count the array for each of the others."""
        self.sent += array.nbytes * (self.comm.size - 1)
        return self.comm.Ibcast(array, root=root)

    def Iscatterv(self, send: Any, receive: Any, root: int = 0) -> Any:  # noqa: N802
        """Count what is for the others."""
        self._scattered(send)
        return self.comm.Iscatterv(send, receive, root=root)

    def Scatterv(self, send: Any, receive: Any, root: int = 0) -> None:  # noqa: N802
        """Count what is for the others."""
        self._scattered(send)
        self.comm.Scatterv(send, receive, root=root)

    def Igatherv(self, rows: Any, receive: Any, root: int = 0) -> Any:  # noqa: N802
        """Count what comes from the others."""
        self._gathered(receive)
        return self.comm.Igatherv(rows, receive, root=root)

    def Gatherv(self, rows: Any, receive: Any, root: int = 0) -> None:  # noqa: N802
        """Count what comes from the others."""
        self._gathered(receive)
        self.comm.Gatherv(rows, receive, root=root)

    def Isend(self, array: Any, dest: int, tag: int = 0) -> Any:  # noqa: N802
        """Count the array."""
        self.sent += array.nbytes
        return self.comm.Isend(array, dest=dest, tag=tag)

    def Recv(self, array: Any, source: int = -1, tag: int = -1) -> None:  # noqa: N802
        """Count the array."""
        self.received += array.nbytes
        self.comm.Recv(array, source=source, tag=tag)

    def Irecv(self, array: Any, source: int = -1, tag: int = -1) -> Any:  # noqa: N802
        """Count the array."""
        self.received += array.nbytes
        return self.comm.Irecv(array, source=source, tag=tag)

    def _scattered(self, send: Any) -> None:
        if send is not None:
            self.sent += int(np.sum(send[1][0][1:])) * send[0].itemsize

    def _gathered(self, receive: Any) -> None:
        if receive is not None:
            self.received += int(np.sum(receive[1][0][1:])) * receive[0].itemsize


def free_return(unit: Any) -> Any:
    """Return what the episode of a unit comes to."""
    return np.sin(1.0 + unit)


class FreeRollout:
    """A mpi_es.evaluation.rollout.Rollout whose episodes take no time."""

    width, size, parameter_precision = 16, 0, "f4"

    def __init__(self, dim: int) -> None:
        self.policy = SimpleNamespace(dim=dim)

    def run(self, source: Source, terms: Terms, width: int | None = None) -> Rows:
        """Return the rows of all episodes that the source gives."""
        rows = []
        while (episode := source.take(block=True)) is not None:
            rows.append([episode.unit, free_return(episode.unit), 1])
            source.poll()
        return np.array(rows, np.float64).reshape(-1, 3)


class MatrixNoise:
    """A strategies.base.Noise whose rows are drawn and kept by rank 0."""

    def __init__(self, dim: int, pairs: int) -> None:
        self.dim = dim
        self.matrix = np.empty((pairs, dim), np.float32)

    def keys(self, generation: int, count: int) -> NDArray[np.int64]:
        """Draw the rows of a generation."""
        rng(SEED, Stream.NOISE, generation).standard_normal(dtype=np.float32, out=self.matrix)
        return np.arange(count)

    def row(self, key: int) -> NDArray[np.float32]:
        """Return row `key`."""
        return self.matrix[key]

    def weighted_sum(self, keys: NDArray[np.int64], weights: Vector) -> NDArray[np.float32]:
        """Return the product of the weights (pairs,) and the matrix."""
        return weights.astype(np.float32) @ self.matrix


class DenseEvaluator:
    """Scatters candidates from rank 0 and gathers their returns: an Evaluator for MatrixNoise."""

    def __init__(self, comm: Comm, noise: MatrixNoise | None, popsize: int, dim: int) -> None:
        self.comm, self.noise = comm, noise
        self.loop = self  # one evaluation is all that it serves
        self.starts = np.array(offsets(popsize, comm.size))
        self.counts = np.diff(self.starts)
        rows = popsize if noise else self.counts[comm.rank]
        self.rows = np.empty((rows, dim), np.float32)

    def evaluate(self, population: Seeded, seeds: Any, terms: Any) -> Any:
        """Return what each candidate came to."""
        assert self.noise is not None
        step, centre = np.float32(population.sigma), population.centre.astype(np.float32)
        scaled = np.empty_like(centre)
        for i, row in enumerate(self.noise.matrix):
            np.multiply(step, row, out=scaled)
            np.add(centre, scaled, out=self.rows[2 * i])
            np.subtract(centre, scaled, out=self.rows[2 * i + 1])
        dim = self.rows.shape[1]
        # Rank 0 evaluates its own rows where they are: it sends itself none.
        sizes = np.concatenate([[0], self.counts[1:]]) * dim
        self.comm.Scatterv([self.rows, (sizes, self.starts[:-1] * dim)], self.rows[:0])
        returns = np.empty(len(self.rows))
        self.comm.Gatherv(self._run(), [returns, (self.counts, self.starts[:-1])])
        return SimpleNamespace(returns=returns[:, None])

    def serve(self) -> None:
        """Take part in one evaluation."""
        self.comm.Scatterv(None, self.rows)
        self.comm.Gatherv(self._run(), None)

    def stop(self) -> None:
        """Do nothing: the others have left."""

    def _run(self) -> Vector:
        rank = self.comm.rank
        return free_return(np.arange(self.starts[rank], self.starts[rank + 1], dtype=np.float64))


def variants(comm: Comm, popsize: int, dim: int) -> dict[tuple[str, bool], tuple[Any, Any]]:
    """Return by noise and "made" an evaluator and, on rank 0, its strategy. Collective."""
    noises = {
        "table": TableNoise(shared_table(comm, TABLE, SEED)[0], dim, SEED),
        "computed": ComputedNoise(SEED, dim),
    }
    evaluators: dict[tuple[str, bool], Any] = {
        (name, made): Evaluator(comm, FreeRollout(dim), noise)  # type: ignore[arg-type]
        for made in (True, False)
        for name, noise in noises.items()
    }
    for (_, made), evaluator in evaluators.items():
        if not made:
            evaluator._lookup = lambda *_: lambda candidate: np.zeros(0, np.float32)
    dense = DenseEvaluator(comm, None if comm.rank else MatrixNoise(dim, popsize // 2), popsize, dim)
    evaluators["dense", True] = dense
    if comm.rank:
        return {key: (evaluator, None) for key, evaluator in evaluators.items()}
    return {
        key: (
            evaluator,
            OpenAIES(
                OpenAIES.Options(population_size=popsize, init_sigma=SIGMA),
                np.zeros(dim),
                SEED,
                evaluator.noise,
            ),
        )
        for key, evaluator in evaluators.items()
    }


def one_generation(comm: Counting, evaluator: Any, strategy: OpenAIES) -> dict[str, float]:
    """Return what a generation took, on rank 0."""
    seeds = np.zeros((strategy.popsize, 1), np.int64)
    comm.sent = comm.received = 0
    clock = [time.perf_counter()]
    population = strategy.ask()
    clock.append(time.perf_counter())
    fitness = evaluator.evaluate(population, seeds, Terms()).returns[:, 0]
    clock.append(time.perf_counter())
    strategy.tell(population, fitness)
    clock.append(time.perf_counter())
    assert np.array_equal(fitness, free_return(np.arange(strategy.popsize)))
    ask, evaluate, tell = np.diff(clock).tolist()
    record = {"seconds": clock[-1] - clock[0], "ask": ask, "evaluate": evaluate, "tell": tell}
    return record | {"sent": comm.sent, "received": comm.received}


def worker(generations: int, popsize: int, dim: int) -> None:
    """Run the generations on all ranks; rank 0 prints one line of JSON for each that counts."""
    from mpi4py import MPI

    comm = Counting(MPI.COMM_WORLD)
    with threadpool_limits(1):
        parts = variants(comm, popsize, dim)
        for generation in range(generations + 1):
            for (name, made), (evaluator, strategy) in parts.items():
                if comm.rank:
                    evaluator.loop.serve()
                    continue
                record = one_generation(comm, evaluator, strategy)
                evaluator.loop.stop()
                if generation:  # the first one warms up
                    print(json.dumps({"name": name, "made": made} | record), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--generations", type=int, default=5)
    parser.add_argument("--popsize", type=int, default=512)
    parser.add_argument("--dim", type=int, default=1_000_000)
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        worker(options.generations, options.popsize, options.dim)
        return
    command: list[object] = [Path(sys.prefix, "bin", "mpiexec"), "-n", options.ranks]
    command += [sys.executable, "-m", "mpi4py", __file__, "--worker", "--generations", options.generations]
    command += ["--popsize", options.popsize, "--dim", options.dim]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    setting = f"{options.dim:,} parameters, population {options.popsize}, {options.ranks} ranks"
    print(f"{setting}, medians of {options.generations} generations")
    print(
        "noise     made  seconds     ask  evaluate    tell    MB sent  MB received  dense takes   and sends"
    )
    groups = [[r for r in records if r["name"] == n and r["made"] == m] for n, m in ORDER]
    dense = groups[-1]
    for mine in groups:
        middle = {key: float(np.median([r[key] for r in mine])) for key in NUMBERS}
        slower = np.median([d["seconds"] / r["seconds"] for d, r in zip(dense, mine, strict=True)])
        more = dense[0]["sent"] / max(1, mine[0]["sent"])
        print(
            f"{mine[0]['name']:9s} {'yes' if mine[0]['made'] else 'no':4s} {middle['seconds']:8.3f}"
            f" {middle['ask']:7.3f} {middle['evaluate']:9.3f} {middle['tell']:7.3f}"
            f" {middle['sent'] / 1e6:10.3f} {middle['received'] / 1e6:12.3f}"
            f"  {slower:9.1f} x {more:8.1f} x"
        )


if __name__ == "__main__":
    main()
