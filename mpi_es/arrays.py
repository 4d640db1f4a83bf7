"""The two kinds of arrays in which parameters and returns travel."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Candidate = NDArray[np.float32]  # policies compute in single precision
