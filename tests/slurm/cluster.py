"""A real Slurm of several virtual nodes on this machine: its own directory, ports and processes."""

import contextlib
import fcntl
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.launching import LIMIT, call

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
# A job that is requeued begins again when its credential has expired: after 120 s where nothing is set. To
# tell it to begin sooner would fail, for its nodes have revoked the credential.
SETTINGS = """
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmUser=root
SlurmdUser=root
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool/%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.%n.pid
SlurmctldLogFile={place}/log/slurmctld.log
SlurmdLogFile={place}/log/slurmd.%n.log
PlugStackConfig={place}/plugstack.conf
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait={kill_wait}
SlurmdTimeout=5
MinJobAge=3600
InactiveLimit=0
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2
"""
OVER = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "DEADLINE"}
PORTS = (20_000, 32_000)
_LOOK = "State:20,RestartCnt:10"


def install() -> str:
    """Install Slurm where that may be done; return why there is none, or nothing."""
    if all(map(shutil.which, ("slurmctld", "slurmd", "sbatch"))):
        return "" if os.geteuid() == 0 else "Slurm's daemons are started as root"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return "no Slurm here, and only root may install it, with apt-get"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 240}
    with open(Path(tempfile.gettempdir(), "mpi_es-apt.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of several workers one installs
        try:
            subprocess.run(["apt-get", "update"], **quiet)
            done = subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES], **quiet)
        except subprocess.TimeoutExpired:
            return "apt-get did not install Slurm in time"
    return "" if done.returncode == 0 else "apt-get could not install Slurm"


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at, below those that the system gives to connections of others."""
    found: list[int] = []
    while len(found) < count:
        port = random.SystemRandom().randrange(*PORTS)  # for several clusters at once
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


@dataclass(frozen=True)
class Job:
    """What was submitted."""

    number: str
    directory: Path  # from which it was

    @property
    def log(self) -> str:
        """What the job has written so far."""
        (path,) = self.directory.glob(f"*-{self.number}.log")
        return path.read_text()


class Cluster:
    """Slurm's daemons, as a context manager; several may live side by side.

    Args:
        disks: give each node a directory of its own, under one path on all of them, as local disks have.
        kill_wait: seconds from SIGTERM to SIGKILL, by default few, so that tests are short.
    """

    def __init__(self, nodes: int = 2, *, disks: bool = False, kill_wait: int = 5) -> None:
        self.nodes = [f"n{i}" for i in range(nodes)]
        self.disks, self.kill_wait = disks, kill_wait
        self.daemons: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> "Cluster":
        # A socket's path has 107 characters at most, which pytest's own directories would use up.
        self.place = Path(tempfile.mkdtemp(prefix="slurm", dir="/tmp"))
        for name in ("state", "spool", "log", "disk", *self.nodes):
            (self.place / name).mkdir()
        (self.place / "plugstack.conf").touch()
        host = socket.gethostname().partition(".")[0]
        port, *ports = free_ports(1 + len(self.nodes))
        lines = [SETTINGS.format(place=self.place, host=host, port=port, kill_wait=self.kill_wait)]
        for name, of_node in zip(self.nodes, ports, strict=True):
            lines.append(
                f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={of_node} "
                "CPUs=32 RealMemory=16000 State=UNKNOWN"
            )
        self.conf = self.place / "slurm.conf"
        self.conf.write_text("\n".join(lines) + "\n")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
        self.environ = clean | {"SLURM_CONF": str(self.conf)}
        self.start_controller()
        try:
            self.until(self._all_idle)
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def disk(self) -> Path:
        """The path of each node's disk; from outside of a node, see the directory with its name."""
        return self.place / "disk"

    def _all_idle(self) -> bool:
        for name in self.nodes:
            self.start_node(name)
        return self.ask("sinfo", "-h", "-o", "%T", "-p", "main", check=False) == "idle"

    def __exit__(self, *_: object) -> None:
        self.ask("scancel", "--user=root", check=False)
        with contextlib.suppress(TimeoutError):
            self.until(lambda: not self.ask("squeue", "-h", check=False))
        for daemon in self.daemons.values():
            daemon.terminate()
        for daemon in self.daemons.values():
            daemon.wait(timeout=LIMIT)
        shutil.rmtree(self.place, ignore_errors=True)

    def _start(self, name: str, *command: str) -> None:
        log = open(self.place / "log" / f"{name}.out", "w")  # noqa: SIM115  (its process's)
        self.daemons[name] = subprocess.Popen(
            [*command, "-f", str(self.conf)], env=self.environ, stdout=log, stderr=subprocess.STDOUT
        )

    def start_controller(self) -> None:
        """Start the daemon that knows of all jobs."""
        self._start("slurmctld", "slurmctld", "-D")

    def stop_controller(self) -> None:
        """End it; jobs go on meanwhile."""
        self.daemons["slurmctld"].terminate()
        self.daemons["slurmctld"].wait(timeout=LIMIT)

    def start_node(self, name: str) -> None:
        """Start a node's daemon, unless it runs."""
        mount = f'mount --bind "{self.place}/{name}" "{self.disk}" && exec "$@"'
        own = ["unshare", "--mount", "sh", "-c", mount, "sh"] if self.disks else []
        if name not in self.daemons or self.daemons[name].poll() is not None:
            self._start(name, *own, "slurmd", "-D", "-N", name)

    def stop_node(self, name: str) -> None:
        """Kill a node's daemon; what it has started goes on."""
        self.daemons[name].kill()
        self.daemons[name].wait()

    def set_down(self, name: str) -> None:
        """Do as an operator does who takes a node away."""
        self.ask("scontrol", "update", f"nodename={name}", "state=down", "reason=test")

    def resume(self, name: str) -> None:
        """Give a node back that was set down; it may have come back by itself."""
        self.ask("scontrol", "update", f"nodename={name}", "state=resume", check=False)

    def ask(self, *command: str, check: bool = True) -> str:
        """Return what a command of Slurm's prints."""
        done = call(*command, env=self.environ)
        assert not check or done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout.strip()

    def submit(self, directory: Path, *command: object, **variables: str) -> Job:
        """Submit from a directory: options of sbatch, the script, its arguments."""
        done = call("sbatch", "--parsable", *command, env=self.environ | variables, cwd=directory)
        assert done.returncode == 0, done.stderr
        return Job(done.stdout.strip(), directory)

    def state(self, job: Job) -> str:
        """Return a job's state."""
        return self.ask("squeue", "-h", "-t", "all", "-j", job.number, "-o", "%T").partition("\n")[0]

    def look(self, job: Job) -> tuple[str, int]:
        """Return a job's state, and how often it was requeued."""
        state, restarts = self.ask("squeue", "-h", "-t", "all", "-j", job.number, "-O", _LOOK).split()[:2]
        return state, int(restarts)

    def restarts(self, job: Job) -> int:
        """Return how often a job was requeued."""
        shown = self.ask("scontrol", "show", "job", job.number)
        return int(shown.partition("Restarts=")[2].split()[0])

    def nodes_of(self, job: Job) -> list[str]:
        """Return the nodes that a job has, none while it waits."""
        listed = self.ask("squeue", "-h", "-j", job.number, "-o", "%N", check=False)
        return self.ask("scontrol", "show", "hostnames", listed).split() if listed else []

    def processes(self, job: Job, pattern: str = ".", node: str = "") -> list[int]:
        """Return a job's processes, by what Slurm has set in their environment.

        Args:
            pattern: of their command.
            node: theirs; all if empty.
        """
        marks = {f"SLURM_CONF={self.conf}", f"SLURM_JOB_ID={job.number}"}
        if node:
            marks.add(f"SLURMD_NODENAME={node}")
        found = []
        for pid in subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True).stdout.split():
            with contextlib.suppress(OSError):  # it ended meanwhile
                if marks <= set(Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")):
                    found.append(int(pid))
        return found

    def lose_node(self, name: str, job: Job) -> None:
        """Kill a node's daemon and all that it runs of a job, as a power cut does."""
        victims = self.processes(job, node=name)
        parents = {_parent(pid) for pid in victims}
        # A step's own daemon carries no mark; it is the parent of what it started.
        steps = [pid for pid in parents if _command(pid).startswith("slurmstepd")]
        self.stop_node(name)
        for pid in (*steps, *victims):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def end(self, job: Job, limit: float = LIMIT) -> str:
        """Return the state of a job that is over."""

        def over() -> bool:
            if self.state(job) not in OVER:
                return False
            # One that is being requeued may show for a moment how its script ended; its log tells.
            logs = [path.read_text() for path in job.directory.glob(f"*-{job.number}.log")]
            requeued = sum(log.count("; requeued\n") for log in logs)
            return requeued <= self.restarts(job) and self.state(job) in OVER

        self.until(over, limit)
        return self.state(job)

    def until(self, condition: object, limit: float = LIMIT, pause: float = 0.2) -> None:
        """Wait for something to become true, looking again after each pause."""
        end = time.monotonic() + limit
        while not condition():  # type: ignore[operator]
            if time.monotonic() > end:
                raise TimeoutError(self.ask("squeue", "-t", "all", check=False))
            time.sleep(pause)


def _parent(pid: int) -> int:
    """Return a process's parent; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    """Return a process's command; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
