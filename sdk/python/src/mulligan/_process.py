"""What the process owes its host: clean streams, and an end in time."""

import contextlib
import faulthandler
import io
import os
import signal
import stat
import sys
import threading
import time
from dataclasses import dataclass
from typing import NoReturn

COOKIE = ("MULLIGAN_PLUGIN", "4b3f6c1e-run-error")
"""An environment variable by which a plugin knows that a host started it. It is no secret."""

_LOOK_EVERY = 0.5  # seconds between two looks at the parent


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken away from the author's code. The descriptors are not inherited."""

    output: int
    """The real standard output. It stays open: its end is the end of the plugin."""
    life_line: int | None
    """The real standard input, if it is a pipe or a socket."""
    parent: int
    """The process id of the parent at the start."""


_taken: Taken | None = None


def take() -> Taken | None:
    """Take the streams and SIGINT away from the author's code, once; None without a host.

    This happens when mulligan is imported, so that a banner that a module prints before it
    calls serve goes to standard error already.
    """
    global _taken
    if _taken is None and os.environ.get(COOKIE[0]) == COOKIE[1]:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        _taken = Taken(output=_take_output(), life_line=_take_input(), parent=os.getppid())
        faulthandler.enable()
    return _taken


def _take_output() -> int:
    real = os.dup(1)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    return real


def _take_input() -> int | None:
    try:
        mode = os.fstat(0).st_mode
    except OSError:  # closed
        return None
    if not stat.S_ISFIFO(mode) and not stat.S_ISSOCK(mode):
        return None
    life_line = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return life_line


def follow(taken: Taken, socket: str) -> NoReturn:
    """Wait for the host to go, in the main thread, and end the process then."""
    if taken.life_line is not None:
        threading.Thread(target=_follow_life_line, args=(taken.life_line, socket), daemon=True).start()
    while os.getppid() == taken.parent:
        time.sleep(_LOOK_EVERY)
    end(socket)


def _follow_life_line(life_line: int, socket: str) -> NoReturn:
    with contextlib.suppress(OSError):
        while os.read(life_line, 4096):
            pass
    end(socket)


def end(socket: str) -> NoReturn:
    """End the process in order, from any thread, whatever the other threads are doing."""
    with contextlib.suppress(OSError):
        os.unlink(socket)
    os._exit(0)
