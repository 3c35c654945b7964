"""Write a Mulligan recovery plugin: one function that says what to do when a model call fails.

A whole plugin::

    from mulligan import Fail, Retry, Switch, serve

    def run_error(e):
        if e.kind == "rate_limit" and (e.retry_after or 0) <= 60:
            return Retry(after=e.retry_after)
        if e.kind in ("unavailable", "overloaded", "timeout") and e.attempt >= 2 and e.alternatives:
            return Switch(e.alternatives[0], reason=f"{e.provider} failed {e.attempt} times")
        return None            # no opinion: the next plugin is asked

    serve(run_error, name="my-rules")

``mulligan.testing.event`` makes an event, so that ``run_error`` is tested with no host at all.

A host starts the program and asks it about failures, up to 16 at a time, each from a thread of
its own (or as a task, if the function is ``async``) and each under a deadline: 2 seconds by
default, see :func:`time_left`. The answer is advice: limits, budgets and the order of plugins
decide what becomes of it. An exception is "no opinion", and the process lives on after it.

Standard output belongs to the protocol; what is printed goes to standard error, and so to the
host's log. Lines written with :mod:`logging` are JSON objects there, with the id of their run.
Durations are seconds everywhere.
"""

from ._call import time_left
from ._decision import Adjust, Button, Decision, Fail, Restrict, Retry, Switch
from ._event import Alternative, Event, Failure, Price, RecentCall, Tried
from ._occasions import Allow, Hold, ModelCall, Refuse, Route, RunEnded, Verdict
from ._process import take
from ._serve import serve
from ._state import state_dir
from ._tool import Ask, RunAgain, Tell, ToolAdvice, ToolError

__all__ = [
    "Adjust",
    "Allow",
    "Alternative",
    "Ask",
    "Button",
    "Decision",
    "Event",
    "Fail",
    "Failure",
    "Hold",
    "ModelCall",
    "Price",
    "RecentCall",
    "Refuse",
    "Restrict",
    "Retry",
    "Route",
    "RunAgain",
    "RunEnded",
    "Switch",
    "Tell",
    "ToolAdvice",
    "ToolError",
    "Tried",
    "Verdict",
    "serve",
    "state_dir",
    "time_left",
]

take()
