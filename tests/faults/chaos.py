"""Trainings under a real Slurm that are hit at random times and must end as if nothing had been.

    python -m tests.faults.chaos --blows 50 --seed 1

The seed decides which blows fall and when; what they hit then is up to the machine.
"""

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mpi_es import checkpoint
from tests.launching import assert_same, exact_content, start
from tests.slurm.cluster import OVER, ROOT, Cluster, Job, install
from tests.slurm.jobs import MPIEXEC, OPTIONS, RANK, generation, variables

LAST = 60  # generations
SCRIPT = r"^(/\S*/)?bash \S*/slurm_script"
ANY_RANK = r"^python -m mpi_es\.(train|doctor)"  # the doctor's are those that examine the launcher
PAUSE = "--env-options", "pause=0.3"  # seconds an episode: a run of half a minute, most of it idle
SPARE = 2  # nodes beside the job's, for it to go to
LONGEST_GAP = 30.0  # seconds between blows: in half of them a job is requeued and starts again
OUTAGE = 3.0, 20.0  # seconds until a node is back: before Slurm misses it, after 5, or long after
UNHURT = 3  # generations more without a requeue: the blow had no effect
LIMIT = 600.0  # seconds that a run may take after its last blow


@dataclass(frozen=True)
class Size:
    """A job's ranks and nodes."""

    ranks: int = 8
    nodes: int = 4

    def options(self) -> list[str]:
        """Return them for sbatch."""
        each = self.ranks // self.nodes
        return [f"--ntasks={self.ranks}", f"--nodes={self.nodes}", f"--ntasks-per-node={each}"]


@dataclass
class Target:
    """A job, where it runs, and what must be mended there in a while."""

    cluster: Cluster
    job: Job
    chance: random.Random
    repairs: list[tuple[float, Callable[[], object]]] = field(default_factory=list)

    def repair(self, until: float) -> None:
        """Mend what is due."""
        for due, mend in [one for one in self.repairs if one[0] <= until]:
            self.repairs.remove((due, mend))
            mend()

    def later(self, mend: Callable[[], object]) -> None:
        """Mend something after an outage."""
        self.repairs.append((time.monotonic() + self.chance.uniform(*OUTAGE), mend))

    def some_node(self) -> str:
        """Return one of the job's nodes, or nothing."""
        return self.chance.choice(self.cluster.nodes_of(self.job) or [""])


# Blows: each tells whether there was something to hit.


def signal_to_script(target: Target) -> bool:
    """Do as Slurm does before the time limit."""
    # Before the script has begun the signal ends the job for good, and nobody could catch it.
    found = bool(target.cluster.processes(target.job, SCRIPT))
    if found:
        target.cluster.ask("scancel", "--batch", "--signal=USR1", target.job.number, check=False)
    return found


def signal_to_ranks(target: Target) -> bool:
    """Signal all but the script."""
    found = bool(target.cluster.processes(target.job, ANY_RANK))
    target.cluster.ask("scancel", "--signal=USR1", target.job.number, check=False)
    return found


def requeue(target: Target) -> bool:
    """Do as an operator or a preemption does."""
    target.cluster.ask("scontrol", "requeue", target.job.number, check=False)
    return True


def node_down(target: Target) -> bool:
    """Set a node down, and resume it later."""
    if name := target.some_node():
        target.cluster.set_down(name)
        target.later(lambda: target.cluster.resume(name))
    return bool(name)


def node_lost(target: Target) -> bool:
    """Kill a node's daemon and all that it runs, on the first node the script too; start it later."""
    if name := target.some_node():
        target.cluster.lose_node(name, target.job)
        target.later(lambda: target.cluster.start_node(name))
    return bool(name)


def daemon_killed(target: Target) -> bool:
    """Kill a node's daemon alone, whose ranks go on; start it later."""
    if name := target.some_node():
        target.cluster.stop_node(name)
        target.later(lambda: target.cluster.start_node(name))
    return bool(name)


def kill_one(target: Target, pattern: str) -> bool:
    """Kill one of the job's processes."""
    found = target.cluster.processes(target.job, pattern)
    if found:
        os.kill(target.chance.choice(found), signal.SIGKILL)
    return bool(found)


KINDS: dict[str, Callable[[Target], bool]] = {
    "USR1 to the script": signal_to_script,
    "USR1 to the ranks": signal_to_ranks,
    "requeue": requeue,
    "node down": node_down,
    "node lost": node_lost,
    "slurmd killed": daemon_killed,
    "rank killed": lambda target: kill_one(target, ANY_RANK),
    "mpiexec killed": lambda target: kill_one(target, MPIEXEC),
}


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


def endure(cluster: Cluster, place: Path, run: int, storm: Storm, size: Size) -> Job:
    """Return the job of a run that is over, after the blows that fell on it."""
    directory = place / f"run-{run}"
    options = (*OPTIONS, *PAUSE, "--max-iter", LAST, "--run-dir", directory.name)
    script = ROOT / "slurm" / "carracing.sh"
    changed = variables(ROOT) | {"MPI_ES_RETRIES": "1000"}
    job = cluster.submit(place, *size.options(), script, *options, **changed)
    target = Target(cluster, job, storm.chance)
    begin = time.monotonic()
    with mended(target):
        while not over(cluster, job):
            last = max([begin, *(blow.fell for blow in storm.blows)])
            if time.monotonic() - last > LIMIT:
                break
            target.repair(time.monotonic())
            (state, restarts), done = cluster.look(job), generation(directory)
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
    """Tell whether a job will not come back."""
    if cluster.state(job) not in OVER:
        return False
    time.sleep(1)  # one that is being requeued may show for a moment how its script ended
    return cluster.state(job) in OVER


def finished(directory: Path) -> bool:
    """Tell whether a run says that there is nothing left to do."""
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
    size, place, run, lost = Size(), Path(tempfile.mkdtemp(prefix="chaos")), 0, 0
    calm = undisturbed(place / "calm")
    print(HEADER, flush=True)
    with Cluster(nodes=size.nodes + SPARE) as cluster:
        while len(storm.blows) < chosen.blows:
            run += 1
            job = endure(cluster, place, run, storm, size)
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
