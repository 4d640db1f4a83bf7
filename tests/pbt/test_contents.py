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
from pbt import contents
from pbt.config import Config
from pbt.members.toy import Toy
from tests.run_file import bases
from tests.run_file.forgeries import KINDS, STRUCTURE, changed, ends_in_one_line_or_works, forged


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The bytes of a small population's file."""
    return (bases.make("toy", tmp_path_factory.mktemp("toy")) / "run.h5").read_bytes()


def loaded(directory, image):
    """Return what is said of a file, or nothing where it is read."""
    (directory / "run.h5").write_bytes(image)
    try:
        checkpoint.load_of("pbt.train", directory, contents.check)
    except UserError as error:
        return str(error)
    return ""


def test_a_real_population_is_read(tmp_path, image):
    assert loaded(tmp_path, image) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_population_is_refused_in_one_line_or_read(tmp_path, image, kind):
    for seed in range(2):
        said = loaded(tmp_path, forged(kind, image, seed))
        assert "\n" not in said
        assert str(tmp_path) in said or (said == "" and kind not in STRUCTURE)


CHANGES = [
    (lambda file: file["config"].attrs.__setitem__("fraction", 0.9), "/config: --fraction: expected"),
    (lambda file: file.__delitem__("members/0001"), "/members/0001: expected a value, got none"),
    (lambda file: file["history/source"].__setitem__(0, 7), "/history/source: expected numbers in [0, 1]"),
    (lambda file: file["history/score"].__setitem__(0, np.nan), "/history/score: expected a finite score"),
    (lambda file: file.__delitem__("history/hyperparameters/h0"), "/history/hyperparameters/h0: "),
    (lambda file: file["best"].attrs.__setitem__("member", 5), "/best/member: expected a whole number"),
    (lambda file: file.__delitem__("evaluations/member"), "/evaluations/member: expected a value, got none"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "why"), CHANGES, ids=[why.split(":")[0] for _, why in CHANGES])
def test_what_is_expected_where_is_said(tmp_path, image, change, why):
    assert f"run.h5: damaged, or no run's: {why}" in loaded(tmp_path, changed(image, change))


def toy():
    return Toy(Config(num_agents=2), 0, SerialComm(), StopFlag())


def test_a_member_gets_its_state():
    member = toy()
    contents.set_state(member, {"theta": np.array([0.1, 0.2]), "squares": np.zeros(2)})
    assert member.theta.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (
            {"theta": np.zeros(3), "squares": np.zeros(2)},
            r"/members/0000/theta: expected .*\(2,\).*, got float64 \(3,\)",
        ),
        ({"theta": np.zeros(2)}, "/members/0000/squares: expected .*, got None"),
        ({"theta": "ab", "squares": np.zeros(2)}, "/members/0000/theta: expected"),
        (
            {"theta": np.full(2, np.nan), "squares": np.zeros(2)},
            "/members/0000/theta: expected finite",
        ),
    ],
)
def test_a_state_that_no_such_member_has_is_refused(state, why):
    with pytest.raises(UserError, match=why):
        contents.set_state(toy(), state)


def test_hyperparameters_of_others_are_refused():
    contents.check_names({"hyperparameters": {"a": 1, "b": 2}}, ["b", "a"])
    with pytest.raises(UserError, match="/hyperparameters: expected a b, got"):
        contents.check_names({"hyperparameters": {"a": 1}}, ["a", "b"])


COMMANDS = {
    "report": (pbt.report, ["{run}"]),
    "evaluate": (pbt.evaluate, ["{run}", "--member", "1", "--episodes", "2"]),
    "replay": (pbt.replay, ["{run}", "--episodes", "2"]),
    "resume": (pbt.train, ["--resume", "{run}", "--max-iter", "12", *bases.QUIET]),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["option", "more axes"])
def test_a_command_ends_with_one_line_or_does_its_work(tmp_path, image, command, kind):
    (tmp_path / "run.h5").write_bytes(forged(kind, image, 1))
    ends_in_one_line_or_works(*COMMANDS[command], tmp_path)
