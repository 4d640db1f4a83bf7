import numpy as np
import pytest

import pbt.evaluate
import pbt.replay
import pbt.report
import pbt.train
from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.run_file import checkpoint
from pbt import schema
from pbt.config import Config
from pbt.members.toy import Toy
from tests.run_file import bases
from tests.run_file.forgeries import assert_refused_or_read, changed, ends_in_one_line_or_works, is_read


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The bytes of a small population's file."""
    return (bases.make("toy", tmp_path_factory.mktemp("toy")) / "run.h5").read_bytes()


def load(directory):
    """Load a population."""
    checkpoint.load_of("pbt.train", directory, schema.check)


def test_a_real_population_is_read_and_a_forged_one_is_refused_in_one_line_or_read(tmp_path, image):
    assert is_read(tmp_path, image, load) == (True, "")
    assert_refused_or_read(tmp_path, image, load)


@pytest.mark.parametrize(
    ("path", "attribute", "value", "why"),
    [
        ("config", "fraction", 0.9, "/config: --fraction: expected"),
        ("members/0001", "", None, "/members/0001: expected a value, got none"),
        ("history/source", "", np.full((10, 2), 7), "/history/source: expected numbers in [0, 1]"),
        ("history/score", "", np.full((10, 2), np.nan), "/history/score: expected a finite score"),
        ("history/hyperparameters/h0", "", None, "/history/hyperparameters/h0: "),
        ("best", "member", 5, "/best/member: expected a whole number"),
        ("evaluations/member", "", None, "/evaluations/member: expected a value, got none"),
    ],
)
def test_what_is_expected_where_is_said(tmp_path, image, path, attribute, value, why):
    _, said = is_read(tmp_path, changed(image, (path, attribute, value)), load)
    assert f"run.h5: damaged, or not a run file: {why}" in said


def toy():
    return Toy(Config(num_agents=2), 0, SerialComm(), StopFlag())


def test_a_member_gets_its_state():
    member = toy()
    schema.set_state(member, {"theta": np.array([0.1, 0.2]), "squares": np.zeros(2)})
    assert member.theta.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"theta": np.zeros(3)}, r"/members/0000/theta: expected .*\(2,\).*, got float64 \(3,\)"),
        ({"squares": None}, "/members/0000/squares: expected .*, got None"),
        ({"theta": "ab"}, "/members/0000/theta: expected"),
        ({"theta": np.full(2, np.nan)}, "/members/0000/theta: expected finite"),
    ],
)
def test_a_state_that_no_such_member_has_is_refused(state, why):
    with pytest.raises(UserError, match=why):
        schema.set_state(toy(), {"theta": np.zeros(2), "squares": np.zeros(2)} | state)


def test_hyperparameters_of_others_are_refused():
    schema.check_names({"hyperparameters": {"a": 1, "b": 2}}, ["b", "a"])
    with pytest.raises(UserError, match="/hyperparameters: expected a b, got"):
        schema.check_names({"hyperparameters": {"a": 1}}, ["a", "b"])


COMMANDS = {
    "report": (pbt.report, ["{run}"]),
    "evaluate": (pbt.evaluate, ["{run}", "--member", "1", "--episodes", "2"]),
    "replay": (pbt.replay, ["{run}", "--episodes", "2"]),
    "resume": (pbt.train, ["--resume", "{run}", "--max-iter", "12", *bases.QUIET]),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("edit", [("members/0001/theta", "", np.zeros((2, 1))), ("config", "num_agents", 3)])
def test_a_command_ends_with_one_line_or_does_its_work(tmp_path, image, command, edit):
    (tmp_path / "run.h5").write_bytes(changed(image, edit))
    ends_in_one_line_or_works(*COMMANDS[command], tmp_path)
