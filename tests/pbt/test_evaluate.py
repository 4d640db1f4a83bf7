"""A member's held-out score, and its film."""

import csv

import imageio_ffmpeg
import pytest

from mpi_es.errors import UserError
from mpi_es.parallel.collectives import SerialComm
from mpi_es.seeds import held_out_seeds
from pbt import evaluate
from tests.launching import run_here
from tests.pbt.runs import WALKERS

WALK = ("--member", WALKERS + "Walker", "--num-agents", 4, "--steps", 5, "--max-iter", 3)
CARTPOLE = (
    "--env",
    "CartPole-v1",
    "--num-agents",
    2,
    "--num-rollouts",
    2,
    "--num-eval-rollouts",
    20,
    "--max-iter",
    2,
)
SB3 = (*CARTPOLE, "--member", "sb3", "--steps", 64, "--obs-norm", "--tune", "learning_rate")
PPO = ("--member-options", "n_steps=32", "batch_size=32", "n_epochs=1")
ES = (*CARTPOLE, "--member", "es", "--steps", 1, "--obs-norm", "--member-options", "hidden=4")


def printed(capsys, *arguments):
    """Return the lines that an evaluation prints."""
    run_here(evaluate, *arguments)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("options", [(*SB3, *PPO), ES], ids=["sb3", "es"])
def test_a_logged_score_is_reproduced_and_the_film_is_its_first_episode(trained, tmp_path, capsys, options):
    stored = trained(tmp_path, *options)
    table, video = tmp_path / "out.csv", tmp_path / "out.mp4"
    shot, score, verdict = printed(capsys, tmp_path, "--episodes", 20, "--csv", table, "--video", video)
    assert verdict == "first 20 episodes, compared with the log of generation 2: bit-identical"
    assert f"best of generation 2: mean {stored['best']['fitness']:.4g}" in score
    rows = [*csv.DictReader(table.open())]
    assert [int(row["episode_seed"]) for row in rows] == held_out_seeds(1143, 20).tolist()
    first = rows[0]
    assert f"return {float(first['return']):.2f}, {first['length']} steps" in shot
    assert imageio_ffmpeg.count_frames_and_secs(str(video))[0] == int(first["length"])


def test_random_numbers_of_a_generation_are_the_same_in_an_evaluation(trained, tmp_path, capsys):
    trained(tmp_path, *WALK, "--member", WALKERS + "Noisy")
    assert printed(capsys, tmp_path, "--episodes", 10)[-1].endswith("bit-identical")


def test_the_best_of_several_scores_is_said_to_be_partly_luck(trained, tmp_path, capsys):
    trained(tmp_path, *ES, "--eval-every", 1)
    assert printed(capsys, tmp_path)[-1].startswith("this is the best of 2 means on these seeds")
    assert len(printed(capsys, tmp_path, "--seeds", "fresh")) == 1


@pytest.mark.parametrize(
    "options", [ES, pytest.param((*SB3, *PPO), marks=pytest.mark.slow)], ids=["es", "sb3"]
)
def test_ranks_share_the_episodes_and_print_the_same(trained, launch, tmp_path, capsys, options):
    trained(tmp_path, *options)
    alone = printed(capsys, tmp_path, "--episodes", 40)
    for ranks in (2, 5):  # of which some have no block of episodes
        done = launch(ranks, "-m", "pbt.evaluate", tmp_path, "--episodes", 40)
        assert (done.returncode, done.stderr, done.stdout.splitlines()) == (0, "", alone)


def test_a_member_is_evaluated_as_it_is_now(trained, tmp_path, capsys):
    trained(tmp_path, *WALK)
    titles = [printed(capsys, tmp_path, "--member", index)[0].split(":")[0] for index in range(4)]
    assert titles == [f"member {index} after generation 3" for index in range(4)]


def test_fresh_seeds_are_others(trained, tmp_path, capsys):
    trained(tmp_path, *WALK, "--num-eval-rollouts", 5)
    held_out = printed(capsys, tmp_path, "--episodes", 5)
    fresh = printed(capsys, tmp_path, "--episodes", 5, "--seeds", "fresh")
    assert len(held_out) == 2
    assert len(fresh) == 1
    assert fresh[0] != held_out[0]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--member 4", "--member: expected best or a number below 4, got '4'"),
        ("--member worst", "--member: expected best or the number of a member, got 'worst'"),
        ("--video a.mp4", "--video, --frames and --render: expected to be left out, since these members"),
        (
            "--seeds 0-9 --episodes 3",
            "--episodes: expected to be left out, as it has no effect with a list of --seeds",
        ),
        ("--episodes 0", "--episodes: expected a whole number from 1"),
        ("--csv /nowhere/a.csv", "--csv: cannot write /nowhere/a.csv"),
    ],
)
def test_mistakes_raise(trained, tmp_path, words, complaint):
    trained(tmp_path, *WALK)
    with pytest.raises(UserError, match=complaint):
        evaluate.main(SerialComm(), [str(tmp_path), *words.split()])
