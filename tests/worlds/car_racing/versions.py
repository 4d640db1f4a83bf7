"""Bits are compared only with the versions that our race was written after."""

import sys
from importlib.metadata import version

import pytest

# From Python 3.14 on gymnasium takes Box2D, which is the same, from another package.
BOX2D = {"Box2D": "2.3.10"} if sys.version_info < (3, 14) else {"box2d-py": "2.3.8"}
WRITTEN_AFTER = {"gymnasium": "1.4.0"} | BOX2D


def check_versions() -> None:
    for package, expected in WRITTEN_AFTER.items():
        if version(package) != expected:
            pytest.fail(
                f"{package}: expected {expected}, after which mpi_es/worlds/car_racing was written, got "
                f"{version(package)}: install requirements.lock, or follow the changes"
            )
