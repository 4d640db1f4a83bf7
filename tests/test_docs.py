"""What README and docs/ show is true: programs and commands of a page run in their order, on a budget."""

import importlib.util
import os
import re
import runpy
import shlex
import shutil
import sys
from glob import glob
from pathlib import Path

import pytest

from mpi_es import train
from mpi_es.config.fields import option
from mpi_es.config.parts import every
from mpi_es.parallel.collectives import SerialComm
from pbt import train as pbt_train
from tests.launching import MPIEXEC, ROOT, call

DOCS = ROOT / "docs"
README = "../README.md"
PAGES = [README, *sorted(str(path.relative_to(DOCS)) for path in DOCS.glob("**/*.md"))]
LINKING = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "slurm/README.md", "pbt/README.md")
FENCE = r"^( *)```{}\n(.*?)^ *```$"
# Of the system, of the site or of a person's machine.
ELSEWHERE = {
    "conda", "export", "h5dump", "module", "pip", "salloc", "scancel", "sinfo", "source", "srun",
    "tensorboard",
}  # fmt: skip
JOBS = {"train.sh": train, "carracing.sh": train, "pbt.sh": pbt_train}
SMALL = ["--console", "silent", "--no-tensorboard"]
LONG = ("toy", "my_member:Climber")  # of pbt.train: seconds, so they are run; others are checked only


def fences(page, language):
    """Return the blocks of a page in a language, without their indentation."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(FENCE.format(language), text, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def lines(page):
    """Return the commands of a page, each as words; a loop of the shell is written out."""
    for block in fences(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            loop = re.fullmatch(r"for (\w+) in (.*); do (.*); done", line)
            for value in loop[2].split() if loop else [""]:
                words = shlex.split(loop[3].replace(f"${loop[1]}", value) if loop else line, comments=True)
                if words:
                    yield words


def value_of(name, words):
    """Return the value of an option, empty if it is not given."""
    return words[words.index(name) + 1] if name in words else ""


def budget(words):
    """Return what to append to the words of mpi_es.train, so that it takes seconds."""
    few = [*SMALL, "--num-eval-rollouts", "2"]
    if not 0 < int(value_of("--max-iter", words) or 0) <= 20:  # few stay: later commands continue them
        few += ["--max-iter", "2"]
    if "--resume" in words or "--function" in words:
        return few
    if any("carracing" in word.lower() for word in words):
        return [*few, "--population-size", "8", "--num-rollouts", "1", "--max-iter", "1"]
    return [*few, "--population-size", "8"]


def few_episodes(words):
    """Return what to append to the words of mpi_es.evaluate, so that it takes seconds."""
    driving = {"runs/drive", "CarRacing-v3"} & {*words}
    short = ["--env-options", "max_episode_steps=50"] if driving else []
    seeds = value_of("--seeds", words)
    if seeds[:1].isdigit():
        return [*short, "--seeds", seeds.split("-")[0]]
    return [*short, "--episodes", "1"]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A directory with the runs and files of which pages speak without making them."""
    place = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        for directory, words in {
            "runs/cartpole-1143": ["cartpole"],
            "runs/racing": ["carracing"],
            "runs/carracing-7": ["carracing", "--seed", "7"],
        }.items():
            assert train.main(SerialComm(), [*words, *budget(words), "--run-dir", directory]) == 0
        tiny = ["--num-agents", "2", "--steps", "256", "--max-iter", "1", "--num-rollouts", "1"]
        words = ["cartpole", *tiny, "--num-eval-rollouts", "1", *SMALL, "--run-dir", "runs/wta"]
        assert pbt_train.main(SerialComm(), words) == 0
        run("mpi_es.export", ["runs/racing", "--out", "agent.npz", "--torchscript", "agent.pt"])
        Path("published.npz").write_bytes(Path("agent.npz").read_bytes())
    return place


@pytest.fixture
def place(begun, tmp_path, monkeypatch):
    """A copy of it, in which the reader of a page stands."""
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    for name in ("docs", "benchmarks", "tests", "slurm", "Makefile", "environment.yml"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]  # the next page may have another of that name


def run(module, words):
    """Run a command of ours in this process, on one rank."""
    main = importlib.import_module(module).main
    code = (
        main(list(words)) if module in ("mpi_es.status", "mpi_es.doctor") else main(SerialComm(), list(words))
    )
    # The doctor's findings are the machine's, such as a missing launcher.
    assert code == 0 or module == "mpi_es.doctor"


def module_runs(module, words):
    """Run a module of ours, or check its words where it would take minutes."""
    if module == "mpi_es.train":
        if "--help" not in words:
            run(module, [*words, *budget(words)])
    elif module == "pbt.train":
        if {*LONG} & {*words}:
            run(module, [*words, *SMALL, "--steps", "20", "--max-iter", "2"])
        elif "--resume" not in words:
            pbt_train.prepare([*words, "--run-dir", "runs/another"])
    elif module == "mpi_es.evaluate":
        run(module, [*words, *few_episodes(words)])
    elif not module.startswith(("mpi_es", "pbt")):
        assert importlib.util.find_spec(module)
    elif module == "pbt.replay":
        run(module, [*words, "--episodes", "1"])
    elif module == "mpi_es.jobs.launchers":  # needs Slurm
        importlib.import_module(module)
    else:
        run(module, words)


def follow(words):
    """Do what a line of a page says."""
    while words[0] in ("mpiexec", "nice", "-n") or words[0].isdigit():
        words = words[1:]
    first, *rest = (name for word in words for name in (sorted(glob(word)) if "*" in word else [word]))
    if first == "make":
        assert all(f"\n{target}:" in (ROOT / "Makefile").read_text() for target in rest)
    elif first == "sbatch" or first.startswith("first="):
        script = next(word for word in words if word.endswith(".sh"))
        assert (ROOT / script).exists()
        program = JOBS.get(Path(script).name)
        arguments = words[words.index(script) + 1 :]
        if program and not first.startswith("first="):
            program.prepare([*arguments, "--run-dir", "runs/another"])
    elif first == "python" and rest[0] == "-m":
        module_runs(rest[1], rest[2:])
    elif first == "python" and rest[0].startswith("benchmarks/"):
        assert (ROOT / rest[0]).exists()
    elif first == "python":
        environ = os.environ | {"PYTHONPATH": str(ROOT)}
        done = call(sys.executable, *rest, env=environ)
        assert done.returncode == 0, done.stderr
    else:
        assert first in ELSEWHERE, words


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_followed(page, place):
    write_programs(page, place)
    if page == README:
        shutil.rmtree(place / "runs")  # it makes the one of which it speaks
    for words in lines(page):
        follow(words)


def test_the_readme_s_programs_run_under_mpiexec(place):
    write_programs(README, place)
    own = {"python": sys.executable, "mpiexec": str(MPIEXEC)}
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    commands = [words for words in lines(README) if words[0] == "mpiexec" and "mpi_es.doctor" not in words]
    assert len(commands) == 3
    for words in commands:
        command = [own.get(word, word) for word in words] + budget(words) * ("mpi_es.train" in words)
        done = call(*command, env=environ)
        assert done.returncode == 0, done.stdout + done.stderr


def write_programs(page, place):
    """Write a page's programs that have a name; what they wait for takes no time."""
    for program in fences(page, "python"):
        if named := re.match(r"# (\w+\.py)\n", program):
            (place / named[1]).write_text(program.replace("time.sleep(2)", "time.sleep(0)"))


def test_both_scripts_of_one_who_comes_from_pycma_search(tmp_path):
    write_programs("functions.md", tmp_path)
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    for command in (
        [sys.executable, "with_pycma.py"],
        [MPIEXEC, "-n", "2", sys.executable, "with_mpi_es.py"],
    ):
        done = call(*command, cwd=tmp_path, env=environ, check=True)
        best = re.search(r"([\d.]+) \[", done.stdout)
        assert float(best[1]) < 4.5  # at the beginning: 50 * 0.3**2


def test_there_is_something_to_follow():
    assert sum(len(list(lines(page))) for page in PAGES) > 60


@pytest.mark.parametrize("page", ["reference/options.md", "reference/presets.md"])
def test_the_tables_are_current(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert runpy.run_path(str(DOCS / "tables.py"))["written"](text) == text, "run: python docs/tables.py"


@pytest.mark.parametrize("cls", [train.Config, pbt_train.Config])
def test_every_option_is_in_the_tables(cls):
    rows = re.findall(r"^\| `(--[\w-]+)`", (DOCS / "reference/options.md").read_text(), re.MULTILINE)
    assert {option(one.name) for one in every(cls)} <= {*rows}


def anchors(text):
    """Return the places within a page to which a link may lead."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKING)
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
    picture = (DOCS / "live.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[\w./-]+", picture)) == {"http://www.w3.org/2000/svg"}


def test_headings_of_questions_are_what_the_code_prints():
    code = " ".join(
        path.read_text() for folder in ("mpi_es", "pbt") for path in (ROOT / folder).glob("**/*.py")
    )
    headings = re.findall(r"^### `(.*)`$", (DOCS / "faq.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(headings) > 8
    for heading in headings:
        phrase = max(re.findall(r"[a-z][a-z', -]+[a-z]", heading), key=len)
        assert phrase in re.sub(r'"\s*f?"', "", code), heading


def test_the_site_is_built_without_a_warning(tmp_path):
    environ = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    build = ("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path)
    done = call(sys.executable, *build, cwd=ROOT, env=environ)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    page = (tmp_path / "algorithms.html").read_text(encoding="utf-8")
    assert "<math" in page
    assert "arithmatex" not in page
    loaded = re.findall(r'(?:src|href)="(https?://[^"]+)"', page)
    assert not [address for address in loaded if re.search(r"\.(js|css|woff2?)$", address)]
