"""Tests of the physics share gymnasium's environment, of the version that ours was written after."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.worlds.car_racing.physics.lockstep import without_picture
from tests.worlds.car_racing.reference import reference
from tests.worlds.car_racing.versions import check_versions


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    check_versions()
    env = without_picture(reference())
    yield env
    env.close()
