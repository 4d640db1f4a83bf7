import numpy as np

from mpi_es.envs.car_racing import cars, simulation


def picture(seed, steps):
    """Return the picture of a race alone."""
    race = simulation.allocate()
    simulation.begin_streams(race, seed)
    simulation.proceed(race, False)
    for _ in range(steps):
        simulation.drive(race, 0.1, 0.2, 0.0)
    return race.picture


def test_each_car_begins_drives_or_waits_as_ordered_and_only_those_of_the_share():
    several = cars.allocate(simulation.allocate(), 4, 1, 1, False)
    observations, rules = np.zeros((4, 1, 96, 96, 3), np.uint8), cars.Rules(2, 0, False, False)
    several.order[:], several.seeds[:], several.actions[:] = cars.BEGIN, [1, 2, 3, 4], (0.1, 0.2, 0.0)
    cars.advance(several, rules, observations, 0, 3, 0)
    several.order[:] = [cars.DRIVE, cars.WAIT, cars.WAIT, cars.DRIVE]
    cars.advance(several, rules, observations, 0, 3, 0)
    expected = [picture(1, 2), picture(2, 0), picture(3, 0), np.zeros((96, 96, 3))]
    np.testing.assert_array_equal(observations[:, 0], expected)
