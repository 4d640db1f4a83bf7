"""Episodes handed out as ranks become free: rank 0 answers requests, the other ranks make them.

The return of an episode does not depend on the rank that plays it, or on when it does.
"""

import threading
import time
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpi_es.errors import OutOfStep, UserError, one_line
from mpi_es.evaluation.messages import EpisodeIds, Header
from mpi_es.evaluation.rollout import Episode, Lookup, Source
from mpi_es.evaluation.schedule import Schedule, are_plenty, at_once, first_shares
from mpi_es.evaluation.sources import scatter_episodes
from mpi_es.parallel.collectives import Comm
from mpi_es.parallel.stop_signal import StopFlag
from mpi_es.parallel.waiting import wait
from mpi_es.run_file.records import EvaluationProgress

REQUEST, WORK = 1, 2  # tags
MORE, LEAVE = 1, 0  # the word of a request
_PROBES = 3  # MPICH finds a waiting message by the second; one more for other libraries
_LONG_STEP = 5e-3  # seconds: below it requests wait for the step, above it a thread answers them


class _Request:
    """The next request of a worker, as an object that can be waited for."""

    def __init__(self, comm: Comm) -> None:
        from mpi4py import MPI  # there are workers, so this runs under MPI

        self.comm = comm
        self.status = MPI.Status()
        self.threads = MPI.Query_thread() >= MPI.THREAD_SERIALIZED

    def Test(self) -> bool:  # noqa: N802  (mpi4py's name)
        # Right after a receive a probe may find nothing although messages wait; with one probe rank 0 would
        # answer one rank per poll.
        return any(self.comm.Iprobe(tag=REQUEST, status=self.status) for _ in range(_PROBES))

    def receive(self, message: NDArray[np.int64]) -> None:
        """Receive the request that was found."""
        # Not from ANY_SOURCE: over a network, MPICH 5.0.2 loses such a receive, which then never returns.
        self.comm.Recv(message, source=self.status.source, tag=REQUEST)


class _Answers:
    """The format of rank 0's messages: the episodes, then at a fixed offset the rows of their candidates.

    Args:
        dim: 0 if candidates are not sent.
    """

    def __init__(self, header: Header, dim: int) -> None:
        self.header, self.dim, self.width = header, dim, header.episodes_at_once
        self.precision = np.dtype(header.precision)
        self.head = 8 * (2 + self.width)  # bytes

    def buffer(self) -> NDArray[np.uint8]:
        """Return room for a message."""
        return np.empty(self.head + self.width * self.dim * self.precision.itemsize, np.uint8)

    def pack(
        self, buffer: NDArray[np.uint8], episode_ids: list[int], plenty: bool, lookup: Lookup
    ) -> NDArray[np.uint8]:
        """Write the message into a buffer; return the part of the buffer that holds it."""
        words = buffer[: self.head].view(np.int64)
        words[:2] = len(episode_ids), plenty
        words[2 : 2 + len(episode_ids)] = episode_ids
        if not self.dim:
            return buffer[: self.head]
        candidates = self._distinct(episode_ids)
        end = self.head + len(candidates) * self.dim * self.precision.itemsize
        rows = buffer[self.head : end].view(self.precision).reshape(-1, self.dim)
        for row, candidate in zip(rows, candidates, strict=True):
            row[:] = lookup(candidate)
        return buffer[:end]

    def unpack(self, buffer: NDArray[np.uint8]) -> tuple[list[int], bool, Lookup | None]:
        """Return episodes, whether plenty remain, and the lookup of the candidates that came with them."""
        words = buffer[: self.head].view(np.int64).tolist()
        episode_ids, plenty = words[2 : 2 + words[0]], bool(words[1])
        if not self.dim:
            return episode_ids, plenty, None
        candidates = self._distinct(episode_ids)
        rows = buffer[self.head :].view(self.precision).reshape(-1, self.dim)[: len(candidates)].copy()
        return episode_ids, plenty, dict(zip(candidates, rows, strict=True)).__getitem__

    def _distinct(self, episode_ids: list[int]) -> list[int]:
        """Return the candidates of these episodes, each once, in the order in which they are sent."""
        return [*dict.fromkeys(map(self.header.candidate, episode_ids))]


class DynamicRoot(Source):
    """Rank 0's side: hands out episodes, also to itself, and answers requests between steps.

    If a step takes longer than a request should wait, a thread answers.
    """

    def __init__(
        self,
        comm: Comm,
        header: Header,
        dim: int,
        lookup: Lookup,
        schedule: Schedule,
        progress: EvaluationProgress,
        stop: StopFlag,
    ) -> None:
        self.comm, self.header, self.lookup, self.stop = comm, header, lookup, stop
        self.schedule, self.progress = schedule, progress
        total = header.seeds.size
        progress.begin(total, total - header.unplayed, held_out=header.rules.held_out, share=False)
        self.working = comm.size - 1  # ranks that have not left
        self.answers = _Answers(header, 0 if header.keys is not None else dim)
        self.free: list[NDArray[np.uint8]] = []  # buffers of answers
        self.sent: list[tuple[Any, NDArray[np.uint8]]] = []  # each with its buffer, which must live as long
        self.request = _Request(comm)
        self.message = np.empty(3 + 2 * header.episodes_at_once, np.int64)
        self._lock = threading.Lock()
        self._polled = time.monotonic()
        self._halted = threading.Event()
        self._error: BaseException | None = None  # that the thread raised
        self._thread = threading.Thread(target=self._answer_in_long_steps, daemon=True)
        if self.request.threads:
            self._thread.start()

    def take(self, block: bool) -> Episode | None:
        """Return the next episode."""
        with self._lock:
            if not self.schedule.left:
                return None
            episode_id = self.schedule.next()
        return self.header.episode(episode_id, self.lookup)

    def done(self, episode_id: int, length: int) -> None:
        """Note an episode that is over."""
        with self._lock:
            self.schedule.note(episode_id, length)
            self.progress.add()

    def poll(self) -> None:
        """Answer the requests that have come."""
        with self._lock:
            if self._error:
                raise self._error
            self._answer_all()
            self._polled = time.monotonic()
        super().poll()

    def close(self, *, complete: bool) -> None:
        """Serve until every rank has left; if this rank's part is not complete, hand out no more episodes."""
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
        """End the answering thread."""
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
                    # A UserError would end the others' `serve`, but a request may be without an answer.
                    self._error = OutOfStep(one_line(error)) if isinstance(error, UserError) else error
                    return

    def _answer_all(self) -> None:
        while self.working and self.request.Test():
            self._answer()

    def _answer(self) -> None:
        """Answer the next request with episodes; a rank that leaves gets no answer."""
        self.request.receive(self.message)
        rank, word, over, *notes = self.message.tolist()
        for place in range(0, 2 * over, 2):
            self.schedule.note(notes[place], notes[place + 1])
        if over:
            self.progress.add(over)
        left = self.schedule.left
        count = at_once(self.header, left, self.comm.size)
        if word == LEAVE or count == 0:
            self.working -= 1
        if word == LEAVE:  # early: that rank failed or was stopped, which ends the evaluation
            self.schedule.left = 0
            return
        episode_ids = [self.schedule.next() for _ in range(count)]
        buffer = self._free_buffer()
        message = self.answers.pack(buffer, episode_ids, are_plenty(left, self.comm.size), self.lookup)
        self.sent.append((self.comm.Isend(message, dest=rank, tag=WORK), buffer))

    def _free_buffer(self) -> NDArray[np.uint8]:
        """Return a buffer that no pending answer uses."""
        if not self.free:
            arrived = [request.Test() for request, _ in self.sent]
            self.free = [buffer for over, (_, buffer) in zip(arrived, self.sent, strict=True) if over]
            self.sent = [pair for over, pair in zip(arrived, self.sent, strict=True) if not over]
        return self.free.pop() if self.free else self.answers.buffer()


class DynamicWorker(Source):
    """The other ranks' side: asks rank 0 when its own queue is empty.

    Args:
        lookup: None if rank 0 sends the candidates.
        share: the first episodes, which come without a request.
        found: the lookup of their candidates.
    """

    def __init__(
        self,
        comm: Comm,
        header: Header,
        dim: int,
        lookup: Lookup | None,
        stop: StopFlag,
        share: EpisodeIds,
        found: Lookup,
    ) -> None:
        self.comm, self.header, self.lookup, self.stop = comm, header, lookup, stop
        self.answers = _Answers(header, 0 if lookup else dim)
        self.answer = self.answers.buffer()
        self.queue = deque(header.episode(episode_id, found) for episode_id in share.tolist())
        # Finished, but not yet reported to rank 0: episode, length, episode, length …
        self.over_since: list[int] = []
        self.pending: Any = None  # the answer to the pending request
        self.over, self.plenty = False, are_plenty(header.unplayed, comm.size)

    def take(self, block: bool) -> Episode | None:
        """Return an episode from the queue; if it is empty, ask rank 0 first."""
        if not self.queue and not self.over:
            self._receive(block)
        episode = self.queue.popleft() if self.queue else None
        # Asked for early, the next episodes arrive before these are done. Not so near the end, when an
        # episode in a busy rank's queue would leave another rank idle.
        if self.plenty and not self.queue and self.pending is None:
            self._ask()
        return episode

    def done(self, episode_id: int, length: int) -> None:
        """Note a finished episode, to report it with the next request."""
        self.over_since += (episode_id, length)

    def close(self, *, complete: bool) -> None:
        """Tell rank 0, which would otherwise wait, that this rank asks for no more episodes."""
        if self.pending is not None:
            self._receive(block=True)
        if not self.over:
            self._request(LEAVE)
            self.over = True

    def _request(self, word: int) -> None:
        over = self.over_since[: 2 * self.header.episodes_at_once]
        message = np.array([self.comm.rank, word, len(over) // 2, *over], np.int64)
        wait(self.comm.Isend(message, dest=0, tag=REQUEST))
        del self.over_since[: len(over)]

    def _ask(self) -> None:
        self.pending = self.comm.Irecv(self.answer, source=0, tag=WORK)
        self._request(MORE)

    def _receive(self, block: bool) -> None:
        """Fill the queue from rank 0's answer, if it has come or `block`."""
        if self.pending is None:
            self._ask()
        if not block and not self.pending.Test():
            return
        self.waited += wait(self.pending)
        self.pending = None
        episode_ids, self.plenty, received = self.answers.unpack(self.answer)
        self.over = not episode_ids
        lookup = self.lookup or received
        assert lookup is not None
        self.queue.extend(self.header.episode(episode_id, lookup) for episode_id in episode_ids)


def dynamic_source(
    comm: Comm,
    header: Header,
    episode_ids: EpisodeIds | None,
    dim: int,
    lookup: Lookup | None,
    stop: StopFlag,
    progress: EvaluationProgress,
) -> Source:
    """Return the source that hands out the episodes on rank 0,
    and one that asks for them elsewhere. Collective.

    The other ranks' first episodes are scattered: a thousand simultaneous requests would queue.
    """
    starts, schedule = first_shares(header, comm.size), None
    if episode_ids is not None:
        schedule = Schedule(header, episode_ids)
        episode_ids = np.array([schedule.next() for _ in range(starts[-1])], np.int64)
    share, found = scatter_episodes(comm, header, episode_ids, starts, dim, lookup)
    if schedule is None:
        return DynamicWorker(comm, header, dim, lookup, stop, share, found)
    assert lookup is not None, "rank 0 has the population"
    return DynamicRoot(comm, header, dim, lookup, schedule, progress, stop)
