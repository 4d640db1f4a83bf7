"""A run on disk: run.h5, and what is in it."""
