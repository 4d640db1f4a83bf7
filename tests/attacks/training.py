"""The training that is attacked: how it is started, watched, continued and compared."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks import processes
from tests.faults.chaos import finished
from tests.launching import LIMIT, MPIEXEC, ROOT, assert_same, exact_content
from tests.slurm.jobs import OPTIONS

LAST = 8  # generations
MEMORY = 2**20  # KiB that a process may use
CHOICES = {  # options that do not change a history, but for --strategy
    "--dispatch": ("static", "dynamic"),
    "--checkpoint-interval": ("0", "0", "0.1", "5"),
    "--console": ("lines", "silent"),
}
STRATEGIES = ("cma_es", "openai_es", "snes")


@dataclass
class Outcome:
    """How a program ended."""

    code: int
    text: str  # all that it printed
    memory: int  # KiB, of the largest of its processes


@dataclass
class Attack:
    """One attack: its random choices, and the run that it falls on."""

    number: int
    chance: random.Random
    place: Path
    name: str = ""  # by which its processes are found
    story: list[str] = field(default_factory=list)  # what was done

    def __post_init__(self) -> None:
        self.run = self.place / f"run-{self.number}"
        self.name = f"{os.getpid()}-{self.number}"
        self.strategy = self.chance.choice(STRATEGIES)
        self.pause = self.chance.choice((0, 0.02, 0.05))  # seconds of an episode
        self.log = self.place / f"log-{self.number}"

    def options(self) -> list[str]:
        """Return the options of a training, among them some by chance."""
        chosen = [word for name, values in CHOICES.items() for word in (name, self.chance.choice(values))]
        return [*fixed(self.strategy, self.pause), *chosen]

    def command(self, ranks: int | None = None) -> list[str]:
        """Return the command of a training that begins, or goes on where it is."""
        ranks = self.chance.choice((0, 0, 1, 2, 3)) if ranks is None else ranks
        launcher = [str(MPIEXEC), "-n", str(ranks)] if ranks else []
        train = ["-m", "mpi_es.train", *self.options(), "--continue", "--run-dir", str(self.run)]
        return [*launcher, sys.executable, *train]

    def start(self, command: list[str], **options: object) -> subprocess.Popen:
        """Start a command; what it prints goes to a file."""
        self.story.append(" ".join(command))
        environ = os.environ | {processes.MARK: self.name}
        with open(self.log, "ab") as log:
            given = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "env": environ, "cwd": ROOT}
            return subprocess.Popen(command, start_new_session=True, **given | options)

    def wait(self, process: subprocess.Popen) -> Outcome:
        """Wait until a program and all that it started have ended; one that does not is killed and raises."""
        limit, memory = time.monotonic() + LIMIT, 0
        while time.monotonic() < limit:
            if process.returncode is None:
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
                if ended:
                    process.returncode, memory = os.waitstatus_to_exitcode(status), usage.ru_maxrss
            elif not processes.of_attack(self.name):
                return Outcome(process.returncode, self.log.read_text(errors="replace"), memory)
            time.sleep(0.02)
        left = processes.of_attack(self.name)
        processes.end(self.name)
        process.wait()
        raise AssertionError(f"hangs: {left or 'the program'} after {LIMIT} s")

    def moment(self) -> None:
        """Wait for a moment in the life of a program: while it starts, or trains, or ends."""
        time.sleep(self.chance.uniform(0, self.chance.choice((1.0, 4.0, 8.0))))

    def strike(self, role: str, number: int) -> None:
        """Signal a process of this attack, if there is one of that role."""
        found = sorted(pid for pid, of in processes.of_attack(self.name).items() if of == role)
        self.story.append(f"{signal.Signals(number).name} to {role}, of {len(found)}")
        if found:
            try:
                os.kill(self.chance.choice(found), number)
            except ProcessLookupError:
                self.story.append("which had ended")


def check(outcome: Outcome) -> None:
    """Refuse what no program may do, however it was attacked."""
    assert "Traceback" not in outcome.text, "a traceback"
    assert outcome.memory <= MEMORY, f"{outcome.memory} KiB"


def check_continued(attack: Attack, calm: Path) -> None:
    """Continue a run to its end, and compare it with the undisturbed one."""
    attack.log = attack.log.with_suffix(".continued")
    outcome = attack.wait(attack.start(attack.command()))
    check(outcome)
    assert outcome.code == 0, f"the run is not continued, exit code {outcome.code}"
    assert finished(attack.run)
    assert_same(exact_content(attack.run), exact_content(calm))


def fixed(strategy: str, pause: float) -> list[str]:
    """Return the options that make the history of a run, and its pace."""
    words = [*OPTIONS, "--env-options", f"pause={pause}", "--strategy", strategy, "--max-iter", LAST]
    return list(map(str, words))


def undisturbed(place: Path, strategy: str) -> Path:
    """Return the directory of the same training in one process, which is run where it is not there yet."""
    run = place / f"calm-{strategy}"
    if not run.exists():
        command = [sys.executable, "-m", "mpi_es.train", *fixed(strategy, 0), "--console", "silent"]
        subprocess.run([*command, "--run-dir", str(run)], cwd=ROOT, check=True, timeout=LIMIT)
    return run
