"""What pbt/README.md shows is true."""

import re
import shlex
from pathlib import Path

import pytest

from mpi_es.config import command_line
from mpi_es.config.tables import as_options, options_table, replaced
from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint
from pbt import train
from pbt.config import Config
from pbt.presets import PRESETS
from pbt.tables import tables

README = (Path(__file__).parents[2] / "pbt/README.md").read_text(encoding="utf-8")
LINES = [
    shlex.split(line, comments=True)
    for block in re.findall(r"^```sh\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
BEGUN = [words[words.index("pbt.train") + 1 :] for words in LINES if "pbt.train" in words]


@pytest.mark.parametrize(
    "words", [words for words in BEGUN if not {"--resume", "my_member:Climber"} & set(words)], ids=" ".join
)
def test_a_command_is_accepted_as_written(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train.prepare(words)


def test_the_users_own_member_climbs(tmp_path, monkeypatch):
    program = re.search(r"^```python\n# my_member.py\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)[1]
    (tmp_path / "my_member.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (words,) = [words for words in BEGUN if "my_member:Climber" in words]
    more = ["--steps", "20", "--console", "silent", "--no-tensorboard"]
    assert train.main(SerialComm(), [*words, *more]) == 0
    history = checkpoint.load(Path("runs/climbers"))[0]["history"]["score"]
    assert history.shape == (20, 8)
    assert history[-1].max() > history[0].max() / 10


def test_the_tables_are_current():
    assert replaced(README, tables()) == README, "run: python -m pbt.tables pbt/README.md"


def test_every_option_is_in_the_table():
    rows = re.findall(r"^\| `--([\w-]+)`", options_table(Config), re.MULTILINE)
    assert [name.replace("-", "_") for name in rows] == list(Config.__dataclass_fields__)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_options_that_it_stands_for(name):
    assert command_line.parse(as_options(PRESETS[name]), Config(), {}, "test") == PRESETS[name]
