"""What a plugin is told of tools that failed, and what it says to that."""

from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any

from ._decision import _demand


@dataclass(frozen=True, slots=True)
class ToolError:
    """A tool call that failed, before the model is told.

    It holds no secret, and no prompt, tool arguments or results but in ``error`` and ``transcript``,
    for which a plugin needs a grant.
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
    tool: str = ""
    """The tool that failed."""
    call_id: str = ""
    """The id that the model gave the call."""
    safety: str = ""
    """unsafe, idempotent or read_only; empty means unsafe."""
    tries: int = 0
    """How often the call was made."""
    remaining_tries: int = 0
    """How often it may still be made; 0 = it is never repeated."""
    failures: int = 0
    """How many calls of this tool have failed in this run, this one included."""
    timed_out: bool = False
    """Time was over for it."""
    took: float = 0.0
    """How long it took, in seconds."""
    model: str = ""
    """The model that asked for the call, provider/model."""
    round: int = 0
    """Which model call of the run asked for it, from 1."""
    auto_recover: bool = False
    """Whether the run recovers by itself; if not, a person is asked in the place of a retry."""
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
    """When it failed, in UTC."""
    dry_run: bool = False
    """Nothing comes of the answer: do nothing that can be felt outside."""
    error: str = field(default="", hash=False, repr=False)
    """What the tool said, at most 8 KiB; empty unless the transcript was granted."""
    transcript: list[dict[str, Any]] | None = field(default=None, hash=False, repr=False)
    """As in :class:`Event`."""


@dataclass(frozen=True, slots=True)
class ToolAdvice:
    """What is done about a tool that failed: make a RunAgain, a Tell or an Ask. No opinion is None."""

    _: KW_ONLY
    reason: str = ""
    """For people, at most 500 bytes are kept."""

    def __post_init__(self) -> None:
        _demand(self, "reason", str)


@dataclass(frozen=True, slots=True)
class RunAgain(ToolAdvice):
    """Make the same call again, where the tool may run twice and ``ToolError.remaining_tries`` allows it."""

    after: float = 0.0
    """Seconds, at most 60."""


@dataclass(frozen=True, slots=True)
class Tell(ToolAdvice):
    """Tell the model these words, at most 8 KiB, in the place of what the tool said."""

    words: str

    def __post_init__(self) -> None:
        ToolAdvice.__post_init__(self)
        _demand(self, "words", str)


@dataclass(frozen=True, slots=True)
class Ask(ToolAdvice):
    """Ask a person."""

    reason: str = ""
