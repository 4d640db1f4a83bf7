"""CartPole by gymnax and JAX, for backends.py, which starts this with a Python that has both.

PYTHON gymnax_cartpole.py CANDIDATES.npy

A row of the file has the parameters of an MLP 64-64 in torch's order. For each line of the standard input
all candidates take 200 steps in one compiled call, and a line has the number of steps and the seconds of
CPU time. JAX steps every environment to the end; a new episode begins where one is over.
"""

import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.environ["JAX_PLATFORMS"] = "cpu"

import gymnax
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 200
SHAPES = ((64, 4), (64,), (64, 64), (64,), (2, 64), (2,))


def network(parameters, observation):
    """Return the outputs for one observation."""
    ends = np.cumsum([np.prod(shape) for shape in SHAPES])[:-1]
    w1, b1, w2, b2, w3, b3 = map(jnp.reshape, jnp.split(parameters, ends), SHAPES)
    return w3 @ jnp.tanh(w2 @ jnp.tanh(w1 @ observation + b1) + b2) + b3


def main() -> None:
    candidates = jnp.asarray(np.load(sys.argv[1]))
    env, settings = gymnax.make("CartPole-v1")

    def play(parameters, key):
        """Return the sum of rewards."""

        def step(carry, key):
            observation, state = carry
            action = jnp.argmax(network(parameters, observation))
            observation, state, reward, *_ = env.step(key, state, action, settings)
            return (observation, state), reward

        _, rewards = jax.lax.scan(step, env.reset(key, settings), jax.random.split(key, STEPS))
        return rewards.sum()

    play_all = jax.jit(jax.vmap(play))
    keys = jax.random.split(jax.random.PRNGKey(0), len(candidates))
    for _ in sys.stdin:
        begin = time.process_time()
        play_all(candidates, keys).block_until_ready()
        print(STEPS * len(candidates), time.process_time() - begin, flush=True)


if __name__ == "__main__":
    main()
