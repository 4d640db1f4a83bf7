import pytest

from mpi_es.config.presets import preset
from mpi_es.config.presets_mujoco import BODIES, MUJOCO
from mpi_es.evaluation.build import make_policy, make_rollouts


def test_each_body_has_a_linear_policy_and_a_network():
    pytest.importorskip("envpool")
    of_body = {name.removesuffix("-64").removeprefix("ars-") for name in MUJOCO}
    assert of_body == {body.lower() for body in BODIES}
    assert make_policy(preset("halfcheetah")).dim == 17 * 6 + 6
    assert make_policy(preset("halfcheetah-64")).dim == 18 * 64 + 65 * 64 + 65 * 6


def test_held_out_episodes_pay_the_bonus_for_living():
    pytest.importorskip("envpool")
    for name, apart in (("hopper", True), ("swimmer", False)):
        rollout, held_out = make_rollouts(preset(name))
        assert (held_out is not rollout) == apart
    assert preset("hopper").env_options == ("healthy_reward=0.0",)
    assert preset("humanoid").held_out_env_options == ("healthy_reward=5.0",)


def test_a_random_search_has_the_step_size_of_its_paper():
    for name, step in (("ars-swimmer", 0.02), ("ars-hopper", 0.01), ("ars-humanoid", 0.02)):
        strategy = preset(name).strategy
        assert strategy.learning_rate / (2 * strategy.init_sigma) == pytest.approx(step)


def test_a_random_search_clips_actions_and_swimmers_alone_sees_observations_as_they_are():
    assert {preset(name).policy.output for name in MUJOCO if name.startswith("ars-")} == {"clip"}
    assert [name for name in MUJOCO if not preset(name).obs_norm] == ["ars-swimmer"]
