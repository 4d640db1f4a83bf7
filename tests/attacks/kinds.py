"""The kinds of attack. Each begins a training, disturbs it and returns how it ended."""

import contextlib
import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.attacks.processes import MARK, ROLES
from tests.attacks.training import Attack, Outcome
from tests.launching import LEADER, ROOT
from tests.run_file import forgeries

Kind = Callable[[Attack], Outcome]
ERRORS = ("EIO", "ENOSPC", "EDQUOT", "ESTALE", "EACCES", "EROFS", "ENOTCONN", "EMFILE")
CALLS = ("%file", "write", "fsync", "rename,renameat,renameat2", "link,linkat", "openat", "flock", "%%stat")
CALLS += ("unlink,unlinkat", "mkdir,mkdirat", "ftruncate", "close")
FILES = ("", "run.h5", "run.previous.h5", "run.previous.tmp", ".run.h5.tmp", ".lock", "config.toml")
FILES += (".config.toml.tmp",)
SHELL = (  # what a shell may do before it starts a program
    "ulimit -n {files}",
    "ulimit -f {blocks}",
    "ulimit -s unlimited",
    "ulimit -c unlimited",
    "umask 777",
    "umask 000",
    "exec >&-",
    "exec 2>&-",
    "exec <&-",
    "exec >/dev/full",
    "cd /",
    "export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0",
    "export LC_ALL=tr_TR.UTF-8",
    "export TMPDIR=/nonexistent",
    "export PYTHONOPTIMIZE=1",
    "export PYTHONDEVMODE=0 PYTHONDONTWRITEBYTECODE=1",
    "export TZ=Nowhere/Here",
    "export TERM=unknown COLUMNS=0",
    "unset HOME USER LOGNAME",
    "trap '' HUP",
    "trap '' TERM",
)


def kill(attack: Attack) -> Outcome:
    """SIGKILL to any process."""
    process = attack.start(attack.command())
    attack.moment()
    attack.strike(attack.chance.choice(list(ROLES)), signal.SIGKILL)
    if attack.chance.random() < 0.3:  # the same moment hits another, too
        attack.strike(attack.chance.choice(list(ROLES)), signal.SIGKILL)
    return attack.wait(process)


def stop(attack: Attack) -> Outcome:
    """A signal that asks for the end, to a rank or its launcher."""
    process = attack.start(attack.command())
    number = attack.chance.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT))
    if number == signal.SIGINT:  # Python itself answers it by a traceback until our code runs
        while process.poll() is None and not (attack.run / "run.h5").exists():
            attack.moment()
    attack.moment()
    attack.strike(attack.chance.choice(("rank", "rank", "mpiexec", "proxy")), number)
    return attack.wait(process)


def terminal(attack: Attack) -> Outcome:
    """A terminal that closes."""
    outer, inner = pty.openpty()
    program = [sys.executable, "-c", LEADER, *attack.command()]
    process = attack.start(program, stdin=inner, stdout=inner)
    os.close(inner)
    os.set_blocking(outer, False)
    attack.moment()
    with contextlib.suppress(OSError):
        os.read(outer, 2**20)
    os.close(outer)
    return attack.wait(process)


def failing_call(attack: Attack) -> Outcome:
    """A system call that fails in the run's directory: once, or from then on."""
    chance = attack.chance
    paths = [word for name in FILES for word in ("-P", str(attack.run / name))]
    when = f"{chance.randint(1, 30)}{chance.choice(('', '+'))}"
    calls, error = chance.choice(CALLS), chance.choice(ERRORS)
    inject = ["-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={when}"]
    strace = ["strace", "-f", "--seccomp-bpf", "-o", os.devnull, *paths, *inject]
    return attack.wait(attack.start([*strace, *attack.command()]))


def shell(attack: Attack) -> Outcome:
    """Limits, streams, variables and directories that a shell leaves behind."""
    chosen = attack.chance.sample(SHELL, attack.chance.choice((1, 1, 2)))
    numbers = {
        "files": attack.chance.choice((40, 64, 256)),
        "blocks": attack.chance.choice((0, 1, 8, 64, 256)),
    }
    script = "; ".join(chosen).format(**numbers)
    words = ["sh", "-c", f'{script}; exec "$@"', "sh", *attack.command()]
    environ = os.environ | {MARK: attack.name, "PYTHONPATH": str(ROOT)}  # since it may go elsewhere
    return attack.wait(attack.start(words, env=environ))


def small_memory(attack: Attack) -> Outcome:
    """A shared memory that is small, or full."""
    size = attack.chance.choice((0, 64, 1000, 1100, 2100, 3200, 6000))
    script = f'mount -t tmpfs -o size={max(size, 4)}k tmpfs /dev/shm && exec "$@"'
    return attack.wait(attack.start(["unshare", "--mount", "sh", "-c", script, "sh", *attack.command()]))


def full_disk(attack: Attack) -> Outcome:
    """A disk that fills, or that cannot be written to; it has room again for the run that goes on."""
    with _disk(attack) as mounted:
        size = f"size={attack.chance.choice((4, 16, 40, 80, 160))}k"
        _mount("remount," + attack.chance.choice((size, "ro", size)), mounted)
        outcome = attack.wait(attack.start(attack.command()))
        _mount("remount,rw,size=64m", mounted)
        if attack.run.exists():
            shutil.copytree(attack.run, attack.place / "kept", dirs_exist_ok=True)
    if (attack.place / "kept").exists():
        shutil.move(attack.place / "kept", attack.run)
    return outcome


@contextmanager
def _disk(attack: Attack) -> Iterator[Path]:
    attack.run.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", attack.run], check=True)
    try:
        yield attack.run
    finally:
        subprocess.run(["umount", "--lazy", attack.run], check=True)
        attack.run.rmdir()


def _mount(options: str, place: Path) -> None:
    subprocess.run(["mount", "-o", options, place], check=True)


def forged(attack: Attack) -> Outcome:
    """A run file with the right checksum and another content; the true one is there again afterwards."""
    process = attack.start(attack.command())
    attack.wait(process)
    true = (attack.run / "run.h5").read_bytes()
    edit = attack.chance.choice(forgeries.edits_of(true))
    image = forgeries.changed(true, edit)
    shutil.copytree(attack.run, attack.place / "forged", dirs_exist_ok=True)
    for name in ("run.h5", "run.previous.h5"):
        (attack.place / "forged" / name).write_bytes(image)
    program = attack.chance.choice(("status", "evaluate", "report", "export", "train"))
    resume = ["--resume"] * (program == "train")
    command = [sys.executable, "-m", f"mpi_es.{program}", *resume, str(attack.place / "forged")]
    attack.story.append(f"forged: {edit}")
    outcome = attack.wait(attack.start(command))
    shutil.rmtree(attack.place / "forged")
    assert outcome.code in (0, 2), f"exit code {outcome.code}"
    return outcome


def _available() -> dict[str, Kind]:
    """Return the kinds that work on this machine."""
    found: dict[str, Kind] = {
        "kill": kill,
        "stop": stop,
        "terminal": terminal,
        "shell": shell,
        "forged": forged,
    }
    if shutil.which("strace"):
        found["failing call"] = failing_call
    if os.geteuid() == 0:  # who may mount
        found |= {"small memory": small_memory, "full disk": full_disk}
    return found


KINDS = _available()
