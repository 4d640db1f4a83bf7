"""A compiled attention agent, and pictures of many and of few kinds of patches."""

import numpy as np
from gymnasium import spaces

from mpi_es.policies.attention_compiled.policy import AttentionPolicy
from mpi_es.policies.options import AttentionOptions

WHEEL = spaces.Box(np.array([-1, 0, 0], np.float32), np.ones(3, np.float32))  # CarRacing's actions
NOISE = np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8)
FLAT = np.full((96, 96, 3), 102, np.uint8)
RAMP = np.repeat(np.arange(96, dtype=np.uint8)[None, :, None], 96, 0).repeat(3, 2)  # equal down each column


def policy(hidden=16, **options):
    return AttentionPolicy(AttentionOptions(hidden=(hidden,), **options), 96, WHEEL)


def look(ours, vector, frame):
    """Return importance and chosen patches of one frame."""
    ours.outputs(ours.unpack(vector[None]), frame[None], ours.initial_memory(1))
    return ours.scratch.importance.copy(), ours.scratch.chosen.copy()
