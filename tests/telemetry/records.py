"""Numbers of a generation, sinks that report them, and what TensorBoard reads."""

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mpi_es.config.run import configured
from mpi_es.run_file.records import HeldOut, Timing, summarize
from mpi_es.telemetry.numbers import of_evaluation, of_generation

FITNESS = np.array([1.0, 2.0, 3.0, 10.0])
TIMING = Timing(0.1, 2.0, 0.3, 0.4, 3.0, 8.0, 100.0, 0.25)


def row(generation=1, shift=0.0, **known):
    return summarize(generation, FITNESS + shift, np.array([[2, 4], [6, 8]]), popsize=4, sigma=0.5, **known)


def held_out(generation=1, returns=(4.0, 6.0)):
    return HeldOut(generation, np.array(returns))


def numbers(generation=1, shift=0.0, config=None, timing=TIMING, held=None, steps=20, **known):
    """Return the numbers of a generation of a run with the default options."""
    return of_generation(config or configured(), row(generation, shift, **known), timing, held, steps)


def evaluation(generation=1, returns=(4.0, 6.0)):
    """Return the numbers of a held-out evaluation."""
    return of_evaluation(configured(), held_out(generation, returns))


def curves(directory):
    accumulator = EventAccumulator(str(directory)).Reload()
    return {
        tag: [(event.step, event.value) for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }


def report(telemetry):
    with telemetry:
        telemetry.start(["a fact"], 0)
        telemetry.generation(numbers(held=held_out()))
        telemetry.finish("reached the end")
