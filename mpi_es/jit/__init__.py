"""numba as we use it."""
