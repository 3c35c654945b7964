"""What a plugin is told beside failures, and what it says to that."""

from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any

from ._decision import _demand
from ._event import Alternative, Failure, RecentCall, Tried


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A model call that is about to begin.

    It holds no secret, and no prompt, tool arguments or results but in ``transcript``, for which
    a plugin needs a grant.
    """

    run: str = ""
    """The id of the run."""
    session: str = ""
    """The id of its session; may be empty."""
    session_key: str = ""
    """What the caller itself calls its conversation; may be empty."""
    agent_id: str = ""
    """What the caller itself calls its agent; may be empty."""
    labels: dict[str, str] = field(default_factory=dict, hash=False)
    """The words by which the run can be listed."""
    model: str = ""
    """The model that is about to be asked, provider/model."""
    about: Alternative = field(default_factory=lambda: Alternative(""))
    """The model with what is known about it."""
    alternatives: tuple[str, ...] = ()
    """What :class:`Route` may name, in order of preference."""
    models: tuple[Alternative, ...] = ()
    """The alternatives with what is known about them, in the same order."""

    round: int = 0
    """Which model call of the run it is, from 1: several attempts may be of one."""
    attempt: int = 0
    """Within this model call, from 0."""
    tried: tuple[Tried, ...] = ()
    """The failed attempts of this model call."""
    summary: bool = False
    """The call only sums up old turns of a conversation that has become too long."""
    input_tokens: int = 0
    """What is sent, in tokens, about."""
    tools: tuple[str, ...] = ()
    """The names of the tools that the model may use."""
    images: bool = False
    """There are pictures in the conversation."""
    schema: bool = False
    """The answer has to keep to a JSON schema."""
    failed_kinds: tuple[str, ...] = ()
    """What failed in the run so far, as in :class:`Event`."""
    recent_calls: tuple[RecentCall, ...] = ()
    """How the last calls of the model's entry ended, as in :class:`Event`."""
    holds: int = 0
    """How often this call was held already."""
    auto_recover: bool = False
    """Whether the run recovers by itself."""

    spent_tokens: int = 0
    """What the run has used so far."""
    spent_microdollars: int = 0
    """Millionths of a dollar."""
    remaining_tokens: int | None = None
    """None = unlimited, -1 = used up."""
    remaining_microdollars: int | None = None
    """Millionths of a dollar; None = unlimited, -1 = used up."""
    elapsed: float = 0.0
    """Since the run began, in seconds, deliberate long waits left out."""
    remaining_time: float | None = None
    """Until the run's time is over, in seconds; None = unlimited, below 0 = used up."""
    time: datetime | None = None
    """When the call is about to begin, in UTC. Rules that go by the hour go by it."""
    dry_run: bool = False
    """Nothing comes of the answer: do nothing that can be felt outside."""
    transcript: list[dict[str, Any]] | None = field(default=None, hash=False, repr=False)
    """As in :class:`Event`."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """How a run ended, and what it took. It holds no secret, no prompt and no answer."""

    run: str = ""
    """The id of the run."""
    session: str = ""
    """The id of its session; may be empty."""
    session_key: str = ""
    """What the caller itself calls its conversation; may be empty."""
    agent_id: str = ""
    """What the caller itself calls its agent; may be empty."""
    labels: dict[str, str] = field(default_factory=dict, hash=False)
    """The words by which the run can be listed."""
    status: str = ""
    """completed, failed or cancelled."""
    stop_reason: str = ""
    """completed, failed, cancelled, timeout, step_timeout, max_turn_time or interrupted."""
    chosen_model: str = ""
    """The model that was asked for, provider/model."""
    model: str = ""
    """The one that was asked last."""
    recovered: bool = False
    """The run was completed although attempts had failed."""
    attempts: int = 0
    """Attempts of model calls that were begun."""
    failed_attempts: int = 0
    """Of them, those that failed."""
    switches: int = 0
    """How often another model was asked after a failure."""
    kinds: tuple[str, ...] = ()
    """What had failed, each kind once, in order."""
    recovery_time: float = 0.0
    """From the first failure of a model call to its answer, in seconds, of all calls that were answered after all."""
    wasted_tokens: int = 0
    """What attempts that failed have used, as far as their providers said."""
    wasted_microdollars: int = 0
    """Millionths of a dollar."""
    spent_tokens: int = 0
    """All that the run has used."""
    spent_microdollars: int = 0
    """Millionths of a dollar."""
    elapsed: float = 0.0
    """From its begin to its end, in seconds."""
    time: datetime | None = None
    """When it ended, in UTC."""
    failure: Failure | None = None
    """The failure at which it ended; None if it did not end at one."""
    dry_run: bool = False
    """The plugin is tested: do nothing that can be felt outside."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a model call: make an Allow, a Route, a Hold or a Refuse. No opinion is None."""

    _: KW_ONLY
    reason: str = ""
    """For people, at most 500 bytes are kept."""

    def __post_init__(self) -> None:
        _demand(self, "reason", str)


@dataclass(frozen=True, slots=True)
class Allow(Verdict):
    """The call may begin."""


@dataclass(frozen=True, slots=True)
class Route(Verdict):
    """Ask another model, one of ``ModelCall.alternatives``; all plugins are asked about that one then."""

    model: str

    def __post_init__(self) -> None:
        Verdict.__post_init__(self)
        _demand(self, "model", str)


@dataclass(frozen=True, slots=True)
class Hold(Verdict):
    """Wait until a time within 7 days; the plugins are asked again then."""

    until: datetime

    def __post_init__(self) -> None:
        Verdict.__post_init__(self)
        _demand(self, "until", datetime)
        if self.until.tzinfo is None:
            raise ValueError("Hold(until) needs a time with a time zone, such as datetime.now(timezone.utc) + timedelta(minutes=5)")


@dataclass(frozen=True, slots=True)
class Refuse(Verdict):
    """The model is not asked for this call. ``Refuse("names of customers")`` tells people why."""

    reason: str = ""
