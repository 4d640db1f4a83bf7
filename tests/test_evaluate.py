import csv
import dataclasses

import h5py
import imageio_ffmpeg
import numpy as np
import pytest

from mpi_es import evaluate, train
from mpi_es.agents.agent import Agent, deployed
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError
from mpi_es.evaluate import EvaluationPlan, Options
from mpi_es.evaluation.build import make_policy
from mpi_es.run_file import checkpoint, description
from mpi_es.seeds import held_out_seeds
from mpi_es.strategies import is_own, rank_of_noise
from tests.launching import ROOT, run_here
from tests.run_file import bases


def plan(**content):
    return EvaluationPlan(Options(), configured(seed=3), None, content, "title")


SEEDS = ("", "new", "1-", "-1", "1,,2", "5-3", "1,9-2", "2147483648", "0-99999999999", "0-9,0-999999")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        *(({"seeds": text}, "--seeds: expected") for text in SEEDS),
        ({"episodes": 0}, "--episodes: expected a whole number from 1 to 1000000, got 0"),
        ({"episodes": 1_000_001}, "--episodes: expected a whole number from 1 to 1000000, got 1000001"),
        ({"csv": "a.mp4", "video": "./a.mp4"}, "--csv: expected a file other than that of --video"),
        ({"preset": "cartpol"}, r"--preset: expected one of .*; did you mean .cartpole."),
    ],
)
def test_options_that_no_evaluation_can_have_are_refused(options, why):
    with pytest.raises(UserError, match=why):
        Options(**options)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("run --layout paper", "--layout: .*, as it has no effect with RUN"),
        ("run --preset carracing", "--preset: .*, as it has no effect with RUN"),
        (
            "--from-pretrained agent.npz --candidate last",
            "--candidate: expected to be left out, as it has no effect with --from-pretrained",
        ),
        ("run --seeds 0-9 --episodes 10", "--episodes: .*, as it has no effect with a list of --seeds"),
        ("--episodes 3", r"RUN: expected the directory of a run .*, got nothing"),
        ("--episodes 3 /", r"/.*: no option has this name .*; RUN is the first argument"),
        ("/nowhere --from-pretrained x", r"RUN: expected .* or else --from-pretrained FILE, got both"),
        ("/nowhere", r"expected a directory that holds run\.h5, got '/nowhere'"),
        ("{run} --video /nowhere/a.mp4", r"--video: cannot write /nowhere/a.mp4 \(No such file.*\)$"),
        ("{run} --csv .", r"--csv: cannot write \. \(Is a directory\)$"),
        ("{run} --csv {run}/run.h5", "--csv: expected a file other than a run's or an agent's, got"),
        (
            f"{ROOT}/docs/carracing/evolved.npz",
            "RUN: expected a run, got .*; --from-pretrained takes an npz file",
        ),
        ("{run} --csv /nowhere/a.csv", r"--csv: cannot write /nowhere/a.csv \(No such file or directory\)$"),
        ("{run} --env Acrobot-v1", "--env: expected an environment whose policy has the 30 parameters"),
    ],
)
def test_a_mistake_is_one_line(run, words, why):
    with pytest.raises(UserError, match=why) as raised:
        run_here(evaluate, *words.format(run=run).split())
    assert "\n" not in str(raised.value)


def test_trying_whether_a_csv_can_be_written_empties_none(tmp_path):
    path = tmp_path / "episodes.csv"
    path.write_text("1,2,3\n")
    evaluate.write_csv(path, None)
    assert path.read_text() == "1,2,3\n"


def test_an_evaluation_has_the_noise_s_rank_and_imports_no_strategy():
    config = description.config_of(Config, {"strategy": "gone:Gone", "noise": "low-rank", "noise_rank": 3})
    assert rank_of_noise(deployed(config).strategy) == 3
    assert not is_own(deployed(config).strategy)


def test_a_damaged_file_is_reported_before_what_it_lacks(tmp_path, run, capfd):
    content = checkpoint.load(run)[0]
    checkpoint.save(tmp_path, bases.begun(content))
    (tmp_path / "run.h5").rename(tmp_path / "run.previous.h5")
    (tmp_path / "run.h5").write_bytes(b"mpi_es damaged")
    with pytest.raises(UserError, match="no held-out evaluation is done yet"):
        evaluate.prepare([str(tmp_path)])
    assert capfd.readouterr().err.startswith(f"warning: {tmp_path}/run.h5: damaged")


def test_a_summary_tells_deviation_and_interval_unless_there_is_one_episode():
    text = evaluate.summary(np.array([1.0, 2.0, 3.0, 4.0]))  # half an interval: 2.054, by Student's t
    mean = "mean 2.5 ± 1.291 (deviation) over 4 episodes"
    assert text == f"{mean}, min 1, max 4, 95 % interval of the mean [0.4458, 4.554]"
    assert evaluate.summary(np.array([5.0])) == "5 in one episode"


LOGGED = {"generation": np.array([3, 6]), "returns": np.array([[1.0, 2, np.nan], [4, 5, 6]])}


@pytest.mark.parametrize(
    ("generation", "returns", "line"),
    [
        (3, [1, 2, 9], "first 2 episodes, compared with the log of generation 3: bit-identical"),
        (3, [1], "first episode, compared with the log of generation 3: bit-identical"),
        (6, [4, 5], "first 2 episodes, compared with the log of generation 6: bit-identical"),
        (6, [4, 5.5, 6], "first 3 episodes, compared with the log of generation 6: DIFFERENT"),
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
    run_here(train, *options, "--num-eval-rollouts", 7, "--console", "silent", "--run-dir", directory)
    return directory


@pytest.fixture
def printed(capfd):
    """Return a function that evaluates in this process and returns what is printed."""

    def evaluated(*words):
        capfd.readouterr()
        run_here(evaluate, *words)
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return evaluated


@pytest.mark.parametrize(("ranks", "candidate"), [(0, "best"), (3, "last")])
def test_a_logged_evaluation_is_reproduced_to_the_bit(launch, printed, tmp_path, run, ranks, candidate):
    words = (run, "--episodes", 10, "--candidate", candidate, "--csv", tmp_path / "out.csv")
    out = launch(ranks, "-m", "mpi_es.evaluate", *words).stdout if ranks else printed(*words)
    assert "first 7 episodes, compared with the log of generation 2: bit-identical" in out
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


def test_the_film_of_an_agent_of_low_rank_is_the_episode_that_scores(tmp_path):
    own = {"policy": "tests.policies.user_policies:Remembering", "env": "Pendulum-v1"}
    config = configured(**own, strategy="openai_es", noise="low-rank")
    policy = make_policy(config)
    Agent(config, policy, policy.initial(1), np.zeros((2, 0))).save(tmp_path / "agent.npz")
    files = ("--csv", tmp_path / "out.csv", "--frames", tmp_path / "frames")
    run_here(evaluate, "--from-pretrained", tmp_path / "agent.npz", "--episodes", 1, *files)
    (row,) = csv.DictReader((tmp_path / "out.csv").open())
    with h5py.File(tmp_path / "frames" / "frames.h5") as file:
        # From Python 3.12 on sum() of floats makes up for its rounding.
        assert np.add.accumulate(file["rewards"][()])[-1] == float(row["return"])


@pytest.mark.parametrize(
    ("options", "placed"),
    [
        ({}, ("mine", ("c=3",))),
        ({"env": "Other-v0", "env_options": ("b=2",)}, ("Other-v0", ("b=2",))),
        ({"env_options": ("b=2",)}, ("mine", ("b=2",))),
    ],
)
def test_an_environment_takes_the_place_of_the_run_s(options, placed):
    config = configured(env="mine", env_options=("a=1",), held_out_env_options=("c=3",))
    config = deployed(dataclasses.replace(config, **evaluate.place(Options(**options)).changes))
    assert (config.env, config.env_options) == placed


def test_a_run_s_held_out_environment_is_that_of_its_evaluation(printed, tmp_path):
    options = ("--env", "Pendulum-v1", "--env-options", "g=9.0", "--held-out-env-options", "g=1.0")
    brief = ("--population-size", 4, "--max-iter", 2, "--eval-every", 1, "--num-eval-rollouts", 3)
    run_here(train, *options, *brief, "--hidden", 2, "--run-dir", tmp_path / "run", "--console", "silent")
    evaluation = (tmp_path / "run", "--episodes", 3)
    score, logged, _ = printed(*evaluation).splitlines()
    assert "first 3 episodes, compared with the log" in logged
    assert "bit-identical" in logged
    for gravity, same in (("g=1.0", True), ("g=9.0", False)):
        assert (printed(*evaluation, "--env-options", gravity) == score + "\n") == same


def test_another_environment_is_not_compared_with_the_logged_one(printed, run):
    assert printed(run, "--episodes", 3, "--env", "CartPole-v0").count("\n") == 1


def test_a_file_scores_the_same_on_any_number_of_ranks(launch, printed, tmp_path):
    weights = np.random.default_rng(0).standard_normal(114, np.float32)  # of the preset cartpole
    np.savez(tmp_path / "agent.npz", params=weights)
    file = ("--from-pretrained", tmp_path / "agent.npz", "--preset", "cartpole", "--layout", "paper")
    words = (*file, "--episodes", 9, "--seeds", "fresh", "--csv")
    printed(*words, tmp_path / "one.csv")
    done = launch(2, "-m", "mpi_es.evaluate", *words, tmp_path / "two.csv")
    assert (done.returncode, done.stderr) == (0, "")
    table = (tmp_path / "one.csv").read_text()
    assert (tmp_path / "two.csv").read_text() == table
    assert table.count("\n") == 10
