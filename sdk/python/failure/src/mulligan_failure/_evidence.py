"""What may be known of a failed attempt, and what is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Mapping, Optional, Union

from ._kinds import Kind


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

    kind: Kind
    """One of KINDS, or the one that you knew for sure: a reader keeps kinds that it does not know."""
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
    confidence: int = 0
    """How sure it is: of a hundred failures recognised in this way, how many were right at first sight."""

    @property
    def retry_after(self) -> Optional[float]:
        """The provider's own demand in seconds; None where it has none."""
        return self.retry_after_ms / 1000 if self.retry_after_ms else None

    def __str__(self) -> str:
        return f"{self.title}. {self.message}"
