"""Episodes handed out as ranks come free: rank 0 answers requests, the other ranks make them.

What an episode returns does not depend on who plays it, or when.
"""

import threading
import time
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.arrays import Candidate
from mpi_es.evaluation.header import Header, Units, Work
from mpi_es.evaluation.rollout import Episode
from mpi_es.evaluation.sources import Lookup
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.stop_signal import StopFlag, Stopped
from mpi_es.parallel.waiting import wait

REQUEST, WORK, ROWS = 1, 2, 3  # tags
MORE, LEAVE = 1, 0  # the word of a request
_PROBES = 3  # MPICH's second finds what is there; one more for other libraries
_LONG_STEP = 5e-3  # seconds: below it requests wait for the step, above it a thread answers them


class Schedule:
    """The order in which units go out; it changes no result.

    How long an episode takes is not known beforehand, but a candidate that lasted in one tends to last in
    the next. So each candidate gets a first episode, and then the candidates with the longest episodes come
    first: what goes out last, when other ranks have nothing left to do, is short.
    """

    def __init__(self, header: Header, units: Units) -> None:
        self.candidate = header.candidate
        self.left = len(units)
        candidates = header.candidate(int(units[:, 0].max(initial=-1))) + 1
        self.waiting: list[deque[tuple[int, int]]] = [deque() for _ in range(candidates)]
        for unit, seed in units.tolist():
            self.waiting[header.candidate(unit)].append((unit, seed))
        self.over = np.zeros(candidates, np.int64)
        self.steps = np.zeros(candidates)  # mean length of the episodes that are over
        # In steps; infinite before the first episode, minus infinite when none waits.
        self.urgency = np.where([bool(queue) for queue in self.waiting], np.inf, -np.inf)

    def next(self) -> tuple[int, int]:
        """Return the unit that goes out next, with its episode seed."""
        candidate = int(np.argmax(self.urgency))
        unit = self.waiting[candidate].popleft()
        self.left -= 1
        self._rank(candidate)
        return unit

    def note(self, unit: int, length: int) -> None:
        """Learn how many steps an episode took."""
        candidate = self.candidate(unit)
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
        self.threads = MPI.Query_thread() >= MPI.THREAD_SERIALIZED

    def Test(self) -> bool:  # noqa: N802  (mpi4py's name)
        # A probe may look before it fetches: where several messages lie waiting, one that follows a receive
        # says no, and rank 0 would answer one rank at a poll.
        return any(self.comm.Iprobe(tag=REQUEST, status=self.status) for _ in range(_PROBES))

    def receive(self, message: NDArray[np.int64]) -> None:
        """Receive what was found."""
        # Not from any source: over a network, MPICH 5.0.2 forgets such a receive, and it never returns.
        self.comm.Recv(message, source=self.status.source, tag=REQUEST)


class DynamicRoot:
    """Rank 0's side: hands out units, to itself too, and answers requests between two steps.

    Where a step lasts longer than a request should wait, a thread answers.
    """

    def __init__(self, comm: Comm, header: Header, work: Work, lookup: Lookup, stop: StopFlag) -> None:
        self.comm, self.header, self.lookup, self.stop = comm, header, lookup, stop
        self.schedule, self.progress = Schedule(header, work.units), work.progress
        total = header.candidates * header.episodes
        self.progress.begin(total, total - header.unplayed, held_out=header.terms.held_out, share=False)
        self.working = comm.size - 1  # ranks that have not left
        self.sent: list[tuple[Any, Any]] = []  # requests, with the buffers that must live as long
        self.request = _Request(comm)
        self.waited = 0.0
        self._lock = threading.Lock()
        self._polled = time.monotonic()
        self._halted = threading.Event()
        self._error: BaseException | None = None  # that the thread met
        self._thread = threading.Thread(target=self._answer_in_long_steps, daemon=True)
        if self.request.threads:
            self._thread.start()

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        with self._lock:
            if not self.schedule.left:
                return None
            unit, seed = self.schedule.next()
        candidate = self.header.candidate(unit)
        return Episode(unit, candidate, seed, self.lookup(candidate))

    def done(self, unit: int, length: int) -> None:
        """Note an episode that is over."""
        with self._lock:
            self.schedule.note(unit, length)
            self.progress.add()

    def poll(self) -> None:
        """Answer the requests that have come; raise Stopped where a signal came."""
        with self._lock:
            if self._error:
                raise self._error
            self._answer_all()
            self._polled = time.monotonic()
        if self.stop:
            raise Stopped

    def close(self, *, complete: bool) -> None:
        """Serve until every rank has left.

        Args:
            complete: all of this rank's episodes are over; else no more are handed out to any rank.
        """
        self.halt()
        if self._error:
            raise self._error
        if not complete:
            self.schedule.left = 0
        while self.working:
            self.waited += wait(self.request)
            self._answer()
        for request, _ in self.sent:
            self.waited += wait(request)

    def halt(self) -> None:
        """End the thread."""
        self._halted.set()
        if self._thread.is_alive():
            self._thread.join()

    def _answer_in_long_steps(self) -> None:
        """Answer requests while the main thread has not polled for a while."""
        while not self._halted.wait(_LONG_STEP):
            with self._lock:
                if time.monotonic() - self._polled < _LONG_STEP:
                    continue
                try:
                    self._answer_all()
                except BaseException as error:  # the main thread raises it at its next poll
                    self._error = error
                    return

    def _answer_all(self) -> None:
        while self.working and self.request.Test():
            self._answer()

    def _answer(self) -> None:
        """Send units to the rank whose request is next; one that leaves gets no answer."""
        width = self.header.episodes_side_by_side
        message = np.empty(3 + 2 * width, np.int64)
        self.request.receive(message)
        rank, word, over = message[:3].tolist()
        for unit, length in message[3 : 3 + 2 * over].reshape(-1, 2).tolist():
            self.schedule.note(unit, length)
        if over:
            self.progress.add(over)
        left = self.schedule.left
        # Many at first, one at a time in the end: the last to come should find all others still busy.
        count = min(left, width, max(1, left // (4 * self.comm.size)))
        if word == LEAVE or count == 0:
            self.working -= 1
        if word == LEAVE:  # before the end: it failed or was stopped, and the evaluation with it
            self.schedule.left = 0
            return
        units = np.array([self.schedule.next() for _ in range(count)], np.int64).reshape(-1, 2)
        plenty = left > 4 * self.comm.size
        self._send(np.concatenate([[count, plenty], units.ravel()]), rank, WORK)
        if self.header.keys is None and count:
            candidates = _distinct(self.header, units[:, 0].tolist())
            self._send(np.stack([self.lookup(candidate) for candidate in candidates]), rank, ROWS)

    def _send(self, array: NDArray[Any], rank: int, tag: int) -> None:
        self.sent = [pair for pair in self.sent if not pair[0].Test()]
        self.sent.append((self.comm.Isend(array, dest=rank, tag=tag), array))


class DynamicWorker:
    """The other ranks' side: asks rank 0 when its own queue is empty.

    Args:
        lookup: None where rank 0 sends the candidates.
    """

    def __init__(self, comm: Comm, header: Header, dim: int, lookup: Lookup | None, stop: StopFlag) -> None:
        self.comm, self.header, self.lookup, self.stop = comm, header, lookup, stop
        width = header.episodes_side_by_side
        self.rows = np.empty((0 if lookup else width, dim), header.precision)
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
        """Raise Stopped where a signal came."""
        if self.stop:
            raise Stopped

    def close(self, *, complete: bool) -> None:
        """Tell rank 0, which would wait otherwise, that this rank asks for nothing more."""
        if self.pending is not None:
            self._receive(block=True)
        if not self.over:
            self._request(LEAVE)
            self.over = True

    def halt(self) -> None:
        """Do nothing: there is no thread."""

    def _request(self, word: int) -> None:
        over = self.over_since[: 2 * self.header.episodes_side_by_side]
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
        units = self.work[2 : 2 + 2 * count].reshape(-1, 2).tolist()
        lookup = self.lookup or self._received([unit for unit, _ in units])
        for unit, seed in units:
            candidate = self.header.candidate(unit)
            self.queue.append(Episode(unit, candidate, seed, lookup(candidate)))

    def _received(self, units: list[int]) -> Lookup:
        """Return how to look up the candidates of the units, which rank 0 has sent."""
        candidates = _distinct(self.header, units)
        if candidates:
            self.waited += wait(self.comm.Irecv(self.rows[: len(candidates)], source=0, tag=ROWS))
        rows: dict[int, Candidate] = dict(zip(candidates, self.rows[: len(candidates)].copy(), strict=True))
        return rows.__getitem__


def _distinct(header: Header, units: list[int]) -> list[int]:
    """Return the candidates of some units, each once: in this order they travel."""
    return [*dict.fromkeys(map(header.candidate, units))]


def dynamic_source(
    comm: Comm, header: Header, work: Work | None, dim: int, lookup: Lookup | None, stop: StopFlag
) -> DynamicRoot | DynamicWorker:
    """Return what hands out the episodes on rank 0, and what asks for them elsewhere."""
    if work is None:
        return DynamicWorker(comm, header, dim, lookup, stop)
    assert lookup is not None, "rank 0 has the population"
    return DynamicRoot(comm, header, work, lookup, stop)
