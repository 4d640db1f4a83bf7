"""The checks of `mpi_es.doctor`."""
