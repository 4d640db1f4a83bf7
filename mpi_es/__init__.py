"""Evolve neural-network policies over MPI."""

__version__ = "0.1.0"
