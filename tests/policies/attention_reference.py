"""The attention agent written out in double precision, real frames, and the published weights."""

import os
from functools import cache
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from tests.worlds.car_racing.reference import drive

SHARED = Path(os.environ.get("MPI_ES_SHARED", Path(__file__).parents[3] / "shared"))
PUBLISHED = SHARED / "data" / "attention_agent_original.npz"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason=f"{PUBLISHED} is not ours to ship")


def published():
    """Return the paper's weights (3667,) in torch's order."""
    return np.load(PUBLISHED)["params"].astype(np.float32)


@cache
def frames(count=40, every=5, style="noisy"):
    """Return pictures (count, 96, 96, 3) of a drive in gymnasium's CarRacing, from its start on."""
    env = gym.make("CarRacing-v3")
    pictures = [env.reset(seed=1)[0]]
    actions = drive(style, env.unwrapped, seed=1)
    while len(pictures) < count:
        for _ in range(every):
            picture = env.step(next(actions))[0]
        pictures.append(picture)
    return np.stack(pictures)


def importance(frame, wq, bq, wk, bk):
    """Return the column sums (patches,) of the attention of one frame."""
    n = (len(frame) - 7) // 4 + 1
    corners = [(4 * i, 4 * j) for i in range(n) for j in range(n)]
    patches = np.array([frame[r : r + 7, c : c + 7].ravel() for r, c in corners]) / 255
    scores = (patches @ wq.T + bq) @ (patches @ wk.T + bk).T / np.sqrt(147)
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    return (exponentials / exponentials.sum(1, keepdims=True)).sum(0)


def features(frame, parameters, d=4):
    """Return the centres (20,) of the ten most important patches, as shares of the picture."""
    wq, bq, wk, bk = np.split(parameters.astype(np.float64), np.cumsum([147 * d, d, 147 * d]))[:4]
    total = importance(frame, wq.reshape(d, 147), bq, wk.reshape(d, 147), bk[:d])
    chosen = np.argsort(-total, kind="stable")[:10]
    n = (len(frame) - 7) // 4 + 1
    return np.stack([3 + 4 * (chosen // n), 3 + 4 * (chosen % n)], 1).ravel() / len(frame)


def lstm_step(x, h, c, parameters):
    """Return outputs (3,), h and c (16,) of the paper's controller, of its 2483 parameters."""
    shapes = [(64, 20), (64, 16), (64,), (64,), (3, 16), (3,)]
    parts = np.split(parameters.astype(np.float64), np.cumsum([np.prod(s) for s in shapes])[:-1])
    wi, wh, bi, bh, fc, fc_bias = (part.reshape(s) for part, s in zip(parts, shapes, strict=True))
    i, f, g, o = np.split(wi @ x + bi + wh @ h + bh, 4)
    c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
    h = np.tanh(c) / (1 + np.exp(-o))
    return np.tanh(fc @ h + fc_bias), h, c
