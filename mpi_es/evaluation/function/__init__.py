"""Calls of the function that a run optimises."""
