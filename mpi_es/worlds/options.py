"""Checks of a world's options. An error names the keyword."""

from mpi_es.errors import expected


def flag(name: str, value: object) -> bool:
    """Return an option that is True or False."""
    if not isinstance(value, bool):
        raise expected(name, "True or False", value)
    return value


def number(name: str, value: object) -> float:
    """Return an option that is a number."""
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise expected(name, "a number", value)
    return float(value)
