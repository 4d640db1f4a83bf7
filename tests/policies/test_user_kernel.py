from dataclasses import replace

import numpy as np
import pytest
from gymnasium import spaces

import mpi_es
from mpi_es import evaluate, export, train
from mpi_es.config.run import configured
from mpi_es.errors import RolloutError, UserError
from mpi_es.evaluation import build
from mpi_es.evaluation.compiled.rollout import CompiledRollout
from mpi_es.evaluation.rollout import Episode, EpisodeRules
from mpi_es.evaluation.sources import StaticSource
from mpi_es.policies import make
from tests.launching import run_here
from tests.policies import user_kernels

HERE = "tests.policies.user_kernels"
VECTOR = spaces.Box(-3, 3, (4,), np.float32)


def policy(name="Leaky", **options):
    return make(configured(policy=f"{HERE}:{name}", **options), VECTOR, spaces.Discrete(2))


def numpys(parameters, observation, memory):
    """Return the outputs and the memory of a Leaky network of width 5."""
    read, bias, write = np.split(parameters.astype(float), [20, 25])
    memory = 0.5 * memory + 0.5 * np.tanh(read.reshape(5, 4) @ observation + bias)
    return write.reshape(2, 5) @ memory, memory


def test_it_computes_what_its_kernel_says_for_each_row():
    own, generator = policy(), np.random.default_rng(0)
    parameters = generator.normal(size=(3, own.dim)).astype(np.float32)
    weights, memory, theirs = own.unpack(parameters), own.initial_memory(3), np.zeros((3, 5))
    for _ in range(4):
        seen = generator.normal(size=(3, 4)).astype(np.float32)
        outputs, memory = own.outputs(weights, seen, memory)
        for i in range(3):
            answer, theirs[i] = numpys(parameters[i], seen[i], theirs[i])
            np.testing.assert_allclose(outputs[i], answer, rtol=1e-5, atol=1e-6)


def test_a_row_does_not_depend_on_the_others_and_memory_is_not_written_to():
    own, generator = policy(), np.random.default_rng(0)
    parameters = generator.normal(size=(7, own.dim)).astype(np.float32)
    seen, memory = generator.normal(size=(7, 4)).astype(np.float32), own.initial_memory(7)
    outputs, _ = own.outputs(own.unpack(parameters), seen, memory)
    assert not memory.any()
    for i in range(7):
        alone, _ = own.outputs(own.unpack(parameters[[i]]), seen[[i]], own.initial_memory(1))
        assert alone.tobytes() == outputs[[i]].tobytes()


@pytest.mark.parametrize("env", ["mpi_es/CartPole-v1", "mpi_es/Pendulum-v1", "mpi_es/LunarLander-v3"])
@pytest.mark.parametrize("normalised", [False, True])
def test_compiled_episodes_are_those_of_the_ordinary_path_to_the_bit(env, normalised):
    config = configured(env=env, policy=f"{HERE}:Leaky", obs_norm=normalised)
    fast, plain = (build.make_rollout(replace(config, compiled=kind)) for kind in (True, False))
    assert isinstance(fast, CompiledRollout)
    rows = np.random.default_rng(0).normal(size=(4, fast.policy.dim)).astype(np.float32)
    size = fast.size
    rules = EpisodeRules(60, np.ones((2, size)), collect=True) if normalised else EpisodeRules(60)
    found = []
    for rollout in (fast, plain):
        done = rollout.run(StaticSource(Episode(i, i, 40 + i, row) for i, row in enumerate(rows)), rules)
        found.append(done[np.argsort(done[:, 0])])
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Interpreted", "expected a kernel decorated with numba.njit, got <function"),
        ("Shapeless", "expected a class with kernel, shapes, memory, initial, got 'no shapes'"),
        ("Misshapen", r"expected shapes as \{'name': \(rows, columns\), …\}, got \{'read': 5\}"),
        ("Forgetful", "expected a whole number from 0 as memory, got None"),
    ],
)
def test_a_mistake_is_told_in_one_line(name, words):
    with pytest.raises(UserError, match=f"--policy {HERE}:{name}: {words}"):
        policy(name)


def test_the_first_parameters_must_be_as_many_as_the_shapes_say():
    with pytest.raises(UserError, match="expected 35 finite numbers from initial"):
        policy("Short").initial(0)
    drawn = policy().initial(0)
    assert drawn.shape == (35,)
    assert np.array_equal(drawn, policy().initial(0))


def test_an_error_in_initial_is_told_in_one_line():
    with pytest.raises(UserError, match=f"^--policy {HERE}:Broken: initial failed: AttributeError: .*normel"):
        policy("Broken").initial(0)


@pytest.mark.parametrize("env", ["mpi_es/CartPole-v1", "CartPole-v1"])
@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        (
            "Unknown",
            UserError,
            f"^--policy {HERE}:Unknown: numba refuses the kernel: shapes has no 'written'$",
        ),
        ("Forgotten", UserError, "numba refuses the kernel: TypeError: .* 4 argument types given.* takes 3"),
        ("Failing", RolloutError, ": ValueError: no such number\nTraceback"),
    ],
)
def test_a_kernel_s_mistake_is_told_before_any_work(env, name, error, words):
    rollout = build.make_rollout(configured(env=env, policy=f"{HERE}:{name}"))
    with pytest.raises(error, match=words):
        rollout.compile()


def test_options_are_keywords_of_its_class():
    assert policy(policy_options=("width=2",)).dim == 2 * 4 + 2 + 2 * 2
    with pytest.raises(UserError, match="its constructor failed: TypeError"):
        policy(policy_options=("widths=2",))


def test_it_is_trained_continued_evaluated_and_exported_but_not_as_torchscript(tmp_path):
    run, agent = tmp_path / "run", tmp_path / "agent.npz"
    own = ("--env", "mpi_es/CartPole-v1", "--policy", f"{HERE}:Leaky")
    few = ("--max-iter", 1, "--population-size", 4, "--num-eval-rollouts", 2, "--no-tensorboard")
    for program, *words in (
        (train, *own, *few, "--run-dir", run),
        (train, "--resume", run, "--max-iter", 2),
        (evaluate, run, "--episodes", 2),
        (export, run, "--out", agent),
        (evaluate, "--from-pretrained", agent, "--episodes", 2),
    ):
        run_here(program, *words)
    with pytest.raises(UserError, match="expected a torch module, got a kernel"):
        run_here(export, run, "--torchscript", tmp_path / "agent.pt")


def test_a_script_passes_the_class_itself():
    found = mpi_es.evolve_policy(
        "mpi_es/CartPole-v1",
        user_kernels.Leaky,
        max_iter=1,
        population_size=4,
        run_dir=None,
        console="silent",
    )
    assert found.agent.parameters.shape == (35,)
