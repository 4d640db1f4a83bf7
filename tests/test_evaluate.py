import csv
import dataclasses

import h5py
import imageio_ffmpeg
import numpy as np
import pytest

from mpi_es import evaluate
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluate import EvaluationPlan, Options
from mpi_es.run_file import checkpoint
from mpi_es.seeds import Stream, held_out_seeds
from mpi_es.strategies import noise_table
from tests.launching import LIMIT, start


def plan(**content):
    nothing = np.zeros(0, np.float32)
    return EvaluationPlan(Options(), configured(seed=3), content, nothing, nothing, "title")


def seeds_of(text, episodes=4):
    return evaluate.episode_seeds(dataclasses.replace(plan(), options=Options(episodes, seeds=text))).tolist()


@pytest.mark.parametrize(
    ("text", "seeds"), [("7", [7]), ("0-3", [0, 1, 2, 3]), ("0-1,5,9-10", [0, 1, 5, 9, 10]), ("4-4", [4])]
)
def test_seeds_are_numbers_and_ranges(text, seeds):
    assert seeds_of(text) == seeds


def test_seeds_are_those_of_the_run_or_fresh():
    assert seeds_of("held-out") == held_out_seeds(3, 4).tolist()
    assert seeds_of("fresh") == held_out_seeds(3, 4, Stream.FRESH).tolist()


@pytest.mark.parametrize(
    "text", ["", "new", "1-", "-1", "1,,2", "5-3", "1,9-2", "2147483648", "0-99999999999", "0-9,0-999999"]
)
def test_other_seeds_are_refused(text):
    with pytest.raises(UserError, match="--seeds: expected"):
        Options(seeds=text)


@pytest.mark.parametrize("episodes", [0, 1_000_001])
def test_no_episodes_and_too_many_are_refused(episodes):
    with pytest.raises(
        UserError, match=f"--episodes: expected a whole number from 1 to 1000000, got {episodes}"
    ):
        Options(episodes)


@pytest.mark.parametrize(
    ("words", "option", "other"),
    [
        ("run --layout paper", "--layout", "RUN"),
        ("run --preset carracing", "--preset", "RUN"),
        ("--from-pretrained agent.npz --candidate last", "--candidate", "--from-pretrained"),
        ("run --seeds 0-9 --episodes 10", "--episodes", "--seeds"),
    ],
)
def test_an_option_without_effect_is_refused(words, option, other):
    complaint = f"{option}: expected to be left out, as it has no effect with {other}"
    with pytest.raises(UserError, match=complaint):
        evaluate.prepare(words.split())


def test_trying_whether_a_csv_can_be_written_empties_none(tmp_path):
    path = tmp_path / "episodes.csv"
    path.write_text("1,2,3\n")
    evaluate.write_csv(path, None)
    assert path.read_text() == "1,2,3\n"


def test_a_film_and_a_table_are_two_files():
    with pytest.raises(UserError, match="--csv: expected another file than --video"):
        Options(csv="a.mp4", video="./a.mp4")


def test_a_table_for_noise_is_not_made_for_an_evaluation():
    config = configured(strategy="openai_es", noise_table=10**6)
    assert noise_table(config.strategy) == 10**6
    assert not noise_table(evaluate.placed(config, Options()).strategy)


def test_a_damaged_file_is_reported_before_what_it_lacks(tmp_path, run, capfd):
    content = checkpoint.load(run)[0]
    nothing = content["best"] | {
        "candidate": np.zeros(0, np.float32),
        "normalisation": np.zeros((2, 0)),
    }
    checkpoint.save(tmp_path, content | {"best": nothing})
    (tmp_path / "run.h5").rename(tmp_path / "run.previous.h5")
    (tmp_path / "run.h5").write_bytes(b"mpi_es damaged")
    with pytest.raises(UserError, match="no held-out evaluation is done yet"):
        evaluate.prepare([str(tmp_path)])
    assert capfd.readouterr().err.startswith(f"warning: {tmp_path}/run.h5: damaged")


def test_a_summary_tells_deviation_and_interval():
    text = evaluate.summary(np.array([1.0, 2.0, 3.0, 4.0]))  # half an interval: 2.054, by Student's t
    mean = "mean 2.5 ± 1.291 (deviation) over 4 episodes"
    assert text == f"{mean}, min 1, max 4, 95 % interval of the mean [0.4458, 4.554]"


def test_one_episode_has_no_interval():
    assert evaluate.summary(np.array([5.0])) == "5 in one episode"


LOGGED = {"generation": np.array([3, 6]), "returns": np.array([[1.0, 2, np.nan], [4, 5, 6]])}


@pytest.mark.parametrize(
    ("generation", "returns", "line"),
    [
        (3, [1, 2, 9], "the first 2 episodes are those logged at generation 3: equal to the bit"),
        (3, [1], "the first episode is that logged at generation 3: equal to the bit"),
        (6, [4, 5], "the first 2 episodes are those logged at generation 6: equal to the bit"),
        (6, [4, 5.5, 6], "the first 3 episodes are those logged at generation 6: DIFFERENT"),
        (7, [1], ""),
    ],
)
def test_an_evaluation_is_compared_with_the_logged_one(generation, returns, line):
    content = {"evaluations": LOGGED, "best": {"generation": generation}}
    found = evaluate.compared(plan(**content), np.array(returns, float))
    assert found.startswith(line)
    assert bool(found) == bool(line)


@pytest.mark.parametrize(
    ("options", "looks", "said"),
    [
        ({}, 3, "the best of 3 means on these seeds"),
        ({}, 1, ""),
        ({"candidate": "last"}, 3, ""),
        ({"seeds": "fresh"}, 3, ""),
        ({"env": "CartPole-v1"}, 3, ""),
    ],
)
def test_the_best_of_many_looks_says_so(options, looks, said):
    content = {"evaluations": {"generation": np.arange(looks)}}
    found = evaluate.chosen_by(dataclasses.replace(plan(**content), options=Options(**options)))
    assert said in found
    assert bool(found) == bool(said)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The directory of a run of two generations."""
    directory = tmp_path_factory.mktemp("evaluate") / "run"
    options = ("--env", "CartPole-v1", "--hidden", 4, "--population-size", 4, "--max-iter", 2, "--obs-norm")
    more = ("--num-eval-rollouts", 7, "--console", "silent", "--run-dir", directory)
    process = start(0, "-m", "mpi_es.train", *options, *more)
    assert process.communicate(timeout=LIMIT)[1] == ""
    return directory


@pytest.mark.parametrize(("ranks", "candidate"), [(0, "best"), (3, "last")])
def test_a_logged_evaluation_is_reproduced_to_the_bit(launch, tmp_path, run, ranks, candidate):
    options = ("--episodes", 10, "--candidate", candidate, "--csv", tmp_path / "out.csv")
    done = launch(ranks, "-m", "mpi_es.evaluate", run, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the first 7 episodes are those logged at generation 2: equal to the bit" in done.stdout
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    logged = checkpoint.load(run)[0]["evaluations"]["returns"][-1]
    assert [float(row["return"]) for row in rows[:7]] == logged.tolist()
    assert [int(row["episode_seed"]) for row in rows] == held_out_seeds(1143, 10).tolist()


def test_under_mpiexec_one_rank_draws_the_first_episode(launch, tmp_path, run):
    options = ("--episodes", 3, "--csv", tmp_path / "out.csv", "--video", tmp_path / "out.mp4")
    done = launch(2, "-m", "mpi_es.evaluate", run, *options, "--frames", tmp_path / "frames")
    assert (done.returncode, done.stderr) == (0, "")
    first = next(csv.DictReader((tmp_path / "out.csv").open()))
    with h5py.File(tmp_path / "frames" / "frames.h5") as file:
        assert file.attrs["episode_seed"] == int(first["episode_seed"])
        assert file["rewards"][:].sum() == float(first["return"])
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(tmp_path / "out.mp4"))
    assert frames == int(first["length"])


def test_a_film_that_cannot_be_made_is_reported(launch, run):
    done = launch(2, "-m", "mpi_es.evaluate", run, "--video", "/nowhere/out.mp4")
    assert done.returncode == 2
    assert done.stderr == "error: --video: cannot write /nowhere/out.mp4 (No such file or directory)\n"


def test_a_table_that_cannot_be_written_is_reported(launch, run):
    done = launch(2, "-m", "mpi_es.evaluate", run, "--episodes", 2, "--csv", "/nowhere/out.csv")
    assert done.returncode == 2
    assert done.stderr == "error: --csv: cannot write /nowhere/out.csv (No such file or directory)\n"


def test_a_missing_run_is_reported():
    with pytest.raises(UserError, match=r"RUN: expected the directory of a run .*, got nothing"):
        evaluate.prepare(["--episodes", "3"])
    with pytest.raises(UserError, match=r"/.*: no option has this name .*; RUN is the first argument"):
        evaluate.prepare(["--episodes", "3", "/"])
    with pytest.raises(UserError, match=r"RUN: expected .* or else --from-pretrained FILE, got both"):
        evaluate.prepare(["/nowhere", "--from-pretrained", "/nowhere"])
    with pytest.raises(UserError, match=r"expected a directory that holds run\.h5, got '/nowhere'"):
        evaluate.prepare(["/nowhere"])


def test_an_unknown_preset_is_reported():
    with pytest.raises(UserError, match=r"--preset: expected one of .*; did you mean .cartpole."):
        Options(preset="cartpol")


@pytest.mark.parametrize(
    ("options", "placed"),
    [
        ({}, ("mine", ("a=1",), True)),
        ({"env": "fast"}, ("mpi_es/CarRacing-v3", (), True)),
        ({"env": "gymnasium"}, ("CarRacing-v3", (), True)),
        ({"env": "Other-v0", "env_options": ("b=2",)}, ("Other-v0", ("b=2",), True)),
        ({"env_options": ("b=2",), "compiled": False}, ("mine", ("b=2",), False)),
    ],
)
def test_an_environment_takes_the_place_of_the_run_s(options, placed):
    config = evaluate.placed(configured(env="mine", env_options=("a=1",)), Options(**options))
    assert (config.env, config.env_options, config.compiled) == placed


def test_a_run_s_held_out_environment_is_that_of_its_evaluation(launch, tmp_path):
    options = ("--env", "Pendulum-v1", "--env-options", "g=9.0", "--held-out-env-options", "g=1.0")
    brief = ("--population-size", 4, "--max-iter", 2, "--eval-every", 1, "--num-eval-rollouts", 3)
    trained = launch(2, "-m", "mpi_es.train", *options, *brief, "--hidden", 2, "--run-dir", tmp_path / "run")
    assert (trained.returncode, trained.stderr) == (0, "")
    evaluation = ("-m", "mpi_es.evaluate", tmp_path / "run", "--episodes", 3)
    done = launch(0, *evaluation)
    score, logged, _ = done.stdout.splitlines()
    assert "the first 3 episodes are those logged" in logged
    assert "equal to the bit" in logged
    for gravity, same in (("g=1.0", True), ("g=9.0", False)):
        other = launch(0, *evaluation, "--env-options", gravity)
        assert (other.stdout == score + "\n") == same


def test_another_environment_is_not_compared_with_the_logged_one(launch, run):
    done = launch(0, "-m", "mpi_es.evaluate", run, "--episodes", 3, "--env", "CartPole-v0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    done = launch(2, "-m", "mpi_es.evaluate", run, "--env", "Acrobot-v1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--env: expected an environment whose policy has the 30 parameters of this one" in done.stderr


def test_a_file_scores_the_same_on_any_number_of_ranks(launch, tmp_path):
    weights = np.random.default_rng(0).standard_normal(114, np.float32)  # of the preset cartpole
    np.savez(tmp_path / "agent.npz", params=weights)
    file = ("--from-pretrained", tmp_path / "agent.npz", "--preset", "cartpole", "--layout", "paper")
    tables = []
    for ranks in (1, 2):
        table = tmp_path / f"{ranks}.csv"
        options = ("--episodes", 9, "--seeds", "fresh", "--csv", table)
        done = launch(ranks, "-m", "mpi_es.evaluate", *file, *options)
        assert (done.returncode, done.stderr) == (0, "")
        tables.append(table.read_text())
    assert tables[0] == tables[1]
    assert tables[0].count("\n") == 10
