import subprocess
import sys

import numpy as np
import pytest
import torch
from gymnasium import spaces

from mpi_es.agents.torchscript import write
from mpi_es.config.run import configured
from mpi_es.errors import UserError
from mpi_es.evaluation.normalisation import normalise
from mpi_es.policies import make
from tests.launching import LIMIT
from tests.policies.user_policies import Remembering

NUMBER, GRID = spaces.Discrete(4, start=2), spaces.Box(-3, 3, (2, 3), np.float64)
VECTOR, PICTURES = spaces.Box(-3, 3, (5,), np.float32), spaces.Box(0, 255, (40, 40, 3), np.uint8)
NETWORKS = {
    "mlp": ({"policy": "mlp"}, VECTOR),
    "rnn": ({"policy": "rnn"}, VECTOR),
    "lstm": ({"policy": "lstm"}, VECTOR),
    "attention": ({"policy": "attention"}, PICTURES),
    "frames": ({"policy": "attention", "controller": "mlp", "num_frames": 2}, PICTURES),
    "number": ({"policy": "mlp"}, NUMBER),
    "grid": ({"policy": "lstm"}, GRID),
    "user": ({"policy": "tests.policies.user_policies:Remembering"}, VECTOR),
}


DRIVE = """
import sys
sys.modules["mpi_es"] = None
import numpy as np, torch
torch.set_num_threads(1)
for name in sys.argv[1:]:
    script, outputs, memory = torch.jit.load(f"{name}.pt"), [], None
    for step, x in enumerate(torch.from_numpy(np.load(f"{name}.npy"))):
        if not hasattr(script, "start"):
            answer = script(x)
        elif step == 0:
            answer, memory = script.start(x)
        else:
            answer, memory = script(x, memory)
        outputs.append(answer.numpy())
    np.save(f"{name}-outputs.npy", outputs)
"""


def written(name, directory):
    """Write a script and observations; return what the module puts out for these."""
    options, space = NETWORKS[name]
    size = {} if ":" in options["policy"] else {"hidden": (6,)}
    policy = make(configured(**size, **options), space, spaces.Discrete(3))
    agent, module = 2 * policy.initial(3), policy.module().requires_grad_(False)
    torch.nn.utils.vector_to_parameters(torch.from_numpy(agent), module.parameters())
    normalisation = np.zeros((2, 0))
    if space is VECTOR:
        normalisation = np.stack([np.linspace(-1, 1, 5), np.full(5, 3)])
    write(directory / f"{name}.pt", policy, agent, normalisation, space)
    space.seed(1)
    observations = np.stack([[space.sample() for _ in range(2)] for _ in range(4)])  # (steps, batch, …)
    np.save(directory / f"{name}.npy", observations)
    outputs, memory = [], None
    for x in observations:
        x = policy.features(x) if hasattr(policy, "features") else x
        x = torch.from_numpy(normalise(x, normalisation) if normalisation.size else x)
        answer = module(x) if options["policy"] == "mlp" else module(x, memory)
        answer, memory = answer if isinstance(answer, tuple) else (answer, None)
        outputs.append(answer.numpy())
    return np.array(outputs)


def test_a_script_does_the_same_without_this_package(tmp_path):
    expected = {name: written(name, tmp_path) for name in NETWORKS}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVE, *NETWORKS], cwd=tmp_path, check=True, timeout=LIMIT
    )
    for name, outputs in expected.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}-outputs.npy"), outputs, err_msg=name)


class BranchingLater(Remembering):
    """A network that branches in all steps of an episode but the first."""

    def forward(self, observations, memory):
        sign = 1 if memory is None or observations.sum() > 0 else -1
        outputs, memory = super().forward(observations, memory)
        return sign * outputs, memory


@pytest.mark.parametrize(
    "name", ["tests.policies.user_policies:Branching", "tests.agents.test_torchscript:BranchingLater"]
)
def test_a_module_that_cannot_be_traced_is_told(tmp_path, name):
    policy = make(configured(policy=name), VECTOR, spaces.Discrete(3))
    with pytest.raises(UserError, match="--torchscript: expected a module that computes the same in each"):
        write(tmp_path / "x.pt", policy, policy.initial(0), np.zeros((2, 0), np.float32), VECTOR)
