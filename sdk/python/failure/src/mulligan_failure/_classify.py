"""From evidence to a Failure."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Optional, Tuple, Union, cast

from ._describe import Facts, describe
from ._evidence import Evidence, Failure
from ._exceptions import evidence_of
from ._hints import come_back
from ._kinds import Kind
from ._reading import Reading
from ._tables import kinds, limits, tables
from ._text import clip, lower, plain
from ._verdict import Verdict, verdict_of


def classify(error: Union[BaseException, Evidence], *, provider: str = "", model: str = "", phase: str = "") -> Failure:
    """What an exception, or the evidence that you have put together, means: one kind for any evidence whatever.

    It never raises, reads no clock but for an exception's time, and takes time linear in what it is given.
    """
    e = error if isinstance(error, Evidence) else evidence_of(error, provider=provider, model=model, phase=phase)
    c = Reading(e)
    verdict, confidence = verdict_of(c)
    kind = verdict.kind
    known = kinds.get(kind) or kinds["unknown"]
    origin, at_phase = _place(kind, e.phase, e.status)
    hint = come_back(c, kind, verdict.daily)
    resets_at, said = _datetime(hint.at), _detail(c)
    facts = Facts(kind, verdict.variant, at_phase, e.provider, e.model, e.status, hint.after, resets_at, said, c.error)
    title, message = describe(facts)
    return Failure(
        kind=cast(Kind, kind), code=known["code"], retryable=_retryable(c, verdict), once=bool(known["once"]) and kind in kinds,
        title=title, message=message, detail=said, variant=verdict.variant, origin=origin, phase=at_phase,
        provider=e.provider, model=e.model, http_status=e.status, provider_code=_provider_code(c, verdict),
        request_id=_request_id(c), retry_after_ms=hint.after, resets_at=resets_at,
        confidence=confidence,
    )  # fmt: skip


def _datetime(ns: Optional[int]) -> Optional[datetime]:
    return None if ns is None else datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=ns // 1000)


def _retryable(c: Reading, verdict: Verdict) -> bool:
    """Whether the same input may succeed."""
    says_so = lower(c.header("x-should-retry"))
    if says_so in ("true", "false"):
        return says_so == "true"
    if verdict.retryable is not None:
        return verdict.retryable
    return bool(kinds[verdict.kind]["retryable"]) if verdict.kind in kinds else True


def _provider_code(c: Reading, verdict: Verdict) -> str:
    """The code that decided, as the provider wrote it, else its first one that is not an envelope's."""
    first = ""
    for code in c.codes:
        if verdict.code and code.lower == verdict.code:
            return code.written
        if not first and code.lower != "error" and not code.in_header:
            first = code.written
    return first


def _request_id(c: Reading) -> str:
    named = next((value for name in tables["requestIDHeaders"] for value in [c.header(name.lower())] if value), "")
    return clip(named, limits["requestID"]) or c.body.request_id


def _detail(c: Reading) -> str:
    """What the provider said in its own words, else what the transport did."""
    if c.raw_body:
        return clip(c.said or plain(c.raw_body), limits["detail"])
    return clip(plain(c.error or ""), limits["detail"])


def _place(kind: str, phase: str, status: int) -> Tuple[str, str]:
    """Origin and phase, where they follow from the rest."""
    if not phase:
        phase = "before_connect" if status == 0 and kind in ("unreachable", "tls") else "before_first_event"
    if kind == "internal":
        return "runner", phase
    if phase == "prompt":
        return "prompt", phase
    return ("tool" if phase == "tool" or kind == "tool_failure" else "model"), phase
