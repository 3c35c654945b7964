"""Events for the tests of a plugin, with no host and no gRPC.

::

    from mulligan import Retry
    from mulligan.testing import event

    def test_waits_as_long_as_it_must():
        assert run_error(event("rate_limit", retry_after=7)) == Retry(after=7)

An ``async`` run_error is asked by ``asyncio.run(run_error(event(…)))``.
"""

import difflib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from ._event import Alternative, Event, Failure, RecentCall, Tried
from ._kinds import FACTS, Kind

__all__ = ["KINDS", "event"]

KINDS = tuple(FACTS)
"""Every kind that this version knows."""


def event(
    kind: str = "unknown",
    *,
    code: str | None = None,
    retryable: bool | None = None,
    retry_after: float | None = None,
    resets_at: datetime | None = None,
    model: str = "anthropic/claude-sonnet-4-5",
    provider: str | None = None,
    alternatives: Sequence[str | Alternative] = (),
    attempt: int = 0,
    retries: int | None = None,
    max_retries: int = 3,
    remaining_attempts: int = 3,
    tried: Sequence[Tried] = (),
    auto_recover: bool = True,
    elapsed: float = 0.0,
    remaining_time: float | None = None,
    remaining_tokens: int | None = None,
    remaining_microdollars: int | None = None,
    replay_safety: str = "safe",
    unsafe_tools: Sequence[str] = (),
    partial_shown: bool = False,
    idle_breaker: bool = False,
    idle_expiries: int = 0,
    labels: Mapping[str, str] | None = None,
    spent_tokens: int = 0,
    spent_microdollars: int = 0,
    input_tokens: int = 0,
    tools: Sequence[str] = (),
    images: bool = False,
    schema: bool = False,
    about: Alternative | None = None,
    cooling: Sequence[Alternative] = (),
    failed_kinds: Sequence[str] | None = None,
    recent_calls: Sequence[RecentCall] = (),
    time: datetime | None = None,
    dry_run: bool = False,
    pressed: str = "",
    session_key: str = "",
    agent_id: str = "",
    aborted: bool = False,
    timed_out: bool = False,
    prompt_error: str = "",
    transcript: Sequence[dict[str, Any]] | None = None,
    run: str = "run-1",
    session: str = "",
    variant: str = "",
    origin: str = "model",
    phase: str = "before_first_event",
    http_status: int = 0,
    provider_code: str = "",
    request_id: str = "",
    tool: str = "",
    timer: str = "",
    limit: float = 0.0,
    last_step: str = "",
    last_step_elapsed: float = 0.0,
    title: str = "",
    message: str = "",
    detail: str = "",
) -> Event:
    """Make an event as a host would send it; name what your rule depends on.

    The names, types and units are those of :class:`mulligan.Event` and :class:`mulligan.Failure`:
    durations are in seconds. Left out, ``code`` and ``retryable`` are those of the kind,
    ``provider`` is the first part of ``model``, ``about`` is ``model`` with nothing known about it,
    ``retries`` is ``attempt``, and ``failed_kinds`` are the kind alone.

    A kind that does not exist is a ValueError, since it is mostly a slip; ``kind_99`` stands for
    one that a newer host may send.
    """
    known_code, known_retryable = _facts(kind)
    models = tuple(a if isinstance(a, Alternative) else Alternative(a) for a in alternatives)
    failure = Failure(
        kind=cast(Kind, kind),
        code=known_code if code is None else code,
        variant=variant,
        origin=origin,
        phase=phase,
        retryable=known_retryable if retryable is None else retryable,
        provider=model.partition("/")[0] if provider is None else provider,
        model=model,
        http_status=http_status,
        provider_code=provider_code,
        request_id=request_id,
        tool=tool,
        retry_after=retry_after,
        resets_at=resets_at,
        timer=timer,
        limit=limit,
        last_step=last_step,
        last_step_elapsed=last_step_elapsed,
        title=title,
        message=message,
        detail=detail,
    )
    return Event(
        run=run,
        session=session,
        failure=failure,
        model=model,
        alternatives=tuple(a.model for a in models),
        models=models,
        attempt=attempt,
        retries=attempt if retries is None else retries,
        max_retries=max_retries,
        remaining_attempts=remaining_attempts,
        tried=tuple(tried),
        auto_recover=auto_recover,
        elapsed=elapsed,
        remaining_time=remaining_time,
        remaining_tokens=remaining_tokens,
        remaining_microdollars=remaining_microdollars,
        replay_safety=replay_safety,
        unsafe_tools=tuple(unsafe_tools),
        partial_shown=partial_shown,
        idle_breaker=idle_breaker,
        idle_expiries=idle_expiries,
        labels=dict(labels or {}),
        spent_tokens=spent_tokens,
        spent_microdollars=spent_microdollars,
        input_tokens=input_tokens,
        tools=tuple(tools),
        images=images,
        schema=schema,
        about=Alternative(model) if about is None else about,
        cooling=tuple(cooling),
        failed_kinds=(kind,) if failed_kinds is None else tuple(failed_kinds),
        recent_calls=tuple(recent_calls),
        time=time,
        dry_run=dry_run,
        pressed=pressed,
        session_key=session_key,
        agent_id=agent_id,
        aborted=aborted,
        timed_out=timed_out,
        prompt_error=prompt_error,
        transcript=None if transcript is None else list(transcript),
    )


def _facts(kind: str) -> tuple[str, bool]:
    if kind in FACTS:
        return FACTS[kind]
    if kind.startswith("kind_"):
        return FACTS["unknown"]
    close = difflib.get_close_matches(kind.replace("-", "_").lower(), KINDS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "see mulligan.testing.KINDS"
    raise ValueError(f"there is no kind {kind!r}: {hint} (kind_99 stands for one of tomorrow)")
