"""Bare files of agents, and reading them as the option --from-pretrained does."""

import numpy as np

from mpi_es.agents import load as pretrained
from mpi_es.config.run import configured

USER = configured(policy="tests.policies.user_policies:Remembering")  # on CartPole
DIM = 4 * 7 * (4 + 7 + 1 + 1) + 16


def file_of(path, **arrays):
    np.savez(path / "agent.npz", **arrays)
    return str(path / "agent.npz")


def numbers(count=DIM):
    return np.random.default_rng(0).standard_normal(count, np.float32)


def load(name, config=USER):
    return pretrained.load(name, config, "--from-pretrained")
