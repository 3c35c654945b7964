"""What an error of an LLM provider means.

    from mulligan_failure import classify

    failure = classify(error)
    if failure.retryable: time.sleep(failure.retry_after or 1)

Providers tell the same few things in hundreds of ways: this will pass, this will not, this needs money, this needs
a person. A `Failure` is one of them, its `kind`, with what an agent needs to go on. The tables and the rules are
those of Mulligan's Go package `failure`, with which this one agrees row by row. It needs the standard library
alone, and never reads text that a model wrote as evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Mapping, Optional, Tuple, Union

from ._classify import detail, place, provider_code, request_id, retryable_of, verdict_of
from ._describe import Facts, describe
from ._hints import come_back
from ._reading import Reading
from ._tables import kinds as _kinds
from ._text import provider_name, status_url

__all__ = ["KINDS", "Evidence", "Failure", "classify", "evidence_of", "provider_name", "status_url"]

KINDS: Tuple[str, ...] = tuple(_kinds)
"""Every kind that this version knows. A reader keeps kinds that it does not know."""


@dataclass(frozen=True)
class Evidence:
    """All that is known of a failed attempt. Nothing in it may be text that a model wrote or a tool printed."""

    status: int = 0
    """HTTP status; 0: none was seen."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Union[str, bytes] = b""
    """The raw error body or error event; secrets already removed."""
    error: Optional[str] = None
    """What the transport or the decoder said."""
    timed_out: bool = False
    """That error was a timer's."""
    provider: str = ""
    """What you call the provider, for example "openai" or "openai-work"."""
    model: str = ""
    """provider/model"""
    kind: str = ""
    """What you know for sure; "": nothing."""
    phase: str = ""
    """before_connect, before_first_event, mid_stream, end_of_stream, or "" where you do not know."""
    at: Optional[datetime] = None
    """When it arrived, with its time zone; dates in headers are relative to it, or to the header Date."""


@dataclass(frozen=True)
class Failure:
    """What went wrong with an attempt."""

    kind: str
    """One of KINDS: rate_limit, quota, billing, auth, overloaded, context_overflow, …"""
    code: str
    """A stable name in capitals that several kinds may share: MODEL_PROVIDER_RATE_LIMITED."""
    retryable: bool
    """The same input may succeed later."""
    once: bool
    """And if, a single retry makes sense, and no more."""
    title: str
    """For people; `title + ". " + message` is the one-line form."""
    message: str
    detail: str = ""
    """The provider's words, at most 8 KiB."""
    variant: str = ""
    """A finer word than the kind, for people alone: missing, expired_login, …"""
    origin: str = "model"
    phase: str = ""
    provider: str = ""
    model: str = ""
    http_status: int = 0
    provider_code: str = ""
    request_id: str = ""
    retry_after_ms: int = 0
    """The provider's own demand; 0: none."""
    resets_at: Optional[datetime] = None
    """When a quota is full again."""

    @property
    def retry_after(self) -> Optional[float]:
        """The provider's own demand in seconds; None where it has none."""
        return self.retry_after_ms / 1000 if self.retry_after_ms else None

    def __str__(self) -> str:
        return f"{self.title}. {self.message}"


def classify(error: Union[BaseException, Evidence], *, provider: str = "", model: str = "", phase: str = "") -> Failure:
    """What an exception, or the evidence that you have put together, means: one kind for any evidence whatever.

    It never raises, reads no clock but for an exception's time, and takes time linear in what it is given.
    """
    e = error if isinstance(error, Evidence) else evidence_of(error, provider=provider, model=model, phase=phase)
    c = Reading(e)
    verdict = verdict_of(c)
    kind = verdict.kind
    known = _kinds.get(kind) or _kinds["unknown"]
    origin, at_phase = place(kind, e.phase, e.status)
    hint = come_back(c, kind, verdict.daily)
    resets_at, said = _datetime(hint.at), detail(c)
    facts = Facts(kind, verdict.variant, at_phase, e.provider, e.model, e.status, hint.after, resets_at, said, c.error)
    title, message = describe(facts)
    return Failure(
        kind=kind, code=known["code"], retryable=retryable_of(c, verdict), once=bool(known["once"]) and kind in _kinds,
        title=title, message=message, detail=said, variant=verdict.variant, origin=origin, phase=at_phase,
        provider=e.provider, model=e.model, http_status=e.status, provider_code=provider_code(c, verdict),
        request_id=request_id(c), retry_after_ms=hint.after, resets_at=resets_at,
    )  # fmt: skip


def _datetime(ns: Optional[int]) -> Optional[datetime]:
    return None if ns is None else datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=ns // 1000)


from ._exceptions import evidence_of  # noqa: E402  (it needs Evidence)
