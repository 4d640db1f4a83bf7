"""Shares of a vector's environments, each stepped in its own thread without the GIL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np


class Shares:
    """The shares of `count` environments: one per thread, none of them empty."""

    def __init__(self, count: int, threads: int) -> None:
        self.threads = min(threads, count)
        bounds = np.linspace(0, count, self.threads + 1).astype(int).tolist()
        self.parts = [(*share, thread) for thread, share in enumerate(pairwise(bounds))]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has; it starts threads of its own."""
        return {name: value for name, value in self.__dict__.items() if name != "_pool"}

    def run(self, work: Callable[[int, int, int], object]) -> None:
        """Call work(first, last, thread) for each share; return, or raise, when all are done."""
        others = [self._pool.submit(work, *share) for share in self.parts[1:]]
        try:
            work(*self.parts[0])
        finally:
            for other in others:
                other.exception()  # waits
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads; the next run starts others."""
        if pool := self.__dict__.pop("_pool", None):
            pool.shutdown()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads - 1, thread_name_prefix="environments")
