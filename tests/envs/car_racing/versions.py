"""Bits are compared only with the versions that our race was written after."""

from importlib.metadata import version

import pytest

WRITTEN_AFTER = {"gymnasium": "1.4.0", "Box2D": "2.3.10"}


def check_versions() -> None:
    for package, expected in WRITTEN_AFTER.items():
        if version(package) != expected:
            pytest.fail(
                f"{package}: expected {expected}, after which mpi_es/envs/car_racing was written, got "
                f"{version(package)}: install requirements.lock, or follow the changes"
            )
