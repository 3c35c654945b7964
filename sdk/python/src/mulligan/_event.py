"""What a plugin is told."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._kinds import Kind


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with an attempt. It never holds a secret.

    Text that is not known is empty, a number that is not known is 0. New values of ``kind``,
    ``origin``, ``phase`` and ``timer`` may appear: treat what you do not know by ``retryable``.
    """

    kind: Kind = ""
    """One of the words of ``Kind``, for example rate_limit."""
    code: str = ""
    """The stable upper-case name, for example MODEL_PROVIDER_TIMEOUT; several kinds share one."""
    variant: str = ""
    """A finer word for people, for example missing or stalled."""
    origin: str = ""
    """Whose failure it is: model, tool, prompt, hook or runner."""
    phase: str = ""
    """How far the attempt had come: prompt, before_connect, before_first_event, mid_stream,
    end_of_stream or tool."""
    retryable: bool = False
    """Whether the same input may succeed later."""
    provider: str = ""
    """The configured entry, for example anthropic."""
    model: str = ""
    """The full name, provider/model."""
    http_status: int = 0
    """0 for none."""
    provider_code: str = ""
    """The code in the provider's body."""
    request_id: str = ""
    """The provider's id of the request."""
    tool: str = ""
    """The tool, where one failed."""
    retry_after: float | None = None
    """What the provider demands to wait, in seconds; None if it demands nothing."""
    resets_at: datetime | None = None
    """When the quota starts anew, in UTC; None if that is not known."""
    timer: str = ""
    """The clock that fired: connect, first_event, bytes, idle, step, max_turn, run, tool, wait
    or expiry."""
    limit: float = 0.0
    """What that clock was set to, in seconds."""
    elapsed: float = 0.0
    """How long the attempt, step or run had taken, in seconds."""
    last_step: str = ""
    """What finished last: a tool's name, answer, or nothing."""
    last_step_elapsed: float = 0.0
    """How long the last step took, or has been going on, in seconds."""
    title: str = ""
    """For people: the headline."""
    message: str = ""
    """For people: what follows the headline."""
    detail: str = ""
    """The provider's own words: at most 8 KiB, secrets removed."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of a model cost, in millionths of a dollar."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    """Of input that is read from a cache; 0 = as other input."""
    cache_write: int = 0
    """Of input that is written to a cache; 0 = as other input."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A model that the run could be switched to."""

    model: str
    """The full name, provider/model."""
    context_tokens: int = 0
    """The size of its context in tokens; 0 if that is not known."""
    price: Price | None = None
    """What it costs; None if that is not known. Some cost nothing."""
    local: bool = False
    """It is served on this machine."""
    lacks: tuple[str, ...] = ()
    """What it cannot take: images, tools, schema."""
    cools_until: datetime | None = None
    """It cools down until then, in UTC, and is not asked by itself; None if it does not."""
    cooling_kind: str = ""
    """Because of a failure of that kind."""
    health: str = ""
    """How its last call ended, of all runs of the host: well or failing; empty if that is not known."""


@dataclass(frozen=True, slots=True)
class RecentCall:
    """How a model call ended that is over."""

    model: str = ""
    """The full name, provider/model."""
    kind: str = ""
    """The kind of its failure; empty if it was answered."""
    at: datetime | None = None
    """When it ended, in UTC."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One failed attempt of a model call."""

    attempt: int
    """From 0, within the model call."""
    model: str
    """The full name, provider/model."""
    code: str
    """The code of its failure."""
    at: datetime | None = None
    """When it began, in UTC."""
    duration: float = 0.0
    """How long it took, in seconds."""


@dataclass(frozen=True, slots=True)
class Event:
    """A failure and what a decision may depend on.

    It holds no secret, and no prompt, tool arguments or results but in ``transcript``, for which
    a plugin needs a grant.
    """

    run: str = ""
    """The id of the run."""
    session: str = ""
    """The id of its session; may be empty."""
    failure: Failure = field(default_factory=Failure)
    """All that is known about what went wrong."""
    model: str = ""
    """The model that failed, provider/model."""
    alternatives: tuple[str, ...] = ()
    """What :class:`Switch` may name, in order of preference."""
    models: tuple[Alternative, ...] = ()
    """The alternatives with what is known about them, in the same order."""

    attempt: int = 0
    """Within one model call, from 0."""
    retries: int = 0
    """Of this model call so far."""
    max_retries: int = 0
    """That the policy allows for one model call."""
    remaining_attempts: int = 0
    """Of this model call, under the limit that no policy lifts."""
    tried: tuple[Tried, ...] = ()
    """The failed attempts of this model call."""
    auto_recover: bool = False
    """Whether the decision is acted on, or offered to a person."""

    elapsed: float = 0.0
    """Since the run began, in seconds, deliberate long waits left out."""
    remaining_time: float | None = None
    """Until the run's time is over, in seconds; None = unlimited, below 0 = used up."""
    remaining_tokens: int | None = None
    """None = unlimited, -1 = used up."""
    remaining_microdollars: int | None = None
    """Millionths of a dollar; None = unlimited, -1 = used up."""

    replay_safety: str = ""
    """Whether the attempt may be repeated without doing something twice: safe, unsafe (a tool
    that must not run twice is in the air) or unknown; empty means unknown."""
    unsafe_tools: tuple[str, ...] = ()
    """The tools that make it unsafe."""
    partial_shown: bool = False
    """Text of the failed attempt was seen by people."""
    idle_breaker: bool = False
    """Too many idle expiries in a row: nothing is retried by itself."""
    idle_expiries: int = 0
    """In a row, without a finished step."""

    labels: dict[str, str] = field(default_factory=dict, hash=False)
    """The words by which the run can be listed."""
    spent_tokens: int = 0
    """What the run has used so far."""
    spent_microdollars: int = 0
    """Millionths of a dollar."""
    input_tokens: int = 0
    """What is sent, in tokens, about."""
    tools: tuple[str, ...] = ()
    """The names of the tools that the model may use."""
    images: bool = False
    """There are pictures in the conversation."""
    schema: bool = False
    """The answer has to keep to a JSON schema."""
    about: Alternative = field(default_factory=lambda: Alternative(""))
    """The model that failed, with what is known about it."""
    cooling: tuple[Alternative, ...] = ()
    """Models that could be asked, and are no alternatives because they cool down."""
    failed_kinds: tuple[str, ...] = ()
    """What failed in the run so far, this failure included: the kind of each attempt, in order, the newest 64."""
    recent_calls: tuple[RecentCall, ...] = ()
    """How the last calls of the model's entry ended, of all runs of the host, the newest last; at most 20."""

    time: datetime | None = None
    """When the attempt failed, in UTC; None if the host did not say."""
    dry_run: bool = False
    """Nothing comes of the answer, since a failure is replayed or the plugin is tested: do nothing
    that can be felt outside."""
    pressed: str = ""
    """The kind of your own button that a person has pressed: what you answer now is done. Empty: you
    are asked about the failure itself."""
    session_key: str = ""
    """What the caller itself calls its conversation; may be empty."""
    agent_id: str = ""
    """What the caller itself calls its agent; may be empty."""
    aborted: bool = False
    """The attempt was ended from our side: a timer fired, its process died, or a person did not wait."""
    timed_out: bool = False
    """Time was over: that of one of our timers, or what the provider itself had."""
    prompt_error: str = ""
    """Why the prompt could not become a request; empty if it could."""

    transcript: list[dict[str, Any]] | None = field(default=None, hash=False, repr=False)
    """What was said in the run so far, only for a plugin that asks for it by ``transcript: messages``
    in its mulligan-plugin.yaml and was granted it; None for all others.

    Each message is ``{"role": "user" | "assistant" | "tool", "parts": […], "model": …}``, and each
    part one of ``{"text": …}``, ``{"thinking": {"text"}}``, ``{"call": {"id", "name", "args"}}``,
    ``{"result": {"callId", "name", "text", "isError"}}`` and ``{"image": {"mediaType"}}``. These
    are the newest messages, at most 1 MiB of JSON; pictures are without their data, reasoning
    without its signatures. Text that logs or prints an event leaves them out."""

    @property
    def kind(self) -> Kind:
        """What went wrong, for example rate_limit: see :attr:`Failure.kind`."""
        return self.failure.kind

    @property
    def code(self) -> str:
        """The stable upper-case name of what went wrong."""
        return self.failure.code

    @property
    def provider(self) -> str:
        """The configured entry that failed, for example anthropic."""
        return self.failure.provider

    @property
    def retryable(self) -> bool:
        """Whether the same input may succeed later."""
        return self.failure.retryable

    @property
    def retry_after(self) -> float | None:
        """What the provider demands to wait, in seconds; None if it demands nothing."""
        return self.failure.retry_after

    @property
    def resets_at(self) -> datetime | None:
        """When the quota starts anew, in UTC; None if that is not known."""
        return self.failure.resets_at
