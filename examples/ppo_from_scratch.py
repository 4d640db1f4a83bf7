"""PPO on CarRacing in one file of torch, after CleanRL: the vector environment takes and returns arrays.

It needs torch (pip install 'mpi_es[policies]'). From this folder:

    python ppo_from_scratch.py --steps 200000 --cars 8
"""

import argparse
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import mpi_es  # noqa: F401  (registers the environment)

GAMMA, LAMBDA, CLIP, ENTROPY = 0.99, 0.95, 0.2, 0.01
EPOCHS, BATCH = 4, 256


class Agent(nn.Module):
    """A network with two heads: the logits of the actions, and the value."""

    def __init__(self, frames, actions):
        super().__init__()
        layers = [nn.Conv2d(frames, 16, 8, 4), nn.ReLU(), nn.Conv2d(16, 32, 4, 2), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * 4 * 4, 256), nn.ReLU())
        self.actor, self.critic = nn.Linear(256, actions), nn.Linear(256, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)  # nearly the same probability for each action

    def forward(self, seen):
        hidden = self.body(seen.float() / 255)
        return torch.distributions.Categorical(logits=self.actor(hidden)), self.critic(hidden)[:, 0]


def small(pictures):
    """Return stacks of pictures (n, frames, 96, 96, 3) in grey, with half the rows and columns."""
    return torch.from_numpy(pictures[:, :, ::2, ::2].mean(axis=4).astype(np.uint8))


class Rollout:
    """The experience of all cars over some steps."""

    def __init__(self, length, cars, frames):
        self.seen = torch.zeros((length, cars, frames, 48, 48), dtype=torch.uint8)
        self.actions = torch.zeros((length, cars), dtype=torch.int64)
        self.log_probs, self.values, self.rewards, self.begins = torch.zeros((4, length, cars))

    def advantages(self, next_value, next_begins):
        """Return generalised advantage estimates; none reaches across the end of an episode."""
        result, following = torch.zeros_like(self.rewards), torch.zeros_like(next_value)
        for t in reversed(range(len(self.rewards))):
            goes_on = 1 - next_begins
            delta = self.rewards[t] + GAMMA * goes_on * next_value - self.values[t]
            result[t] = following = delta + GAMMA * LAMBDA * goes_on * following
            next_value, next_begins = self.values[t], self.begins[t]
        return result


def update(agent, optimizer, rollout, advantages):
    """Improve the agent by the rollout, in some passes over its steps."""
    targets = (advantages + rollout.values).flatten()
    flat = [rollout.seen.flatten(0, 1), rollout.actions.flatten(), rollout.log_probs.flatten()]
    advantages = advantages.flatten()
    for _ in range(EPOCHS):
        for part in torch.randperm(len(targets)).split(BATCH):
            seen, actions, log_probs = (each[part] for each in flat)
            distribution, values = agent(seen)
            ratio = (distribution.log_prob(actions) - log_probs).exp()
            gain = (advantages[part] - advantages[part].mean()) / (advantages[part].std(correction=0) + 1e-8)
            policy = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            value = 0.5 * (values - targets[part]).square().mean()
            loss = policy + 0.5 * value - ENTROPY * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="actions of all cars together")
    parser.add_argument("--cars", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=256, help="actions of a car between two updates")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    cars = gym.make_vec(
        "mpi_es/CarRacing-v3",
        num_envs=options.cars,
        frame_skip=4,
        frame_stack=4,
        continuous=False,
        autoreset_mode="SameStep",
    )
    agent = Agent(4, int(cars.single_action_space.n))
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
    rollout = Rollout(options.rollout, options.cars, 4)
    seen, begins = small(cars.reset(seed=options.seed)[0]), torch.zeros(options.cars)
    running, finished, start = np.zeros(options.cars), [], time.monotonic()
    for done in range(0, options.steps, options.rollout * options.cars):
        for t in range(options.rollout):
            with torch.no_grad():
                distribution, values = agent(seen)
                actions = distribution.sample()
            rollout.seen[t], rollout.actions[t], rollout.begins[t] = seen, actions, begins
            rollout.log_probs[t], rollout.values[t] = distribution.log_prob(actions), values
            pictures, rewards, terminated, truncated, _ = cars.step(actions.numpy())
            seen, over = small(pictures), terminated | truncated
            begins = torch.from_numpy(over.astype(np.float32))
            rollout.rewards[t] = torch.from_numpy(rewards / 10)  # of a size that suits the value's loss
            running += rewards
            finished += running[over].tolist()
            running[over] = 0
        with torch.no_grad():
            next_value = agent(seen)[1]
        update(agent, optimizer, rollout, rollout.advantages(next_value, begins))
        actions = done + options.rollout * options.cars
        speed = actions / (time.monotonic() - start)
        latest = np.mean(finished[-20:]) if finished else np.nan
        print(
            f"{actions:,} actions, {speed:,.0f} a second, mean of the last 20 returns {latest:.1f}",
            flush=True,
        )
    torch.save(agent.state_dict(), "ppo_car_racing.pt")


if __name__ == "__main__":
    main()
