"""Who evaluates what: a share given beforehand, or episodes handed out as ranks come free.

Either way a rank's rollout takes episodes from a source; what an episode returns does not depend on it.
"""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.evaluation.rollout import Episode
from mpi_es.evaluation.sources import Lookup, Units
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.parallel.waiting import wait

REQUEST, WORK, ROWS = 1, 2, 3  # tags
MORE, LEAVE = 1, 0  # what a request says
_PROBES = 3  # MPICH's second finds what is there; one more for other libraries


class Schedule:
    """The order in which units go out; it changes no result.

    How long an episode takes is not known beforehand, but a candidate that lasted in one tends to last in
    the next. So each gets a first episode, and then come the candidates with the longest: what goes out
    last, when other ranks have nothing left to do, is short.
    """

    def __init__(self, units: Units, episodes: int) -> None:
        self.episodes = episodes
        self.left = len(units)
        candidates = int(units.max(initial=-1)) // episodes + 1
        self.waiting: list[deque[int]] = [deque() for _ in range(candidates)]  # units of each candidate
        for unit in units.tolist():
            self.waiting[unit // episodes].append(unit)
        self.over = np.zeros(candidates, np.int64)
        self.steps = np.zeros(candidates)  # of an episode, the mean of those that are over
        # In steps; infinite before the first episode, minus that when none waits.
        self.urgency = np.where([bool(queue) for queue in self.waiting], np.inf, -np.inf)

    def next(self) -> int:
        """Return the unit that goes out next."""
        candidate = int(np.argmax(self.urgency))
        unit = self.waiting[candidate].popleft()
        self.left -= 1
        self._rank(candidate)
        return unit

    def note(self, unit: int, length: int) -> None:
        """Learn how many steps an episode took."""
        candidate = unit // self.episodes
        self.over[candidate] += 1
        self.steps[candidate] += (length - self.steps[candidate]) / self.over[candidate]
        self._rank(candidate)

    def _rank(self, candidate: int) -> None:
        more = bool(self.waiting[candidate])
        self.urgency[candidate] = self.steps[candidate] if more else -np.inf


class _Request:
    """A worker's request that is still to come, as something to wait for."""

    def __init__(self, comm: Comm) -> None:
        from mpi4py import MPI  # there are workers, so this runs under MPI

        self.comm = comm
        self.status = MPI.Status()

    def Test(self) -> bool:  # noqa: N802  (mpi4py's name)
        # A probe may look before it fetches: where several messages lie waiting, one that follows a receive
        # says no, and rank 0 would answer one rank at a poll.
        return any(self.comm.Iprobe(tag=REQUEST, status=self.status) for _ in range(_PROBES))

    def receive(self, message: NDArray[np.int64]) -> None:
        """Receive what was found."""
        # Not from any source: over a network, MPICH 5.0.2 forgets such a receive, and it never returns.
        self.comm.Recv(message, source=self.status.source, tag=REQUEST)


class DynamicRoot:
    """Rank 0's side: hands out units, to itself too, and answers requests between two steps."""

    def __init__(
        self,
        comm: Comm,
        units: Units,
        seeds: Units,
        width: int,
        lookup: Lookup,
        stop: StopFlag,
        *,
        send_rows: bool,
    ) -> None:
        self.comm, self.seeds, self.width = comm, seeds.ravel(), width
        self.lookup, self.stop, self.send_rows = lookup, stop, send_rows
        self.schedule = Schedule(units, seeds.shape[1])
        self.working = comm.size - 1  # ranks that have not left
        self.sent: list[tuple[Any, Any]] = []  # requests, with the buffers that must live as long
        self.request = _Request(comm)
        self.waited = 0.0

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        return self._next() if self.schedule.left else None

    def _next(self) -> Episode:
        unit = self.schedule.next()
        candidate = unit // self.schedule.episodes
        return Episode(unit, candidate, int(self.seeds[unit]), self.lookup(candidate))

    def done(self, unit: int, length: int) -> None:
        """Note an episode that is over."""
        self.schedule.note(unit, length)

    def poll(self) -> None:
        """Answer the requests that have come; give up where a signal came."""
        while self.working and self.request.Test():
            self._answer()
        if self.stop:
            raise Stopped

    def finish(self, *, abandon: bool) -> None:
        """Serve until every rank has left; to `abandon` is to hand out nothing more."""
        if abandon:
            self.schedule.left = 0
        while self.working:
            self.waited += wait(self.request)
            self._answer()
        for request, _ in self.sent:
            self.waited += wait(request)

    def _answer(self) -> None:
        """Send units to the rank whose request is next; one that leaves gets no answer."""
        message = np.empty(3 + 2 * self.width, np.int64)
        self.request.receive(message)
        rank, word, over = message[:3].tolist()
        for unit, length in message[3 : 3 + 2 * over].reshape(-1, 2).tolist():
            self.schedule.note(unit, length)
        left = self.schedule.left
        # Many at first, one at a time in the end: the last to come should find all others still busy.
        count = min(left, self.width, max(1, left // (4 * self.comm.size)))
        if word == LEAVE or count == 0:
            self.working -= 1
        if word == LEAVE:  # before the end: it failed or was stopped, and the evaluation with it
            self.schedule.left = 0
            return
        chunk = [self._next() for _ in range(count)]
        plenty = left > 4 * self.comm.size
        work = np.array([count, plenty, *(e.unit for e in chunk), *(e.seed for e in chunk)], np.int64)
        self._send(work, rank, WORK)
        if self.send_rows and count:
            self._send(np.stack([e.parameters for e in chunk]), rank, ROWS)

    def _send(self, array: NDArray[Any], rank: int, tag: int) -> None:
        self.sent = [pair for pair in self.sent if not pair[0].Test()]
        self.sent.append((self.comm.Isend(array, dest=rank, tag=tag), array))


class DynamicWorker:
    """The other ranks' side: asks rank 0 when its own queue is empty."""

    def __init__(
        self, comm: Comm, episodes: int, width: int, dim: int, lookup: Lookup | None, stop: StopFlag
    ) -> None:
        self.comm, self.episodes, self.width = comm, episodes, width
        self.lookup, self.stop = lookup, stop
        self.rows = np.empty((0 if lookup else width, dim), np.float32)
        self.work = np.zeros(2 + 2 * width, np.int64)
        self.queue: deque[Episode] = deque()
        self.over_since: list[int] = []  # unit, length and so on, of episodes that rank 0 does not know of
        self.pending: Any = None  # the answer to a request under way
        self.over = self.plenty = False
        self.waited = 0.0

    def take(self, block: bool) -> Episode | None:
        """Return an episode of the queue, which is filled by asking."""
        if not self.queue and not self.over:
            self._receive(block)
        episode = self.queue.popleft() if self.queue else None
        # Asked for early, the next units are there when these are done. Not so in the end, when a unit in
        # the queue of a rank that is busy would be missing to one that is not.
        if self.plenty and not self.queue and self.pending is None:
            self._ask()
        return episode

    def done(self, unit: int, length: int) -> None:
        """Note an episode that is over, for the next request."""
        self.over_since += (unit, length)

    def poll(self) -> None:
        """Give up where a signal came."""
        if self.stop:
            raise Stopped

    def leave(self) -> None:
        """Tell rank 0, which would wait otherwise, that this rank asks for nothing more."""
        if self.pending is not None:
            self._receive(block=True)
        if not self.over:
            self._request(LEAVE)
            self.over = True

    def _request(self, word: int) -> None:
        over = self.over_since[: 2 * self.width]
        message = np.array([self.comm.rank, word, len(over) // 2, *over], np.int64)
        wait(self.comm.Isend(message, dest=0, tag=REQUEST))
        del self.over_since[: len(over)]

    def _ask(self) -> None:
        self.pending = self.comm.Irecv(self.work, source=0, tag=WORK)
        self._request(MORE)

    def _receive(self, block: bool) -> None:
        """Fill the queue from rank 0's answer, if it has come or `block`."""
        if self.pending is None:
            self._ask()
        if not block and not self.pending.Test():
            return
        self.waited += wait(self.pending)
        self.pending = None
        count, plenty = self.work[:2].tolist()
        self.over, self.plenty = count == 0, bool(plenty)
        units, seeds = self.work[2 : 2 + 2 * count].reshape(2, count).tolist()
        for unit, seed, row in zip(units, seeds, self._receive_rows(units), strict=True):
            self.queue.append(Episode(unit, unit // self.episodes, seed, row))

    def _receive_rows(self, units: list[int]) -> list[Candidate]:
        if self.lookup:
            return [self.lookup(unit // self.episodes) for unit in units]
        if units:
            self.waited += wait(self.comm.Irecv(self.rows[: len(units)], source=0, tag=ROWS))
        return [row.copy() for row in self.rows[: len(units)]]
