import pytest

from mpi_es.config.run import configured
from mpi_es.diagnosis.environment import repeats


@pytest.mark.parametrize(
    ("env", "status", "seen"),
    [
        ("CartPole-v1", "ok", "two episodes of one seed are equal"),
        ("tests.envs.user_envs:make_capped", "ok", "are equal, 9 steps"),
        ("tests.envs.user_envs:Endless", "ok", "are equal, 1,000 steps"),
        ("tests.worlds.user_worlds:Numbers", "ok", "are equal, 9 steps"),
        ("tests.worlds.user_worlds:Wasteful", "warn", "a step makes an array"),
        ("tests.worlds.user_worlds:Beyond", "fail", "step reads or writes beyond the end of an array"),
        ("tests.envs.user_envs:make_unseeded", "warn", "differ in the reward of step 1; a run cannot be"),
        ("tests.envs.user_envs:make_undefined", "warn", "is not finite"),
        ("tests.faults.broken_envs:uneven", "warn", "two episodes of one seed differ in the end of step 1"),
        ("tests.faults.broken_envs:breaking", "fail", "candidate 0, episode seed 1143, step 2: ValueError"),
        ("tests.envs.user_envs:make_nothing", "fail", "--env: expected a gymnasium.Env from"),
        ("tests.envs.user_envs:choosy", "fail", "ValueError: not with {}"),
    ],
)
def test_an_episode_is_played_twice_on_one_seed(env, status, seen):
    finding = repeats(configured(env=env, hidden=(4,)))
    assert (finding.name, finding.status) == ("environment", status)
    assert seen in finding.seen
    assert bool(finding.remedy) == (status != "ok")
