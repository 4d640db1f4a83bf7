import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from mpi_es.agents import load
from mpi_es.config.presets import preset
from mpi_es.worlds.car_racing import simulation
from tests.launching import LIMIT, complete, start, wait_until

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "studies" / "imitation"
CONFIG = preset("carracing-fast", top_k=3, hidden=(5,), patch_order="column")


@pytest.fixture(scope="module")
def programs():
    """The modules road and student, which import each other as programs of a folder do."""
    sys.path.insert(0, str(PROGRAMS))
    yield {name: importlib.import_module(name) for name in ("road", "student")}
    sys.path.remove(str(PROGRAMS))
    for name in ("road", "student"):
        del sys.modules[name]


def test_a_network_answers_as_its_layers_do(programs):
    road, rng = programs["road"], np.random.default_rng(0)
    net = road.network(rng.standard_normal(road.PARAMETERS))
    senses, outputs = rng.standard_normal(road.SENSES).astype(np.float32), np.zeros(3, np.float32)
    road.answer(net, senses, np.zeros(16, np.float32), np.zeros(16, np.float32), outputs)
    hidden = np.tanh(np.tanh(senses @ net.first + net.first_bias) @ net.second + net.second_bias)
    np.testing.assert_allclose(outputs, hidden @ net.last + net.last_bias, rtol=1e-4)
    assert road.network(np.zeros(road.PARAMETERS)).last_bias.tolist() == [0, 0, -1.5]


def test_the_next_tiles_lie_ahead_of_a_car_at_the_start(programs):
    road, car = programs["road"], simulation.allocate()
    simulation.begin(car, 5)
    senses = np.zeros(road.SENSES, np.float32)
    road.sense(car.world, car.physics, np.array([0.5, 0.75, 0.25]), senses)
    assert senses[:3] == pytest.approx(0, abs=1e-3)
    assert senses[3:6].tolist() == [1, 0.5, 0.5]
    across, along = 15 * senses[7::2], 15 * senses[8::2]
    assert (np.diff(along) > 0).all()
    assert np.hypot(np.diff(across), np.diff(along)) == pytest.approx(3.5, abs=0.5)


def test_the_written_agent_answers_as_the_mean_of_the_learning_one(programs):
    module = programs["student"]
    student = module.Student(np.zeros(1184, np.float32), CONFIG, 1)
    rng = np.random.default_rng(0)
    drives = module.allocate(2, 3)
    drives.centres[:], drives.actions[:] = rng.random(drives.centres.shape), 0.5
    drives.length[:] = 20, 7
    errors = [student.learn(drives, 0, rng) for _ in range(100)]
    assert errors[-1] < errors[0] / 2
    written = student.policy.module()
    torch.nn.utils.vector_to_parameters(torch.from_numpy(student.parameters()), written.parameters())
    student.controller = student.mean.module
    centres = torch.from_numpy(drives.centres[:1, :9])
    expected, memory = student._answers(centres)[0], None
    for step in range(9):
        output, memory = written.controller(centres[:, step], memory)
        np.testing.assert_allclose(torch.tanh(output[0]).detach(), expected[step].detach(), atol=1e-5)


def test_noise_depends_on_the_seed_and_may_last(programs):
    noise_of = programs["student"].noise_of
    assert np.array_equal(noise_of(3, True), noise_of(3, True))
    short, lasting = noise_of(3, False), noise_of(3, True)
    assert abs(np.corrcoef(short[1:, 0], short[:-1, 0])[0, 1]) < 0.1
    assert np.corrcoef(lasting[1:, 0], lasting[:-1, 0])[0, 1] == pytest.approx(0.9, abs=0.05)


@pytest.mark.slow
def test_the_programs_end_in_the_same_agent_on_one_rank_and_on_three_and_after_a_kill(tmp_path):
    def run(ranks, program, *options):
        done = complete(ranks, PROGRAMS / program, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    run(2, "teacher.py", "--generations", "2", "--teachers", "2")
    attention = PROGRAMS.parents[2] / "docs" / "carracing" / "snes.npz"
    few = "runs/teachers/teacher.npy", attention, "--rounds", "3", "--exact", "1", "--drives", "4"
    run(1, "student.py", *few, "--run-dir", "whole")
    killed = start(3, PROGRAMS / "student.py", *few, "--run-dir", "killed", cwd=tmp_path)
    wait_until((tmp_path / "killed" / "student.pt").exists, "a first round")
    killed.kill()
    killed.wait(LIMIT)
    run(3, "student.py", *few, "--run-dir", "killed")
    agent, other = (tmp_path / run / "agent.npz" for run in ("whole", "killed"))
    assert agent.read_bytes() == other.read_bytes()
    taught = load.load(str(agent), preset("carracing"), "agent")
    assert taught.config.policy.patch_order == "column"
    assert taught.parameters[:1184] == pytest.approx(
        load.load(str(attention), preset("carracing"), "agent").parameters[:1184]
    )
