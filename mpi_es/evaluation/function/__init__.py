"""Calls of a function that is optimised."""
