"""Evolve the parameters of a small torch model: it learns a sine without a gradient.

It needs torch (pip install 'mpi_es[policies]'). From this folder, in one process or on all ranks of a job:

    python torch_function.py
    mpiexec -n 2 python torch_function.py
"""

import math

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

import mpi_es

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)).double()
inputs = torch.linspace(-math.pi, math.pi, 64, dtype=torch.float64)[:, None]
targets = torch.sin(inputs)


@torch.no_grad()
def loss(x):
    """Return the mean squared error of the model with these parameters."""
    vector_to_parameters(torch.from_numpy(x), model.parameters())
    return nn.functional.mse_loss(model(inputs), targets)


def main():
    result = mpi_es.evolve(
        loss,
        parameters_to_vector(model.parameters()),
        sigma=0.3,
        minimise=True,
        population_size=16,
        max_iter=300,
        goal=0.001,
        console="silent",
    )
    vector_to_parameters(torch.from_numpy(result.x), model.parameters())  # the best that was found
    if mpi_es.rank() == 0:
        print(f"loss {result.value:.5f} after {result.evaluations} evaluations: {result.reason}")
        print(f"sin(1) is {math.sin(1):.3f}, the model says {model(torch.ones(1).double()).item():.3f}")


if __name__ == "__main__":
    main()
