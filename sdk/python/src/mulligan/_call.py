"""The call that is being answered, as logging and time_left know it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One call of run_error."""

    run: str
    session: str
    deadline: float | None
    """On time.monotonic's clock, in seconds; None = none."""


current: ContextVar[Call | None] = ContextVar("mulligan_call", default=None)


@contextmanager
def during(call: Call) -> Iterator[None]:
    """Make call the current one of this thread, and of the tasks made meanwhile."""
    token = current.set(call)
    try:
        yield
    finally:
        current.reset(token)


def time_left() -> float | None:
    """Seconds until the host stops waiting for this call's answer, never below 0.

    It is meant for what run_error itself waits for: ``urlopen(url, timeout=time_left())``.
    None outside a call, as in a test, and where the host set no deadline.
    """
    call = current.get()
    if call is None or call.deadline is None:
        return None
    return max(0.0, call.deadline - time.monotonic())
