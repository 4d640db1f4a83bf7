"""Compilation with numba: options, caching, and intrinsics."""
