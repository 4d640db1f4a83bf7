import pytest

from mpi_es import train
from mpi_es.config import command_line
from mpi_es.config.presets import PRESETS, preset
from mpi_es.config.run import Config, configured
from mpi_es.errors import UserError
from mpi_es.evaluation.build import make_rollout
from mpi_es.run_file import checkpoint
from tests.launching import assert_same, refused, run_here


def test_without_preset_and_environment_it_is_the_paper_s_run(tmp_path):
    plan = train.prepare(["--seed", "5", "--run-dir", str(tmp_path)])
    assert plan.config == preset("carracing", seed=5, run_dir=str(tmp_path))
    assert train.prepare(["--env-id=CartPole-v1", "--run-dir", str(tmp_path)]).config.policy.name == "mlp"
    assert train.prepare(["--verbose", "--run-dir", str(tmp_path)]).config.console == "lines"


OWN = "tests.envs.user_envs:"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"env": "CartPole-v1"}, False),
        ({"env": OWN + "Endless"}, True),
        ({"env": OWN + "Endless", "episode_cap": 9}, False),
        ({"env": OWN + "make"}, False),  # a TimeLimit of gym.make
        ({"env": OWN + "make_capped"}, False),  # one within another wrapper
        ({"env": OWN + "make_specified"}, False),
        ({"env": OWN + "make_unwrapped"}, True),  # its spec has the limit of the wrapper that is gone
    ],
)
def test_episodes_without_a_step_limit_are_cut_which_is_told(options, told):
    config = configured(**options, hidden=(4,))
    rollout = make_rollout(config)
    words = " has no step limit: an episode is cut after 10,000 steps; --episode-cap sets another limit"
    assert train.without_limit(config, rollout) == (config.env + words) * told
    assert rollout.training_cap(config.episode_cap) == (10_000 if told else config.episode_cap)


QUIET = ("--num-eval-rollouts", 2, "--console", "silent", "--no-tensorboard")
SMALL = ("--env", "CartPole-v1", "--hidden", 2, "--population-size", 4, *QUIET)


def test_a_run_begins_and_goes_on_only_where_it_is_asked_to(tmp_path):
    options = (*SMALL, "--max-iter", 2, "--run-dir", tmp_path / "run")
    run_here(train, *options)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] == 2
    with pytest.raises(UserError, match=r"holds a run already; .* -m mpi_es.train --resume"):
        train.prepare([*map(str, options)])
    run_here(train, *options, "--continue", "--max-iter", 3)
    assert checkpoint.load(tmp_path / "run")[0]["progress"]["generation"] == 3


def test_a_run_for_which_no_directory_is_named_gets_one_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ("cartpole", "--population-size", 4, "--seed", 3, "--max-iter", 1, *QUIET)
    for _ in range(3):
        run_here(train, *options)
    run_here(train, *options, "--max-iter", 2, "--continue")
    reached = {run.name: checkpoint.load(run)[0]["progress"]["generation"] for run in tmp_path.glob("runs/*")}
    assert reached == {"cartpole-3": 2, "cartpole-3-2": 1, "cartpole-3-3": 1}
    config = (tmp_path / "runs/cartpole-3-2/config.toml").read_text()
    assert 'run-dir = "runs/cartpole-3-2"' in config


def test_a_run_that_is_over_says_what_continues_it(tmp_path, capsys):
    hint = "; to continue it, give another --max-iter"
    run_here(train, *SMALL, "--max-iter", 1, "--console", "lines", "--run-dir", tmp_path / "run")
    assert hint not in " ".join(capsys.readouterr().out.split())
    run_here(train, "--resume", tmp_path / "run")
    assert " ".join(capsys.readouterr().out.split()).endswith(hint)


@pytest.mark.parametrize(
    ("name", "way"),
    [("Single", "in batches"), ("Branching", "one after another: torch.func.vmap refuses it")],
)
def test_the_first_lines_say_how_a_module_of_one_s_own_is_evaluated(tmp_path, capsys, name, way):
    policy = ("--env", "CartPole-v1", "--policy", f"tests.policies.user_policies:{name}")
    options = ("--population-size", 4, "--max-iter", 1, *QUIET, "--console", "lines")
    run_here(train, *policy, *options, "--run-dir", tmp_path / "run")
    assert f"networks are evaluated {way}" in capsys.readouterr().out


def test_the_file_of_a_run_s_options_begins_it_anew(exact, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    begun = ("cartpole", "--strategy", "openai_es", "--obs-norm", "--hidden", "--seed", 5)
    few = ("--max-iter", 3, "--population-size", 6, "--eval-every", 2, *QUIET)
    run_here(train, *begun, *few, "--run-dir", one)
    run_here(train, "--config", one / "config.toml", "--run-dir", other)
    assert_same(exact(other), exact(one))


@pytest.mark.parametrize(
    ("content", "policy"),
    [("seed = 5", "attention"), ('env-id = "CartPole-v1"', "mlp"), ('preset = "ant"', "mlp")],
)
def test_a_file_that_names_no_environment_is_on_top_of_the_paper_s_run(content, policy, tmp_path):
    (tmp_path / "my.toml").write_text(content)
    file, words = command_line.take_file(["--config", f"{tmp_path}/my.toml"], Config, PRESETS)
    assert train._new_config(file, words).policy.name == policy


def test_a_mistake_in_a_file_of_options_ends_all_ranks_with_one_line(tmp_path):
    (tmp_path / "my.toml").write_text('preset = "cartpole"\nstrategy = "pepgg"\n')
    line = refused(2, "-m", "mpi_es.train", "--config", tmp_path / "my.toml")
    assert line.startswith(f"error: {tmp_path}/my.toml: strategy: expected one of ")
    assert line.endswith("got 'pepgg'; did you mean 'pepg'?\n")


@pytest.mark.parametrize(("trouble", "code"), [("fails=1", 2), ("stuck=1", 0)])
def test_every_environment_that_was_made_is_closed(launch, tmp_path, trouble, code):
    log = tmp_path / "log"
    made = ("--env", f"{OWN}Counted", "--env-options", f"log={log}", *trouble.split())
    held_out = ("--held-out-env-options", f"log={log}", *trouble.split())
    size = ("--hidden", 2, "--population-size", 4, "--max-iter", 2, "--num-eval-rollouts", 2)
    done = launch(2, "-m", "mpi_es.train", *made, *held_out, *size, "--run-dir", tmp_path / "run")
    assert done.returncode == code, done.stderr
    assert ("an environment cannot be closed: OSError: stuck" in done.stderr) == (trouble == "stuck=1")
    words = log.read_text().split()
    assert words.count("made") == words.count("closed") > 4
    if not code:
        log.unlink()
        assert launch(2, "-m", "mpi_es.evaluate", tmp_path / "run").returncode == 0
        words = log.read_text().split()
        assert words.count("made") == words.count("closed") > 2
