"""What may hit a job under Slurm: functions that tell whether there was something to hit."""

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.slurm.cluster import Cluster, Job
from tests.slurm.jobs import MPIEXEC, RANK

SCRIPT = r"^(/\S*/)?bash \S*/slurm_script"
ANY_RANK = rf"{RANK}|^python -m mpi_es\.doctor"  # the doctor's are those that look at the launcher
OUTAGE = 3.0, 20.0  # seconds until a node is back: before Slurm misses it, after 5, or long after


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
    try:
        os.kill(target.chance.choice(found), signal.SIGKILL)
    except (IndexError, ProcessLookupError):  # none, or it ended meanwhile
        return False
    return True


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
