"""Members as a user writes them, and some that fail."""

import os
import signal

import numpy as np

from mpi_es.seeds import Stream
from pbt import Diverged, Hyperparameter, Member, Score


class Walker(Member):
    """A random walk: all its random numbers come from `rng`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.place, self.rate = self.rng().standard_normal(3), 0.0

    @classmethod
    def declared(cls, config):
        return [Hyperparameter("rate", 0.01, 1, "log"), Hyperparameter("kind", choices=(1, 2, 4))]

    @property
    def hyperparameters(self):
        return {"rate": self.rate, "kind": self.kind}

    @hyperparameters.setter
    def hyperparameters(self, values):
        self.rate, self.kind = values["rate"], values["kind"]

    def train(self, steps):
        self.place = self.place + self.rate * self.rng().standard_normal((steps, 3)).sum(axis=0) / self.kind

    def score(self, episode_seeds):
        noise = np.array([np.random.default_rng(seed).standard_normal() for seed in episode_seeds.tolist()])
        # Other numbers than float64 reach the other ranks too.
        return Score((self.place.sum() + noise).astype(np.float32), [10] * len(noise))

    def get_state(self):
        return {"place": self.place}

    def set_state(self, state):
        self.place = state["place"]


class Noisy(Walker):
    """Its score has random numbers of the generation."""

    def score(self, episode_seeds):
        noise = self.rng(Stream.ACTION).standard_normal(len(episode_seeds))
        return Score(self.place.sum() + noise, [10] * len(noise))


class Untyped(Walker):
    @classmethod
    def declared(cls, config):
        return [("rate", 0.01, 1)]


class Undeclared(Walker):
    @classmethod
    def declared(cls, config):
        return None


class Undeclaring(Walker):
    @classmethod
    def declared(cls, config):
        raise ValueError("no rate")


class Uninitial(Walker):
    def initial(self, space):
        return {}


class Bare(Walker):
    def score(self, episode_seeds):
        return -1.0


class Raising(Walker):
    def train(self, steps):
        if self.index == 3 and self.generation == 2:
            raise ValueError("the simulator broke")


class Diverging(Walker):
    def train(self, steps):
        super().train(steps)
        if self.index == 1 and self.generation == 2:
            raise Diverged


class AllDiverging(Walker):
    def train(self, steps):
        raise Diverged


class Slashing(Walker):
    def get_state(self):
        return {"net/place": self.place}


class Short(Walker):
    def score(self, episode_seeds):
        return Score(np.zeros(1), np.zeros(1))


class Unmade(Walker):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        raise OSError("no simulator")


class Leaving(Walker):
    def train(self, steps):
        self.rate *= 1e9


class Forgetting(Walker):
    """Keeps the rate that it is told, and trains with another."""

    def train(self, steps):
        self.used = 0.5

    def in_effect(self):
        return {"rate": self.used, "kind": self.kind}


class Silent(Walker):
    def in_effect(self):
        return {"rate": self.rate}


class Dying(Walker):
    def train(self, steps):
        if self.index == 1 and self.generation == 3:
            os.kill(os.getpid(), signal.SIGKILL)


class Stuck(Walker):
    def close(self):
        raise OSError("stuck")


class Unbounded(Walker):
    """Scores without a bound, once in training and always in the held-out evaluation."""

    def score(self, episode_seeds):
        known = super().score(episode_seeds)
        if self.index == 1 and self.generation == 2:
            known.returns[0] = -np.inf
        return known

    def evaluate(self, episode_seeds):
        known = super().score(episode_seeds)
        known.returns[0] = np.nan
        return known


class Together(Forgetting):
    """Forgets on the first rank of several that score it together."""

    collective = True

    def score(self, episode_seeds):
        self.comm.Barrier()
        return super().score(episode_seeds)
