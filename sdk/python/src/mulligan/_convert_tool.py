"""What is said about tools that failed, between the author's types and the messages on the wire."""

import reprlib

from . import _convert
from ._proto import plugin_pb2
from ._tool import Ask, RunAgain, Tell, ToolError


def read(m: plugin_pb2.ToolErrorRequest) -> ToolError:
    """Make what the author's tool_error is given."""
    return ToolError(
        run=m.run,
        session=m.session,
        session_key=m.session_key,
        agent_id=m.agent_id,
        labels=dict(m.labels),
        tool=m.tool,
        call_id=m.call_id,
        safety=_convert._word(plugin_pb2.ToolSafety.DESCRIPTOR, m.safety),
        tries=m.tries,
        remaining_tries=m.remaining_tries,
        failures=m.failures,
        timed_out=m.timed_out,
        took=m.took_ms / 1000,
        model=m.model,
        round=m.round,
        auto_recover=m.auto_recover,
        spent_tokens=m.spent.tokens,
        spent_microdollars=m.spent.microdollars,
        remaining_tokens=m.remaining.tokens or None,
        remaining_microdollars=m.remaining.microdollars or None,
        elapsed=m.elapsed_ms / 1000,
        remaining_time=m.remaining_ms / 1000 if m.remaining_ms else None,
        time=_convert._time(m, "time"),
        dry_run=m.dry_run,
        error=m.error,
        transcript=_convert._transcript(m.transcript),
    )


def advice(given: object) -> plugin_pb2.ToolErrorResponse:
    """Make the answer of what the author's tool_error returned; TypeError if that is no advice."""
    m = plugin_pb2.ToolErrorResponse()
    match given:
        case None:
            return m
        case RunAgain(after=after):
            m.action, m.delay_ms = plugin_pb2.TOOL_ACTION_RETRY, _convert._millis(after)
        case Tell(words=words):
            m.action, m.words = plugin_pb2.TOOL_ACTION_TELL, _convert._valid(words)
        case Ask():
            m.action = plugin_pb2.TOOL_ACTION_ASK
        case _:
            raise TypeError(
                f"tool_error returned {reprlib.repr(given)} ({type(given).__name__}): "
                "return RunAgain(after), Tell(words), Ask(…), or None for no opinion"
            )
    m.reason = _convert._valid(given.reason)
    return m
