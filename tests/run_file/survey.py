"""python -m tests.run_file.survey [SEED…]: what each command makes of forged run files.

Every command runs in a process of its own, which may take LIMIT seconds of CPU time and MEMORY bytes. It
holds if it ends with exit code 0, or with 2 and one line `error: …`.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import matplotlib.backends.backend_agg  # noqa: F401  (what all commands need is imported once)

import pbt.evaluate
import pbt.replay
import pbt.report
import pbt.reports.page
import pbt.train
from mpi_es import evaluate, export, report, status, train
from mpi_es.errors import RolloutError, UserError
from mpi_es.parallel.collectives import SerialComm
from tests.run_file import bases
from tests.run_file.forgeries import ALL, forged

ROOT = Path(__file__).parents[2]
LIMIT = 60  # seconds
MEMORY = 2**30  # bytes
_FEW = ["--episodes", "2"]
_QUIET = ["--console", "silent", "--no-tensorboard"]


def commands(program: str) -> dict[str, Callable[[Path], int]]:
    """Return the commands that read a run of a program, by name."""

    def of(main: Callable[..., int], *words: str, run: str = "{run}") -> Callable[[Path], int]:
        def call(place: Path) -> int:
            given = [word.format(run=place, new=place / "new") for word in words]
            return main(SerialComm(), given)

        return call

    found: dict[str, Callable[[Path], int]] = {"status": lambda place: status.main([str(place)])}
    if program == "mpi_es":
        begin = ["cartpole", "--hidden", "4", "--max-iter", "1", "--num-eval-rollouts", "1"]
        return found | {
            "evaluate": of(evaluate.main, "{run}", *_FEW),
            "evaluate last": of(evaluate.main, "{run}", "--candidate", "last", *_FEW),
            "evaluate file": of(evaluate.main, "--from-pretrained", "{run}/run.h5", *_FEW),
            "report": of(report.main, "{run}", "--out", "{new}"),
            "export": of(export.main, "{run}", "--out", "{new}.npz"),
            "resume": of(train.main, "--resume", "{run}", "--max-iter", "5", *_QUIET),
            "pretrained": of(train.main, *begin, "--from-pretrained", "{run}", "--run-dir", "{new}", *_QUIET),
        }
    return found | {
        "report": of(pbt.report.main, "{run}"),
        "evaluate": of(pbt.evaluate.main, "{run}", *_FEW),
        "evaluate member": of(pbt.evaluate.main, "{run}", "--member", "1", *_FEW),
        "replay": of(pbt.replay.main, "{run}", *_FEW),
        "resume": of(pbt.train.main, "--resume", "{run}", "--max-iter", "12", *_QUIET),
    }


def outcome(work: Callable[[], int]) -> str:
    """Return how a command ends in a process of its own: 0, 2, or what is wrong."""
    with tempfile.TemporaryFile("w+") as output:
        process = os.fork()
        if process == 0:
            _run(work, output.fileno())
        _, code, usage = os.wait4(process, 0)
        output.seek(0)
        said = output.read()
    if os.WIFSIGNALED(code):
        number = os.WTERMSIG(code)
        return "hang" if number in (signal.SIGXCPU, signal.SIGALRM) else f"signal {number}"
    if "MemoryError" in said or usage.ru_maxrss * 1024 > MEMORY:
        return "memory"
    exit_code = os.WEXITSTATUS(code)
    if exit_code not in (0, 2):
        return f"traceback: {said.strip().splitlines()[-1][:160]}"
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if exit_code == 2 and (len(errors) != 1 or "Traceback" in said):
        return f"lines: {said[-200:]!r}"
    return str(exit_code)


def _run(work: Callable[[], int], output: int) -> None:
    """Run a command as mpi_es.parallel.program does, and end this process."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    with open("/proc/self/statm", encoding="utf-8") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))
    signal.alarm(4 * LIMIT)
    code = 1
    try:
        code = work()
    except (UserError, RolloutError) as error:
        print(f"error: {error}", file=sys.stderr)
        code = 2
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def survey(seeds: list[int], names: list[str], kinds: list[str], place: Path) -> dict[str, Counter[str]]:
    """Return the outcomes of all kinds by kind, and print those that do not hold."""
    found: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    images = {name: (bases.make(name, place) / "run.h5").read_bytes() for name in names}
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for kind in kinds:
        for seed in seeds:
            for name, image in images.items():
                run = place / "forged"
                shutil.rmtree(run, ignore_errors=True)
                run.mkdir()
                forgery = forged(kind, image, seed)
                for command, work in commands(bases.program_of(name)).items():
                    (run / "run.h5").write_bytes(forgery)
                    for other in run.glob("run.*.h5"):
                        other.unlink()
                    end = outcome(lambda work=work, run=run: work(run))  # type: ignore[misc]
                    found[kind][end if end in "02" else end.partition(":")[0].split()[0]] += 1
                    if end not in ("0", "2"):
                        print(f"{kind}, {name}, seed {seed}, {command}: {end}", flush=True)
    return found


def of_its_own(*words: str) -> str:
    """Return the table of a process without threads, which can be forked."""
    command = [sys.executable, "-m", "tests.run_file.survey", *words]
    done = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stdout
    return done.stdout


def main(words: list[str]) -> int:
    """Print a table; return 1 if a command does not hold."""
    seeds = [int(word) for word in words if word.isdigit()] or [1]
    chosen = [word for word in words if not word.isdigit()]
    names = [name for name in (*bases.TRAINED, *bases.POPULATIONS) if name in chosen]
    kinds = [kind for kind in ALL if kind in chosen] or list(ALL)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        found = survey(seeds, names or [*bases.TRAINED, *bases.POPULATIONS], kinds, Path(place))
    failed = [kind for kind, ends in found.items() if set(ends) - {"0", "2"}]
    for kind, ends in found.items():
        print(f"{kind:32}", dict(ends))
    total = sum(found.values(), Counter())
    print(
        f"{len(failed)} of {len(kinds)} kinds fail; commands: {dict(total)}; {time.monotonic() - begin:.0f} s"
    )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
