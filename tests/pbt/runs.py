"""Populations in one process, without files, and what of a file must be the same whoever ran it."""

from mpi_es.parallel.collectives import SerialComm
from mpi_es.run_file import checkpoint
from pbt.config import Config
from pbt.lineage import Lineage
from pbt.members import space
from pbt.population.population import Population
from pbt.run import Run

WALKERS = "tests.pbt.user_members:"


class MemoryRecord:
    """A record that writes no file."""

    def __init__(self, names):
        self.lineage, self.saves, self.shown = Lineage(names), [], []

    def generation(self, done, seconds, winner):
        self.lineage.generations.append(done)
        if winner:
            self.add_evaluation(winner)
        return "", True

    def add_last_evaluation(self, winner):
        self.add_evaluation(winner)
        self.shown.append(winner.held_out.generation)

    def add_evaluation(self, winner):
        self.lineage.evaluations.append((winner.member, winner.held_out))

    def save(self, generation, states, values, reason, *, finished, begin):
        self.saves.append(generation)

    def finish(self, generation, reason, *, finished, was_over):
        self.reason = reason


def begun(config: Config) -> Run:
    """Return a run before its first generation."""
    population = Population(config, space(config), SerialComm())
    new = Run(population, population.initial(), 0, MemoryRecord(population.names))
    population.apply(new.hyperparameters)
    return new


def run(config: Config) -> Run:
    """Return a run that was led to its end."""
    done = begun(config)
    done.evolve()
    return done


def exact(directory):
    """Return all of a run's file that must not depend on who ran it."""
    content, warning = checkpoint.load(directory)
    assert warning == ""
    names = ("hyperparameters", "members", "progress", "history", "evaluations", "best")
    return {name: content[name] for name in names}
