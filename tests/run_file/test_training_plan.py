from dataclasses import dataclass

import pytest

from mpi_es.config import command_line
from mpi_es.config.fields import Free
from mpi_es.errors import UserError
from mpi_es.run_file import checkpoint
from mpi_es.run_file.run_status import stamp
from mpi_es.run_file.training_plan import plan_training


@dataclass(frozen=True)
class Config:
    """Train."""

    steps: int = 3
    """Steps"""
    run_dir: str = "run"
    """Directory"""
    console: Free[str] = "auto"
    """Where"""

    @property
    def directory(self):
        return self.run_dir


def unchecked(content):
    """Accept what no run would hold."""


def plan(*words):
    def parse(rest):
        return command_line.parse(rest, Config(), {}, "test")

    return plan_training("mpi_es.train", Config, [str(word) for word in words], parse, check=unchecked)


def saved(directory, **life):
    """Save a run of 3 steps that began in another directory."""
    checkpoint.save(directory, {"config": Config(run_dir="elsewhere"), "life": stamp(**life)})
    return directory


def test_an_empty_directory_begins_a_run(tmp_path):
    made = plan("--steps", 5, "--run-dir", tmp_path, "--continue")
    assert (made.config.steps, made.directory, made.stored) == (5, tmp_path, None)


def test_a_run_is_resumed_where_it_lies_now(tmp_path):
    made = plan("--resume", saved(tmp_path))
    assert made.config == Config(3, str(tmp_path))
    assert made.stored["config"]["run_dir"] == "elsewhere"
    assert not made.is_finished


def test_continue_resumes_the_run_in_its_directory(tmp_path):
    saved(tmp_path, reason="last generation done", finished=True)
    assert plan("--run-dir", tmp_path, "--continue").is_finished


def test_the_directory_is_created_and_locked(tmp_path):
    made = plan("--run-dir", tmp_path / "new" / "run")
    with (
        made.locked_directory(),
        pytest.raises(UserError, match="another job is running this run"),
        made.locked_directory(),
    ):
        pass


def test_a_damaged_file_is_set_aside_with_a_warning(tmp_path, capfd):
    saved(tmp_path)
    saved(tmp_path)
    (tmp_path / checkpoint.NAME).write_bytes(b"mpi_es damaged")
    with plan("--resume", tmp_path).locked_directory():
        assert capfd.readouterr().err.startswith("warning: ")
        assert (tmp_path / checkpoint.DAMAGED).read_bytes() == b"mpi_es damaged"


def options_in(directory):
    """Return the lines of config.toml that are options."""
    lines = (directory / "config.toml").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_options_are_written_where_the_run_begins(tmp_path):
    with plan("--steps", 5, "--run-dir", tmp_path / "run").locked_directory():
        assert options_in(tmp_path / "run") == ["steps = 5", f'run-dir = "{tmp_path}/run"']
    head = (tmp_path / "run/config.toml").read_text().splitlines()[1]
    assert head == f"# python -m mpi_es.train --config {tmp_path}/run/config.toml --run-dir DIRECTORY"


def test_a_resumed_run_writes_its_options_where_they_changed(tmp_path):
    (saved(tmp_path) / "config.toml").write_text("# mine\n")
    with plan("--resume", tmp_path).locked_directory():
        assert options_in(tmp_path) == []
    with plan("--resume", tmp_path, "--console", "lines").locked_directory():
        assert options_in(tmp_path) == [f'run-dir = "{tmp_path}"', 'console = "lines"']


def test_a_file_of_options_changes_a_resumed_run(tmp_path):
    (tmp_path / "my.toml").write_text('console = "lines"\nrun-dir = "where-it-began"\n')
    file, words = command_line.take_file(
        ["--resume", str(saved(tmp_path)), "--config", f"{tmp_path}/my.toml"], Config, {}
    )
    made = plan_training("mpi_es.train", Config, words, pytest.fail, file, unchecked)
    assert (made.config.console, made.has_new_options) == ("lines", True)
    assert made.config.run_dir == str(tmp_path)
