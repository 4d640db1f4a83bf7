"""The files of small real runs, made once."""

import pytest

from tests.run_file import bases


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Return a function that returns the bytes of the run file of a base."""
    place, made = tmp_path_factory.mktemp("bases"), {}

    def image(name: str) -> bytes:
        if name not in made:
            made[name] = (bases.make(name, place) / "run.h5").read_bytes()
        return made[name]

    return image
