"""Standard output and error whose reader is gone: a closed terminal, a dead launcher, a pipe into head."""

import os
import select


def drop_unread() -> bool:
    """Redirect the standard streams whose reader is gone to /dev/null; return whether stdout's is.

    Otherwise each further print would raise an exception.
    """
    gone = [stream for stream in (1, 2) if _is_gone(stream)]
    for stream in gone:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream)
        os.close(null)
    return 1 in gone


def _is_gone(stream: int) -> bool:
    """Return whether an open descriptor has lost its reader."""
    output = select.poll()
    output.register(stream, 0)  # reports errors only
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in output.poll(0))
