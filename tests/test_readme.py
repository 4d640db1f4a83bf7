"""What the README shows is run as written, with a small budget added."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.launching import MPIEXEC

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "slurm/README.md", "pbt/README.md")
FEW = ["--episodes", "2"]
LIMIT = 1200  # seconds: the first run on CarRacing compiles


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


PROGRAMS = blocks("python")
LINES = [shlex.split(line, comments=True) for block in blocks("sh") for line in block.splitlines()]
COMMANDS = [
    words
    for words in LINES
    if words[0] in ("python", "mpiexec") and "mpi_es.doctor" not in words  # whose findings are the machine's
]


def small(words: list[str], run: Path) -> list[str]:
    """Return what to append to a command, so that it takes seconds."""
    if "mpi_es.evaluate" in words:
        return [] if "--seeds" in words and words[words.index("--seeds") + 1].isdigit() else FEW
    if "mpi_es.train" not in words or "--help" in words:
        return []
    few = ["--max-iter", "2", "--num-eval-rollouts", "2", "--no-tensorboard"]
    if "--resume" in words:
        return few
    if any(word.startswith("carracing") for word in words):
        few += ["--num-rollouts", "1"]
    return [*few, "--population-size", "8", "--max-iter", "1", "--run-dir", str(run)]


def execute(words: list[str], place: Path) -> subprocess.CompletedProcess:
    own = {"python": sys.executable, "mpiexec": str(MPIEXEC)}
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [own.get(word, word) for word in words]
    done = subprocess.run(command, cwd=place, env=environ, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A directory with the README's files, and the run of which it speaks."""
    directory = tmp_path_factory.mktemp("readme")
    for program in PROGRAMS:
        if named := re.match(r"# (\w+\.py)\n", program):
            (directory / named[1]).write_text(program)
    few = ["--max-iter", "1", "--num-eval-rollouts", "2", "--no-tensorboard"]
    execute(["python", "-m", "mpi_es.train", "cartpole", *few], directory)
    return directory


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_runs_as_written(words, place, tmp_path):
    execute([*words, *small(words, tmp_path / "run")], place)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.splitlines()[0])
def test_a_program_runs_as_written(program, place):
    execute(["python", "-c", program], place)


def test_there_are_commands_and_programs_to_run():
    assert (len(COMMANDS) > 8, len(PROGRAMS)) == (True, 2)


def anchors(text: str) -> set[str]:
    """Return the places within a page to which a link may lead."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_local_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_the_picture_needs_nothing_from_elsewhere():
    picture = (ROOT / "docs/live.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[\w./-]+", picture)) == {"http://www.w3.org/2000/svg"}
