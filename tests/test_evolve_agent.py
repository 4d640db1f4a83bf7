"""mpi_es.evolve_policy and load_agent as scripts call them: alone, on many ranks, killed and gone on with."""

import json
import signal
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import mpi_es
from mpi_es import evaluate, evolve_agent, train
from mpi_es.errors import RolloutError, UserError
from mpi_es.scripts import directories
from mpi_es.worlds.classic_control.cart_pole import CartPole
from mpi_es.worlds.env import WorldEnv
from tests.launching import assert_same, exact_content, interrupt, refused, run_here
from tests.policies.user_policies import Drawing, Remembering

SCRIPT = """
import json, sys, time
import gymnasium as gym
import torch
import mpi_es

class Slow(gym.Wrapper):
    def step(self, action):
        time.sleep(PAUSE)
        return self.env.step(action)

class Net(torch.nn.Module):
    def __init__(self, observation_space, action_space, width=3):
        super().__init__()
        self.cell = torch.nn.GRUCell(4, width)
        self.out = torch.nn.Linear(width, 2)

    def forward(self, observations, memory):
        memory = self.cell(observations, memory)
        return self.out(memory), memory

options = json.loads(sys.argv[1])
PAUSE = options.pop("pause", 0)
env, policy = options.pop("env", lambda: Slow(gym.make("CartPole-v1"))), options.pop("policy", Net)
result = mpi_es.evolve_policy(env, policy, **options)
words = [mpi_es.rank(), result.agent.parameters.tobytes().hex(), result.score.mean, result.steps]
sys.stdout.write(" ".join(map(str, words)) + "\\n")  # at once, lest lines of ranks mix
"""
QUICK = {
    "population_size": 6,
    "max_iter": 6,
    "eval_every": 2,
    "num_eval_rollouts": 4,
    "tensorboard": False,
    "console": "silent",
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A directory of its own for runs/, and a script in it."""
    (tmp_path / "balance.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    directories.CALLS.clear()


def make(limit=50):
    return gym.make("CartPole-v1", max_episode_steps=limit)


def evolve(env="CartPole-v1", policy="mlp", **options):
    return mpi_es.evolve_policy(env, policy, **QUICK | options)


def script(**options):
    return ("balance.py", json.dumps(QUICK | {"checkpoint_interval": 0} | options))


def lines_of(out):
    """Return what each rank printed, without its number."""
    return [line.split(" ", 1)[1] for line in sorted(out.splitlines())]


# The same run as the command's


@pytest.mark.parametrize("ranks", [1, 3])
def test_it_is_the_run_of_the_command(launch, ranks):
    options = {"obs_norm": True, "hidden": [4], "seed": 5, "target_fitness": 400.0, "episode_cap": 90}
    names = {"env": "CartPole-v1", "policy": "lstm", "strategy": "openai_es"}
    done = launch(ranks, *script(run_dir="mine", **names, **options))
    assert done.stderr == ""
    words = ["--obs-norm", "--hidden", 4, "--seed", 5, "--target-fitness", 400, "--episode-cap", 90]
    words += [word for name, value in names.items() for word in (f"--{name}", value)]
    few = ["--population-size", 6, "--max-iter", 6, "--eval-every", 2, "--num-eval-rollouts", 4]
    run_here(train, *words, *few, "--checkpoint-interval", 0, "--no-tensorboard", "--console", "silent",
             "--run-dir", "theirs")  # fmt: skip
    assert_same(exact_content(Path("mine")), exact_content(Path("theirs")))
    mine, theirs = (mpi_es.load_run(run)["config"] for run in ("mine", "theirs"))
    assert_same(mine | {"run_dir": ""}, theirs | {"run_dir": ""})


def test_a_preset_is_that_of_the_command():
    result = mpi_es.evolve_policy(preset="cartpole", **QUICK)
    few = ["--population-size", 6, "--max-iter", 6, "--eval-every", 2, "--num-eval-rollouts", 4]
    run_here(train, "cartpole", *few, "--no-tensorboard", "--console", "silent", "--run-dir", "theirs")
    assert_same(exact_content(result.run_dir), exact_content(Path("theirs")))
    assert evolve(preset="cartpole", policy="gru", hidden=(3,)).agent.config.env == "CartPole-v1"


def test_all_ranks_return_what_one_does(launch):
    (alone,) = lines_of(launch(1, *script(run_dir="alone")).stdout)
    done = launch(3, *script(run_dir="many"))
    assert (done.stderr, lines_of(done.stdout)) == ("", [alone] * 3)
    assert_same(exact_content(Path("many")), exact_content(Path("alone")))


def test_a_run_that_is_killed_goes_on_on_other_ranks(launch, tmp_path):
    (whole,) = lines_of(launch(1, *script(run_dir="whole", max_iter=9)).stdout)
    slow = script(run_dir="run", max_iter=9, pause=0.005)
    interrupt(tmp_path / "run", signal.SIGKILL, (3, *slow))
    assert lines_of(launch(2, *slow).stdout) == [whole] * 2
    assert_same(exact_content(Path("run")), exact_content(Path("whole")))


def test_a_mistake_is_one_line_on_all_ranks():
    assert refused(2, *script(policy="mpl")) == (
        "error: policy: expected one of attention, gru, lstm, mlp, package.module:Class, rnn, got 'mpl'; "
        "did you mean 'mlp'?\n"
    )


# Environments and policies of a script


def test_environment_and_policy_may_be_of_the_script():
    limit = 30

    class Wide(Remembering):
        def __init__(self, observation_space, action_space, width=7):
            super().__init__(observation_space, action_space)
            self.out = nn.Linear(width, 2)

    result = evolve(lambda: make(limit), Wide, policy_options={"width": 7})
    assert str(result.run_dir).startswith("runs/test_evolve_agent.py-")
    assert result.history["mean_length"].max() <= 30
    config = mpi_es.load_run(result.run_dir)["config"]
    assert config["policy_options"] == ["width=7"]
    head = (result.run_dir / "config.toml").read_text()
    assert head.startswith("# The options of this run, which a script started.\n")


def test_options_of_an_environment_are_keywords_of_its_function():
    result = evolve(make, env_options={"limit": 9}, held_out_env_options={"limit": 12})
    assert result.history["mean_length"].max() <= 9 < result.score.mean <= 12
    assert result.agent.config.env == f"{__name__}:make"
    again = mpi_es.load_agent(result.run_dir)
    np.testing.assert_array_equal(again.evaluate(4, "held-out").returns, result.score.returns)


def test_the_weights_of_a_module_are_where_the_search_begins():
    module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    weights = nn.utils.parameters_to_vector(module.parameters()).detach().numpy().copy()
    result = evolve(policy=module, init_sigma=1e-9, max_iter=1)
    np.testing.assert_allclose(result.agent.parameters, weights, atol=1e-6)
    np.testing.assert_array_equal(nn.utils.parameters_to_vector(module.parameters()).detach(), weights)


DRAWN = """
import torch
import mpi_es

class Fixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("features", torch.randn(4, 5))
        self.register_buffer("other", torch.randn(5), persistent=False)
        self.out = torch.nn.Linear(5, 2)

    def forward(self, observations):
        return self.out(torch.tanh(observations @ self.features + self.other))

quiet = dict(tensorboard=False, console="silent", run_dir=None)
small = dict(population_size=6, max_iter=3, num_eval_rollouts=6)
result = mpi_es.evolve_policy("CartPole-v1", Fixed(), **small, **quiet)
assert result.agent.evaluate(6, "held-out").returns.tolist() == result.score.returns.tolist()
"""


def test_what_a_module_draws_is_rank_0s_on_all_ranks(launch):
    done = launch(3, "-c", DRAWN)
    assert (done.returncode, done.stderr) == (0, "")


class Features(nn.Module):
    """A network that reads random features, and has counted its observations."""

    def __init__(self, seed):
        super().__init__()
        drawn = torch.randn(4, 5, generator=torch.Generator().manual_seed(seed))
        self.register_buffer("drawn", drawn.to(torch.bfloat16), persistent=False)
        self.register_buffer("count", torch.tensor(7))
        self.out = nn.Linear(5, 2)

    def forward(self, observations):
        return self.out(torch.tanh(observations @ self.drawn.float()))


def test_a_module_with_other_buffers_is_refused(tmp_path):
    result = evolve(policy=Features(1), max_iter=2, run_dir="run")
    result.agent.save(tmp_path / "agent.npz")
    assert evolve(policy=Features(1), max_iter=2, run_dir="run").score.mean == result.score.mean
    other = "^policy: expected the buffers of the agent's module, got others; draw"
    with pytest.raises(UserError, match=other):
        evolve(policy=Features(2), max_iter=3, run_dir="run")
    for source in ("run", tmp_path / "agent.npz"):
        again = mpi_es.load_agent(source, policy=Features(1))
        np.testing.assert_array_equal(again.evaluate(4, "held-out").returns, result.score.returns[:4])
        with pytest.raises(UserError, match=other):
            mpi_es.load_agent(source, policy=Features(2))


def test_a_run_of_a_script_is_continued_by_it_and_by_no_command():
    def mine():
        return make()

    whole = evolve(mine)
    evolve(mine, max_iter=3, run_dir="run")
    assert evolve(mine, run_dir="run").history["mean"].tobytes() == whole.history["mean"].tobytes()
    assert evolve(mine, run_dir="run").agent.parameters.tobytes() == whole.agent.parameters.tobytes()
    for program, *words in ([train, "--resume", "run", "--max-iter", 9], [evaluate, "run"]):
        with pytest.raises(
            UserError, match=r"--env: expected .*, got 'test_evolve_agent.py'; it is a script"
        ):
            run_here(program, *words)
    with pytest.raises(UserError, match=r"^env: expected .*, got 'lunar"):
        evolve("lunar", run_dir="run")
    with pytest.raises(UserError, match=r"^policy: expected .*, with which the run began, got 'gru'"):
        evolve(mine, "gru", run_dir="run")


def test_an_evaluation_may_name_the_environment_of_a_script(capsys):
    evolve(lambda: make(), run_dir="run")
    run_here(evaluate, "run", "--env", f"{__name__}:make", "--episodes", 2)
    assert "over 2 episodes" in capsys.readouterr().out


# Arguments, result and callback


def test_without_a_directory_no_files_are_written(tmp_path):
    before = sorted(tmp_path.rglob("*"))
    result = evolve(run_dir=None)
    assert (result.run_dir, sorted(tmp_path.rglob("*"))) == (None, before)
    assert result.agent.parameters.tobytes() == evolve().agent.parameters.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": None}, "^env: expected an environment, or a preset that has one, got nothing"),
        ({"env": 3}, "^env: expected a name, or a function that returns an environment, got 3"),
        ({"env": lambda: 3}, "^env: expected a gymnasium.Env from test_evolve_agent.py:lambda, got 'int'"),
        ({"env": "CartPol-v1"}, "^env: expected a gymnasium id .*; did you mean 'CartPole-v1'"),
        ({"policy": nn.Linear}, "^policy .*: its constructor failed"),
        (
            {"policy": dict},
            "^policy: expected a name, a torch module, a class of torch modules or a class with a kernel",
        ),
        ({"policy": nn.Linear(4, 3)}, r"^policy .*: expected outputs \(1, 2\)"),
        ({"policy": nn.Linear(4, 2), "policy_options": {"width": 3}}, "^policy_options: expected none with"),
        ({"strategy": "cma"}, "^strategy: expected"),
        ({"preset": "cartpol"}, "^preset: .*did you mean 'cartpole'"),
        ({"hiden": 3}, "^evolve_policy: expected one of .*, got 'hiden'; did you mean 'hidden'"),
        ({"x0": 3}, "^evolve_policy: expected one of .*, got 'x0'"),
        ({"minimise": True}, "^minimise: expected to be left out"),
        ({"learning_rate": 0.1}, "^learning_rate: expected to be left out with .*cma_es"),
        ({"threads_per_rank": 2}, "^threads_per_rank: expected to be left out, as it has no effect"),
        ({"population_size": 8.5}, "^population_size: expected whole number ≥ 1, got 8.5"),
        ({"obs_norm": 1}, "^obs_norm: expected true or false, got 1"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(UserError, match=message) as caught:
        evolve(**options)
    assert "\n" not in str(caught.value)
    assert caught.traceback[-1].name == "evolve_policy"


def test_an_option_without_effect_on_the_episodes_is_refused():
    with pytest.raises(UserError, match=r"^envs_per_rank: expected to be left out, .* in compiled code"):
        evolve("mpi_es/CarRacing-v3", "attention", envs_per_rank=2, run_dir=None)


@pytest.mark.parametrize(("name", "ours"), evolve_agent._OTHER_NAMES.items())
def test_names_of_functions_and_other_libraries_are_answered_with_ours(name, ours):
    with pytest.raises(UserError, match=f"evolve_policy: expected {ours}, got '{name}'"):
        evolve(**{name: 1})


def test_a_callback_sees_each_generation_and_may_end_the_run():
    seen = []

    def watch(generation):
        seen.append(generation)
        return generation.number == 4

    result = evolve(callback=watch)
    assert (result.reason, [one.number for one in seen]) == ("stopped by callback", [1, 2, 3, 4])
    assert seen[0].x is None
    np.testing.assert_array_equal(seen[-1].x, result.agent.parameters)
    assert seen[-1].value == result.score.mean
    assert [one.values.max() for one in seen] == result.history["best"].tolist()
    assert seen[0].centre.shape == seen[-1].x.shape


def test_an_episode_that_fails_reaches_the_caller():
    class Broken(gym.Wrapper):
        def step(self, action):
            raise ZeroDivisionError("the wheel is off")

    with pytest.raises(RolloutError, match=r"ZeroDivisionError: the wheel is off"):
        evolve(lambda: Broken(make()))


def test_a_result_is_short_and_has_its_history_as_a_table():
    result = evolve()
    assert len(repr(result)) < 200
    assert result.to_pandas()["best"].tolist() == result.history["best"].tolist()
    content = mpi_es.load_run(result.run_dir)
    assert result.score.returns.tolist() in content["evaluations"]["returns"].tolist()
    assert (result.steps, result.episodes) == (content["history"]["steps"].sum(), 6 * 7)
    assert result.score.mean == content["best"]["fitness"]


# Agents in files


@pytest.fixture
def run():
    return evolve(lambda: make(), Remembering, obs_norm=True)


def test_an_agent_is_loaded_from_its_run_or_a_file_with_what_is_the_scripts(run):
    run.agent.save("agent.npz")
    for source in (run.run_dir, run.run_dir / "run.h5", "agent.npz"):
        agent = mpi_es.load_agent(source, env=make)
        assert agent.evaluate(3).returns.tolist() == run.agent.evaluate(3).returns.tolist()
        with pytest.raises(
            UserError, match=r"^env: .*it is a script: .*, or pass its object to mpi_es.load_a"
        ):
            mpi_es.load_agent(source)
    assert mpi_es.load_agent("agent.npz", "CartPole-v1").evaluate(1).returns[0] >= 1


def test_a_module_of_a_script_is_passed_to_load_its_agent():
    module = nn.Linear(4, 2)
    run = evolve(policy=module)
    run.agent.save("agent.npz")
    for source in (run.run_dir, "agent.npz"):
        agent = mpi_es.load_agent(source, policy=nn.Linear(4, 2))
        assert agent.evaluate(3).returns.tolist() == run.agent.evaluate(3).returns.tolist()
        with pytest.raises(UserError, match=r"^policy: expected a module that can be imported, got '\S*.py'"):
            mpi_es.load_agent(source)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("nowhere", {}, "^load_agent: expected a run or an npz file, got 'nowhere'"),
        ("bare.npz", {}, "^load_agent: expected a run, or a file of Agent.save or mpi_es.export"),
        ("run", {"env": "Acrobot-v1"}, "^env: expected an environment whose policy has the 16 parameters"),
        ("run", {"policy": "mlp:"}, "^policy: expected a torch module"),
        ("run", {"policy": nn.Linear(4, 2)}, "^policy: expected none, since the agent's is mlp"),
    ],
)
def test_what_is_no_agent_is_named(source, options, message):
    evolve(run_dir="run", hidden=(2,), max_iter=1)
    np.savez("bare.npz", params=np.zeros(16, np.float32))
    with pytest.raises(UserError, match=message):
        mpi_es.load_agent(source, **options)


def test_torch_s_generator_is_the_script_s_again():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    evolve(policy=Drawing, max_iter=1)
    assert torch.equal(torch.get_rng_state(), before)


class Dear(WorldEnv):
    """Pays a hundred for each step."""

    def __init__(self):
        super().__init__(CartPole())

    def step(self, action):
        observation, reward, *others = super().step(action)
        return observation, 100 * reward, *others


def test_an_environment_that_changes_its_world_is_played_itself():
    options = {"hidden": (), "max_iter": 1, "population_size": 8, "env": Dear, "policy": "mlp"}
    found = [evolve(**options, compiled=compiled).agent.evaluate(2, "0-1") for compiled in (True, False)]
    assert found[0].mean == found[1].mean > 500


def test_using_an_agent_leaves_torch_as_it_was():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        result = evolve(policy=Drawing, max_iter=1)
        agent = result.agent
        drawn = torch.default_generator.get_state()
        agent(np.zeros(4, np.float32))
        agent.evaluate(1)
        with pytest.raises(UserError, match="whose policy has the 10 parameters"):
            mpi_es.load_agent(result.run_dir, "Acrobot-v1", Drawing)
        assert torch.get_num_threads() == 2
        assert torch.equal(torch.default_generator.get_state(), drawn)
    finally:
        torch.set_num_threads(before)


def test_evaluating_an_agent_has_no_timeout_that_ends_the_script():
    agent = evolve(max_iter=1, evaluation_timeout=0.2).agent
    agent.evaluate(1)
    assert agent.config.evaluation_timeout == 0.2
