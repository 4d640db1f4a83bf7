from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpi_es import envs
from mpi_es.envs.lockstep.separate import SeparateEnvs
from mpi_es.errors import RolloutError
from mpi_es.evaluation.env_rollout import EnvRollout
from mpi_es.evaluation.normalisation import normalise, of_episodes
from mpi_es.evaluation.rollout import Episode, EpisodeRules, Source
from mpi_es.parallel.stop_signal import Stopped
from mpi_es.policies.mlp import MLP
from mpi_es.policies.options import MLPOptions, RecurrentOptions
from mpi_es.policies.recurrent import Recurrent
from mpi_es.seeds import Stream, rng
from tests.evaluation.drift import Drift

SPACES = (Drift.observation_space, Drift.action_space)
POLICIES = {
    "mlp": MLP(MLPOptions(hidden=(4,)), *SPACES),
    "rnn": Recurrent(RecurrentOptions("rnn", hidden=(3,)), *SPACES),
    "lstm": Recurrent(RecurrentOptions("lstm", hidden=(3,)), *SPACES),
    "gru": Recurrent(RecurrentOptions("gru", hidden=(3,)), *SPACES),
}
SCALING = np.array([[1, 2, 3], [0.5, 1, 2]], np.float32)
RULES = {
    "plain": EpisodeRules(),
    "cap": EpisodeRules(cap=4),
    "normalised": EpisodeRules(normalisation=SCALING, collect=True),
    "patience": EpisodeRules(early_stop=2),
    "clipped": EpisodeRules(clip=(-0.1, 0.2), early_stop=2),
    "noise": EpisodeRules(action_noise=0.3),
    "all": EpisodeRules(cap=9, normalisation=SCALING, action_noise=0.3, collect=True),
}


def drift():
    return Drift(), 0


def episodes(policy, count=9):
    """Two episodes for each candidate."""
    rows = np.random.default_rng(0).normal(size=(count, policy.dim)).astype(np.float32)
    return [
        Episode(episode_id, episode_id // 2, 100 + episode_id, rows[episode_id // 2])
        for episode_id in range(count)
    ]


class Reluctant(Source):
    """A source that gives episodes in an order, and now and then only where it must."""

    def __init__(self, given, refusals=()):
        self.given, self.refusals, self.over = list(given), list(refusals), []

    def take(self, block):
        if not block and self.refusals and self.refusals.pop():
            return None
        return self.given.pop(0) if self.given else None

    def done(self, episode_id, length):
        self.over.append((episode_id, length))


def alone(policy, episode, rules, repeat=1):
    """Return an episode's row as a plain loop over one environment and one network finds it."""
    env, memory, total, seen, losing, length = Drift(), policy.initial_memory(1), 0.0, [], 0, 0
    weights = policy.unpack(episode.parameters[None])
    noise = rng(episode.seed, Stream.ACTION, episode.candidate)
    observation, _ = env.reset(seed=episode.seed)
    while True:
        seen.append(observation.astype(float))
        read = (
            observation[None]
            if rules.normalisation is None
            else normalise(observation[None], rules.normalisation)
        )
        action, memory = policy.act(weights, read, memory)
        if rules.action_noise:
            action = np.clip(action + rules.action_noise * noise.standard_normal(2), -1, 1)
        gain = 0.0
        for _ in range(repeat):
            observation, reward, over, _, _ = env.step(action[0].astype(np.float32))
            gain, length = gain + float(reward), length + 1
            over = over or length == rules.cap
            if over:
                break
        low, high = rules.clip or (-np.inf, np.inf)
        total += min(max(gain, low), high)
        losing = losing + 1 if gain < 0 else 0
        if over or (rules.early_stop and losing > rules.early_stop):
            break
    head = np.array([episode.episode_id, total, length])
    if not rules.collect:
        return head
    sums = np.array([sum(x - seen[0] for x in seen), sum((x - seen[0]) ** 2 for x in seen)])
    return np.concatenate([head, of_episodes(np.array([len(seen)]), seen[0][None], sums[None])[0]])


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=8)
@given(st.permutations(range(9)), st.integers(1, 10), st.lists(st.booleans(), max_size=60), st.integers(1, 3))
def test_an_episode_is_what_it_is_alone_whatever_runs_beside_it(rules, name, order, width, refusals, repeat):
    policy, rules = POLICIES[name], RULES[rules]
    todo = episodes(policy)
    source = Reluctant([todo[i] for i in order], refusals)
    rows = EnvRollout(policy, SeparateEnvs(drift), 10, repeat).run(source, rules, width)
    expected = [alone(policy, episode, rules, repeat) for episode in todo]
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0])], expected)
    assert source.over == [(episode_id, length) for episode_id, _, length, *_ in rows]


class Ending(Drift):
    """Its last observation means nothing."""

    def step(self, action):
        observation, reward, over, *rest = super().step(action)
        return np.full_like(observation, np.nan) if over else observation, reward, over, *rest


class Strict(MLP):
    """Cannot answer NaN."""

    def act(self, weights, observations, memory):
        assert not np.isnan(observations).any()
        return super().act(weights, observations, memory)


def test_no_policy_reads_the_last_observation_of_an_episode():
    todo, rows = episodes(POLICIES["mlp"]), []
    for policy, env in ((POLICIES["mlp"], Drift), (Strict(MLPOptions(hidden=(4,)), *SPACES), Ending)):
        rollout = EnvRollout(policy, SeparateEnvs(lambda env=env: (env(), 0)), 8)
        rows.append(rollout.run(Reluctant(todo), EpisodeRules()))
    np.testing.assert_array_equal(*rows)


@pytest.mark.parametrize("policy", ["mlp", "lstm"])
def test_a_rollout_that_was_stopped_leaves_nothing_behind(policy):
    policy = POLICIES[policy]
    rollout, todo = EnvRollout(policy, SeparateEnvs(drift), 4), episodes(policy)

    class Stopping(Reluctant):
        def poll(self):
            raise Stopped

    fresh = rollout.run(Reluctant(todo), RULES["all"])
    with pytest.raises(Stopped):
        rollout.run(Stopping(todo), RULES["all"])
    np.testing.assert_array_equal(rollout.run(Reluctant(todo), RULES["all"]), fresh)


@pytest.mark.parametrize("repeat", [1, 2])
@pytest.mark.parametrize(("cap", "limit", "lengths"), [(0, 3, 3), (5, 3, 3), (2, 3, 2), (2, 0, 2)])
def test_an_episode_ends_at_the_lower_of_cap_and_limit(cap, limit, lengths, repeat):
    rollout = EnvRollout(POLICIES["mlp"], SeparateEnvs(lambda: (Drift(), limit)), 3, repeat)
    rows = rollout.run(Reluctant(episodes(POLICIES["mlp"])[5:]), EpisodeRules(cap))
    assert rows[:, 2].max() == lengths


def test_without_episodes_there_are_no_rows():
    rollout = EnvRollout(POLICIES["mlp"], SeparateEnvs(drift), 3)
    assert rollout.run(Reluctant([]), EpisodeRules()).shape == (0, 3)
    assert rollout.run(Reluctant([]), EpisodeRules(collect=True)).shape == (0, 10)


@pytest.mark.parametrize(("width", "count", "made"), [(4, 2, 2), (4, 9, 4), (1, 9, 1)])
def test_only_as_many_environments_are_made_as_run_side_by_side(width, count, made):
    rollout = EnvRollout(POLICIES["mlp"], SeparateEnvs(drift), width)
    rollout.run(Reluctant(episodes(POLICIES["mlp"], count)), EpisodeRules())
    assert len(rollout.envs.envs) == made


@pytest.mark.parametrize("env_id", ["CartPole-v1", "FrozenLake-v1"])
def test_discrete_actions_and_observations(env_id):
    env, limit = envs.make(env_id)
    policy = MLP(MLPOptions(hidden=()), env.observation_space, env.action_space)
    rows = np.random.default_rng(1).normal(size=(6, policy.dim)).astype(np.float32)
    todo = [Episode(i, i, i, rows[i]) for i in range(6)]
    batched = EnvRollout(policy, envs.open_batch(env_id), 4).run(Reluctant(todo), EpisodeRules())
    for episode_id, total, length in batched:
        observation, _ = env.reset(seed=int(episode_id))
        rewards, over = [], False
        while not over and len(rewards) < limit:
            act, _ = policy.act(policy.unpack(rows[[int(episode_id)]]), np.array([observation]), None)
            observation, reward, over, _, _ = env.step(int(act[0]))
            rewards.append(float(reward))
        assert (sum(rewards), len(rewards)) == (total, length)


class Faulty(Drift):
    """Answers the third step as it is told to."""

    def __init__(self, answer):
        self.answer, self.steps = answer, 0

    def step(self, action):
        self.steps += 1
        if self.steps > 3:
            return np.zeros(3), 1.0, True, False, {}
        answer = super().step(action)
        return self.answer(answer) if self.steps == 3 else (*answer[:2], False, *answer[3:])


def _exits(answer):
    raise SystemExit(3)


FAULTS = {
    "a return that is no number": (lambda a: (a[0], np.nan, True, *a[3:]), "expected a finite return"),
    "an observation that is none": (lambda a: (a[0] * np.inf, 1.0, False, *a[3:]), "finite observations"),
    "an observation of another shape": (lambda a: (np.zeros(7), *a[1:]), "broadcast"),
    "a reward that is none": (lambda a: (a[0], None, *a[2:]), "float"),
    "too short an answer": (lambda a: a[:3], "unpack"),
    "an exit": (_exits, "SystemExit: 3"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_with_candidate_and_episode(fault):
    answer, complaint = FAULTS[fault]
    rollout = EnvRollout(POLICIES["mlp"], SeparateEnvs(lambda: (Faulty(answer), 6)), 2)
    with pytest.raises(RolloutError, match=rf"candidate 0, episode seed 100, step \d[\s\S]*{complaint}"):
        rollout.run(Reluctant(episodes(POLICIES["mlp"], 1)), EpisodeRules(collect=True))


class Choosy(MLP):
    """Raises for one candidate."""

    def act(self, weights, observations, memory):
        if (weights.chosen == CHOSEN).any():
            raise ValueError("not this one")
        return super().act(weights.all, observations, memory)

    def unpack(self, parameters):
        return SimpleNamespace(chosen=parameters[:, 0], all=super().unpack(parameters))


CHOSEN = np.float32(0.25)


def test_a_policy_that_fails_for_one_candidate_names_it_among_several():
    policy = Choosy(MLPOptions(hidden=(4,)), *SPACES)
    todo = episodes(policy, 8)
    todo[5].parameters[0] = CHOSEN
    rollout = EnvRollout(policy, SeparateEnvs(drift), 8)
    with pytest.raises(RolloutError, match="candidate 2, episode seed 104, step 0: ValueError: not this one"):
        rollout.run(Reluctant(todo), EpisodeRules())


class Counting(Recurrent):
    """Has a weight for each of the nine steps that an episode may have."""

    def act(self, weights, observations, memory):
        assert (memory[:, 0] < 9).all()
        actions, _ = super().act(weights, observations, np.zeros_like(memory))
        return actions, memory + 1


def test_a_policy_is_not_called_for_more_steps_than_an_episode_has():
    policy = Counting(RecurrentOptions("rnn", hidden=(3,)), *SPACES)
    rows = EnvRollout(policy, SeparateEnvs(drift), 8).run(
        Reluctant(episodes(policy, 40)), EpisodeRules(cap=9)
    )
    assert (len(rows), rows[:, 2].max()) == (40, 9)


def test_the_first_call_of_a_policy_has_a_valid_observation():
    spaces = (gym.spaces.Discrete(3, start=5), gym.spaces.Discrete(2))
    policy = MLP(MLPOptions(hidden=(4,)), *spaces)
    batch = SimpleNamespace(
        observation_space=spaces[0],
        action_space=spaces[1],
        limit=0,
        steps_together=False,
        compile=lambda: None,
    )
    EnvRollout(policy, batch, 1).compile()


def test_a_reset_that_fails_is_told():
    class Resets(Drift):
        def reset(self, *, seed=None, options=None):
            raise RuntimeError("no licence")

    rollout = EnvRollout(POLICIES["mlp"], SeparateEnvs(lambda: (Resets(), 0)), 2)
    with pytest.raises(RolloutError, match=r"episode seed 100, step 0: RuntimeError: no licence\n"):
        rollout.run(Reluctant(episodes(POLICIES["mlp"], 1)), EpisodeRules())


def test_a_module_that_draws_depends_on_candidate_and_seed_only():
    from mpi_es.policies.torch_module import ModulePolicy, network_of
    from tests.policies.user_policies import Drawing

    env, _ = envs.make("CartPole-v1")
    network = network_of(Drawing, {}, "Drawing")
    policy = ModulePolicy("Drawing", network, env.observation_space, env.action_space)
    given = [Episode(i, i // 2, i % 2, np.zeros(policy.dim, np.float32)) for i in range(6)]

    def returns(width, todo):
        rollout = EnvRollout(policy, envs.open_batch("CartPole-v1"), width)
        rows = rollout.run(Reluctant(todo), EpisodeRules())
        return dict(rows[:, :2].tolist())

    alone = returns(1, given)
    assert returns(3, given[::-1]) == alone
    assert len(set(alone.values())) > 1


@pytest.mark.parametrize(("make", "cap"), [("make_capped", 0), ("Endless", 5)])
def test_a_held_out_episode_is_cut_only_where_no_limit_ends_it(make, cap):
    environments = SeparateEnvs(lambda: envs.make(f"tests.envs.user_envs:{make}"))
    rollout = EnvRollout(POLICIES["mlp"], environments, 2)
    assert rollout.full_episode_rules(5, None).cap == cap
    assert rollout.full_episode_rules(0, None).cap == (10_000 if cap else 0)
