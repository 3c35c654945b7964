"""Between the author's types and the messages on the wire."""

import json
import logging
import math
import reprlib
from datetime import datetime, timezone
from typing import Any, cast

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from ._decision import Adjust, Button, Decision, Fail, Restrict, Retry, Switch
from ._event import Alternative, Event, Failure, Price, RecentCall, Tried
from ._occasions import Allow, Hold, ModelCall, Refuse, Route, RunEnded
from ._kinds import Kind
from ._proto import decision_pb2, failure_pb2, plugin_pb2

_MAX_ERROR = 2 << 10  # bytes that a host is told of an error

_logger = logging.getLogger("mulligan")


def event(m: plugin_pb2.RunErrorRequest) -> Event:
    """Make what the author's function is given."""
    return Event(
        run=m.run,
        session=m.session,
        failure=_failure(m.failure),
        model=m.model,
        alternatives=tuple(a.model for a in m.alternatives),
        models=tuple(_alternative(a) for a in m.alternatives),
        attempt=m.attempt,
        retries=m.retries,
        max_retries=m.max_retries,
        remaining_attempts=m.remaining_attempts,
        tried=tuple(Tried(t.attempt, t.model, t.code, _time(t, "at"), t.ms / 1000) for t in m.tried),
        auto_recover=m.auto_recover,
        elapsed=m.elapsed_ms / 1000,
        remaining_time=m.remaining_ms / 1000 if m.remaining_ms else None,
        remaining_tokens=m.remaining.tokens or None,
        remaining_microdollars=m.remaining.microdollars or None,
        replay_safety=_word(plugin_pb2.ReplaySafety.DESCRIPTOR, m.replay_safety),
        unsafe_tools=tuple(m.unsafe_tools),
        partial_shown=m.partial_shown,
        idle_breaker=m.idle_breaker,
        idle_expiries=m.idle_expiries,
        time=_time(m, "time"),
        dry_run=m.dry_run,
        pressed=m.pressed,
        session_key=m.session_key,
        agent_id=m.agent_id,
        aborted=m.aborted,
        timed_out=m.timed_out,
        prompt_error=m.prompt_error,
        labels=dict(m.labels),
        spent_tokens=m.spent.tokens,
        spent_microdollars=m.spent.microdollars,
        input_tokens=m.input_tokens,
        tools=tuple(m.tools),
        images=m.images,
        schema=m.schema,
        about=_alternative(m.about),
        cooling=tuple(_alternative(a) for a in m.cooling),
        failed_kinds=tuple(m.failed_kinds),
        recent_calls=tuple(RecentCall(c.model, c.kind, _time(c, "at")) for c in m.recent_calls),
        transcript=_transcript(m.transcript),
    )


def call(m: plugin_pb2.BeforeCallRequest) -> ModelCall:
    """Make what the author's before_call is given."""
    return ModelCall(
        run=m.run,
        session=m.session,
        session_key=m.session_key,
        agent_id=m.agent_id,
        labels=dict(m.labels),
        model=m.model.model,
        about=_alternative(m.model),
        alternatives=tuple(a.model for a in m.alternatives),
        models=tuple(_alternative(a) for a in m.alternatives),
        round=m.round,
        attempt=m.attempt,
        tried=tuple(Tried(t.attempt, t.model, t.code, _time(t, "at"), t.ms / 1000) for t in m.tried),
        summary=m.summary,
        input_tokens=m.input_tokens,
        tools=tuple(m.tools),
        images=m.images,
        schema=m.schema,
        failed_kinds=tuple(m.failed_kinds),
        recent_calls=tuple(RecentCall(c.model, c.kind, _time(c, "at")) for c in m.recent_calls),
        holds=m.holds,
        auto_recover=m.auto_recover,
        spent_tokens=m.spent.tokens,
        spent_microdollars=m.spent.microdollars,
        remaining_tokens=m.remaining.tokens or None,
        remaining_microdollars=m.remaining.microdollars or None,
        elapsed=m.elapsed_ms / 1000,
        remaining_time=m.remaining_ms / 1000 if m.remaining_ms else None,
        time=_time(m, "time"),
        dry_run=m.dry_run,
        transcript=_transcript(m.transcript),
    )


def ended(m: plugin_pb2.RunEndedRequest) -> RunEnded:
    """Make what the author's run_ended is given."""
    return RunEnded(
        run=m.run,
        session=m.session,
        session_key=m.session_key,
        agent_id=m.agent_id,
        labels=dict(m.labels),
        status=m.status,
        stop_reason=m.stop_reason,
        chosen_model=m.chosen_model,
        model=m.model,
        recovered=m.recovered,
        attempts=m.attempts,
        failed_attempts=m.failed_attempts,
        switches=m.switches,
        kinds=tuple(m.kinds),
        recovery_time=m.recovery_ms / 1000,
        wasted_tokens=m.wasted.tokens,
        wasted_microdollars=m.wasted.microdollars,
        spent_tokens=m.spent.tokens,
        spent_microdollars=m.spent.microdollars,
        elapsed=m.elapsed_ms / 1000,
        time=_time(m, "time"),
        failure=_failure(m.failure) if m.HasField("failure") else None,
        dry_run=m.dry_run,
    )


def verdict(given: object) -> plugin_pb2.BeforeCallResponse:
    """Make the answer of what the author's before_call returned; TypeError if that is no verdict."""
    m = plugin_pb2.BeforeCallResponse()
    match given:
        case None:
            return m
        case Allow():
            m.verdict = plugin_pb2.VERDICT_ALLOW
        case Route(model=model):
            m.verdict, m.model = plugin_pb2.VERDICT_ROUTE, _valid(model)
        case Hold(until=until):
            m.verdict = plugin_pb2.VERDICT_HOLD
            m.until.FromDatetime(until)
        case Refuse():
            m.verdict = plugin_pb2.VERDICT_REFUSE
        case _:
            raise TypeError(
                f"before_call returned {reprlib.repr(given)} ({type(given).__name__}): "
                "return Allow(), Route(model), Hold(until), Refuse(…), or None for no opinion"
            )
    m.reason = _valid(given.reason)
    return m


def _alternative(m: decision_pb2.Alternative) -> Alternative:
    price = Price(m.price.input, m.price.output, m.price.cache_read, m.price.cache_write) if m.HasField("price") else None
    return Alternative(m.model, m.context_tokens, price, m.local, tuple(m.lacks), _time(m, "cools_until"), m.cooling_kind, m.health)


def _transcript(text: bytes) -> list[dict[str, Any]] | None:
    """Read the messages; what is no list of them is worth a warning, but no failure of the rule."""
    if not text:
        return None
    try:
        messages = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error)
    else:
        if isinstance(messages, list) and all(isinstance(one, dict) for one in messages):
            return messages
        why = "it is no list of objects"
    _logger.warning("the transcript cannot be read and is left out: %s", why)
    return None


def _failure(m: failure_pb2.Failure) -> Failure:
    return Failure(
        kind=cast(Kind, _word(failure_pb2.Kind.DESCRIPTOR, m.kind, m.kind_name)),
        code=m.code,
        variant=m.variant,
        origin=_word(failure_pb2.Origin.DESCRIPTOR, m.origin, m.origin_name),
        phase=_word(failure_pb2.Phase.DESCRIPTOR, m.phase, m.phase_name),
        retryable=m.retryable,
        provider=m.provider,
        model=m.model,
        http_status=m.http_status,
        provider_code=m.provider_code,
        request_id=m.request_id,
        tool=m.tool,
        retry_after=m.retry_after_ms / 1000 if m.retry_after_ms else None,
        resets_at=_time(m, "resets_at"),
        timer=_word(failure_pb2.Timer.DESCRIPTOR, m.timer, m.timer_name),
        limit=m.limit_ms / 1000,
        elapsed=m.elapsed_ms / 1000,
        last_step=m.last_step,
        last_step_elapsed=m.last_step_elapsed_ms / 1000,
        title=m.title,
        message=m.message,
        detail=m.detail,
    )


def _word(enum: EnumDescriptor, number: int, companion: str = "") -> str:
    """Show an enum as one string in lower case; the companion stands for values without a number."""
    if number == 0:
        return companion
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    value = enum.values_by_number.get(number)
    return value.name.removeprefix(prefix).lower() if value else f"{prefix.lower()}{number}"


_Timed = (
    failure_pb2.Failure
    | decision_pb2.Tried
    | decision_pb2.Alternative
    | plugin_pb2.RecentCall
    | plugin_pb2.ToolErrorRequest
    | plugin_pb2.RunErrorRequest
    | plugin_pb2.BeforeCallRequest
    | plugin_pb2.RunEndedRequest
)


def _time(m: _Timed, field: str) -> datetime | None:
    if not m.HasField(field):
        return None
    stamp: Timestamp = getattr(m, field)
    try:
        return stamp.ToDatetime(tzinfo=timezone.utc)
    except (ValueError, OverflowError):  # a year that datetime does not have
        return None


def response(decision: object) -> plugin_pb2.RunErrorResponse:
    """Make the answer of what the author's function returned; TypeError if that is no decision."""
    m = plugin_pb2.RunErrorResponse()
    decision = _contract(decision)
    match decision:
        case None:
            return m
        case Restrict():
            m.restrict.CopyFrom(_restrict(decision))
            m.reason = _valid(decision.reason)
            return m
        case Retry(after=after):
            m.action, m.delay_ms = decision_pb2.ACTION_RETRY, _millis(after)
        case Switch(model=model, after=after):
            m.action, m.delay_ms, m.new_model = decision_pb2.ACTION_SWITCH_MODEL, _millis(after), _valid(model)
        case Fail():
            m.action = decision_pb2.ACTION_FAIL
        case _:
            raise TypeError(_no_decision(decision))
    m.reason = _valid(decision.reason)
    m.actions.extend(_button(b) for b in decision.actions)
    if decision.adjust is not None:
        m.adjust.CopyFrom(_adjust(decision.adjust))
    if decision.restrict is not None:
        m.restrict.CopyFrom(_restrict(decision.restrict))
        m.reason = m.reason or _valid(decision.restrict.reason)
    return m


def _contract(given: Any) -> object:
    """Take a dict in the words of the original contract; its delay is in milliseconds."""
    match given:
        case {"action": "retry"}:
            return Retry(after=given.get("delayMs", 0) / 1000, reason=given.get("reason", ""))
        case {"action": "switch" | "switch_model", "newModel": model} | {"action": "switch" | "switch_model", "new_model": model}:
            return Switch(model, after=given.get("delayMs", 0) / 1000, reason=given.get("reason", ""))
        case {"action": "fail"}:
            return Fail(reason=given.get("reason", ""))
    return given


def _no_decision(given: object) -> str:
    if isinstance(given, type) and issubclass(given, Decision):
        return f"run_error returned the class {given.__name__}: return {given.__name__}(…), with parentheses"
    return (
        f"run_error returned {reprlib.repr(given)} ({type(given).__name__}): "
        "return Retry(…), Switch(model), Fail(…), Restrict(…), or None for no opinion"
    )


def _button(b: Button) -> decision_pb2.Button:
    return decision_pb2.Button(
        kind=_valid(b.kind), label=_valid(b.label), effect=_valid(b.effect), model=_valid(b.model), primary=bool(b.primary), url=_valid(b.url)
    )


def _adjust(a: Adjust) -> decision_pb2.Adjust:
    return decision_pb2.Adjust(
        compact=bool(a.compact),
        max_output_tokens=a.max_output_tokens,
        reasoning_effort=_valid(a.reasoning_effort),
        **{"continue": bool(a.go_on)},  # a word of Python's own
    )


def _millis(seconds: float | None) -> int:
    """Round up, so that a positive delay never becomes none; a float's own error does not count."""
    if not seconds:
        return 0
    return max(1, math.ceil(round(seconds * 1000, 6)))


def _restrict(x: Restrict) -> decision_pb2.Restrict:
    return decision_pb2.Restrict(never=[_valid(name) for name in x.never], max_output_price=x.max_output_price, local=bool(x.local))


def _valid(text: str) -> str:
    """Replace the halves of surrogate pairs, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


def error_text(text: str) -> str:
    """Make text fit for an error message on the wire."""
    return text.encode("utf-8", "replace")[:_MAX_ERROR].decode("utf-8", "ignore")
