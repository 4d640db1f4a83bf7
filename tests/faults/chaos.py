"""Trainings under a real Slurm that are hit at random times and must end as if nothing had been.

    python -m tests.faults.chaos --blows 50 --seed 1

The seed decides which blows fall and when; what they hit then is up to the machine.
"""

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mpi_es.run_file import checkpoint
from mpi_es.status import generations
from tests.faults.blows import KINDS, Target
from tests.launching import ROOT, assert_same, exact_content, start
from tests.slurm.cluster import OVER, Cluster, Job, install
from tests.slurm.jobs import OPTIONS, RANK, variables

LAST = 60  # generations
SPARE = 2  # nodes beside the job's, for it to go to
LONGEST_GAP = 30.0  # seconds between blows: in half of them a job is requeued and starts again
UNHURT = 3  # generations more without a requeue: the blow had no effect
LIMIT = 600.0  # seconds that a run may take after its last blow


@dataclass(frozen=True)
class Training:
    """How large a job is, and how slow."""

    ranks: int = 8
    nodes: int = 4
    pause: float = 0.3  # seconds an episode: a run of half a minute, most of it idle

    def options(self) -> list[str]:
        """Return them for sbatch."""
        each = self.ranks // self.nodes
        return [f"--ntasks={self.ranks}", f"--nodes={self.nodes}", f"--ntasks-per-node={each}"]


@dataclass
class Blow:
    """What fell, and what it cost."""

    run: int
    kind: str
    generation: int  # that were done
    training: bool  # else the job was about to begin
    restarts: int  # how often the job was requeued before
    fell: float
    left: int | None = None  # generations that were done when it was requeued next
    seconds: float | None = None  # until there is one more, whatever else falls meanwhile

    def __str__(self) -> str:
        state = "training" if self.training else "starting"
        lost = "-" if self.seconds is None else f"{self.seconds:.1f}"
        return f"{self.run:>3}  {self.generation:>10}  {state}  {self.kind:<18}  {lost:>12}"


HEADER = "run  generation  state     blow                seconds lost"


class Storm:
    """Blows in random order, each kind as often as the others, at random times."""

    def __init__(self, chance: random.Random, kinds: list[str], most: int, longest_gap: float) -> None:
        self.chance, self.kinds, self.most, self.longest_gap = chance, kinds, most, longest_gap
        self.blows: list[Blow] = []
        self.bag: list[str] = []
        self.wait()

    def wait(self) -> None:
        """Decide when the next one falls."""
        self.due = time.monotonic() + self.chance.uniform(0, self.longest_gap)

    def strike(self, target: Target, run: int, restarts: int, done: int) -> None:
        """Let one fall if it is time; it counts if it found something to hit."""
        if len(self.blows) >= self.most or time.monotonic() < self.due:
            return
        self.wait()
        self.bag = self.bag or self.chance.sample(self.kinds, len(self.kinds))
        training = bool(target.cluster.processes(target.job, RANK))
        blow = Blow(run, self.bag[-1], done, training, restarts, time.monotonic())
        if KINDS[blow.kind](target):
            self.bag.pop()
            self.blows.append(blow)

    def note(self, run: int, state: str, restarts: int, done: int) -> None:
        """Note from which blows a run has recovered."""
        for blow in self.blows:
            if blow.run != run or blow.seconds is not None:
                continue
            if restarts == blow.restarts:
                if done > blow.generation + UNHURT:
                    blow.seconds = 0.0
            elif state != "RUNNING":
                blow.left = done
            elif blow.left is not None and done > blow.left:
                blow.seconds = time.monotonic() - blow.fell

    def close(self, run: int) -> None:
        """Note that a run is finished."""
        for blow in self.blows:
            if blow.run == run and blow.seconds is None:
                blow.seconds = time.monotonic() - blow.fell


def undisturbed(directory: Path) -> Path:
    """Return the directory of the same run in one process, without blows and pauses."""
    options = (*OPTIONS, "--env-options", "pause=0", "--max-iter", LAST, "--console", "silent")
    process = start(0, "-m", "mpi_es.train", *options, "--run-dir", directory, cwd=ROOT)
    assert process.communicate(timeout=600)[1] == ""
    return directory


def endure(cluster: Cluster, place: Path, run: int, storm: Storm, training: Training) -> Job:
    """Return the job of a run that is over, after the blows that fell on it."""
    directory = place / f"run-{run}"
    options = (
        *OPTIONS,
        "--env-options",
        f"pause={training.pause}",
        "--max-iter",
        LAST,
        "--run-dir",
        directory.name,
    )
    script = ROOT / "slurm" / "train.sh"
    changed = variables(ROOT) | {"MPI_ES_RETRIES": "1000"}
    job = cluster.submit(place, *training.options(), script, *options, **changed)
    target = Target(cluster, job, storm.chance)
    begin = time.monotonic()
    with mended(target):
        while not over(cluster, job):
            last = max([begin, *(blow.fell for blow in storm.blows)])
            if time.monotonic() - last > LIMIT:
                break
            target.repair(time.monotonic())
            (state, restarts), done = cluster.look(job), generations(directory)
            storm.note(run, state, restarts, done)
            if state == "RUNNING":
                storm.strike(target, run, restarts, done)
            time.sleep(0.2)
    if finished(directory):
        storm.close(run)
    return job


@contextmanager
def mended(target: Target) -> Iterator[None]:
    """Leave all nodes whole behind."""
    try:
        yield
    finally:
        target.repair(float("inf"))


def over(cluster: Cluster, job: Job) -> bool:
    """Return whether a job will not come back."""
    if cluster.state(job) not in OVER:
        return False
    time.sleep(1)  # one that is being requeued may show for a moment how its script ended
    return cluster.state(job) in OVER


def finished(directory: Path) -> bool:
    """Return whether a run says that there is nothing left to do."""
    return checkpoint.exists(directory) and bool(checkpoint.load(directory)[0]["life"]["finished"])


def verdict(cluster: Cluster, job: Job, run: Path, calm: Path) -> str:
    """Return why a run is lost; empty if it is not."""
    if (state := cluster.state(job)) != "COMPLETED":
        return f"its job is {state}"
    try:
        assert_same(exact_content(run), exact_content(calm))
    except AssertionError as error:
        return f"its history differs: {error}"
    return ""


def summary(blows: list[Blow]) -> list[str]:
    """Return a line for each kind of blow, and one for all."""
    lines = [f"{'blow':<18}  number  median  largest  seconds lost"]
    for kind in (*KINDS, "all"):
        fell = [blow.seconds for blow in blows if kind in (blow.kind, "all")]
        if lost := [seconds for seconds in fell if seconds is not None]:
            lines.append(f"{kind:<18}  {len(fell):>6}  {statistics.median(lost):>6.1f}  {max(lost):>7.1f}")
    return lines


def main() -> int:
    """Train until enough blows fell; return 1 if a run was lost."""
    parser = argparse.ArgumentParser(
        "python -m tests.faults.chaos", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--blows", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if reason := install():
        print(f"error: {reason}", file=sys.stderr)
        return 2
    storm = Storm(random.Random(chosen.seed), list(KINDS), chosen.blows, LONGEST_GAP)
    training, place, run, lost = Training(), Path(tempfile.mkdtemp(prefix="chaos")), 0, 0
    calm = undisturbed(place / "calm")
    print(HEADER, flush=True)
    with Cluster(nodes=training.nodes + SPARE) as cluster:
        while len(storm.blows) < chosen.blows:
            run += 1
            job = endure(cluster, place, run, storm, training)
            for blow in storm.blows:
                if blow.run == run:
                    print(blow, flush=True)
            if why := verdict(cluster, job, place / f"run-{run}", calm):
                lost += 1
                print(f"run {run} is lost: {why}\n{job.log}", flush=True)
    print("", *summary(storm.blows), sep="\n")
    print(f"{len(storm.blows)} blows on {run} runs, {lost} lost; their directories and logs: {place}")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
