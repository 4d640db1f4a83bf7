import pytest

from mpi_es.config.presets import preset
from mpi_es.config.presets_mujoco import BODIES, MUJOCO
from mpi_es.evaluation.build import make_policy, make_rollouts


def test_each_body_has_a_linear_policy_and_a_network():
    pytest.importorskip("envpool")
    assert {name.removesuffix("-64") for name in MUJOCO} == {body.lower() for body in BODIES}
    assert make_policy(preset("halfcheetah")).dim == 17 * 6 + 6
    assert make_policy(preset("halfcheetah-64")).dim == 18 * 64 + 65 * 64 + 65 * 6


def test_held_out_episodes_pay_the_bonus_for_living():
    pytest.importorskip("envpool")
    for name, apart in (("hopper", True), ("swimmer", False)):
        rollout, held_out = make_rollouts(preset(name))
        assert (held_out is not rollout) == apart
    assert preset("hopper").env_options == ("healthy_reward=0.0",)
    assert preset("humanoid").held_out_env_options == ("healthy_reward=5.0",)
