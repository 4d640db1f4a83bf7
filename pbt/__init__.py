"""Population-based training over MPI: each generation the weak copy the strong."""
