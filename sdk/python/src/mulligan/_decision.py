"""What a plugin answers."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass


@dataclass(frozen=True, slots=True)
class Button:
    """One more thing that a person may choose, at most 8 a decision."""

    kind: str
    """For example retry, switch_model or edit."""
    label: str
    """What it says on it."""
    effect: str = "runner"
    """runner = posted back and acted on; client = the client acts."""
    model: str = ""
    """The model it is about, provider/model."""
    primary: bool = False
    """The one to offer first."""
    url: str = ""
    """Where it leads, http or https; without it, one of a kind of your own comes back in pressed."""

    def __post_init__(self) -> None:
        for name in ("kind", "label", "effect", "model", "url"):
            _demand(self, name, str)


@dataclass(frozen=True, slots=True)
class Adjust:
    """What the next attempt changes. What is not given changes nothing."""

    compact: bool = False
    """Shorten the conversation first."""
    max_output_tokens: int = 0
    """The output limit, in tokens; 0 = as it is."""
    reasoning_effort: str = ""
    """low, medium or high; empty = as it is."""
    go_on: bool = False
    """Go on from the partial answer of the attempt that failed; where nothing can, begin anew."""

    def __post_init__(self) -> None:
        _demand(self, "max_output_tokens", int)
        _demand(self, "reasoning_effort", str)


@dataclass(frozen=True, slots=True)
class Restrict:
    """What is forbidden from now on, whoever advises or chooses it.

    It holds until the plugin answers about the run again. Return it alone where there is no opinion
    beside it, or as the ``restrict`` of a decision.
    """

    never: Sequence[str] = ()
    """Models by their full names, and entries as in ``openai/*``; at most 64."""
    max_output_price: int = 0
    """The most that a million output tokens may cost, in millionths of a dollar; 0 = any price. A
    model whose price is not known is forbidden then."""
    local: bool = False
    """Only models that are served on this machine."""
    _: KW_ONLY
    reason: str = ""
    """For people; beside a decision with a reason of its own, that one is taken."""

    def __post_init__(self) -> None:
        if isinstance(self.never, str) or not all(isinstance(name, str) for name in self.never):
            raise TypeError(f"Restrict(never=…) takes a list of names, not {self.never!r:.100}")
        _demand(self, "max_output_price", int)
        _demand(self, "reason", str)


@dataclass(frozen=True, slots=True)
class Decision:
    """Advice: make a Retry, a Switch or a Fail. No opinion is None."""

    _: KW_ONLY
    reason: str = ""
    """For people, at most 500 bytes are kept."""
    actions: Sequence[Button] = ()
    """Extra buttons."""
    adjust: Adjust | None = None
    """What the next attempt changes."""
    restrict: Restrict | None = None
    """What is forbidden from now on."""

    def __post_init__(self) -> None:
        _demand(self, "reason", str)
        if isinstance(self.actions, (str, Button)) or not all(isinstance(a, Button) for a in self.actions):
            raise TypeError(f"{_name(self)}(actions=…) takes a list of Button, not {self.actions!r:.100}")
        if self.adjust is not None:
            _demand(self, "adjust", Adjust)
        if self.restrict is not None:
            _demand(self, "restrict", Restrict)


@dataclass(frozen=True, slots=True)
class Retry(Decision):
    """Ask the same model again.

    ``after`` is how long to wait first, in seconds; None or 0 = at once. The host raises it to
    what the provider demands, and takes 7 days at most.
    """

    after: float | None = None

    def __post_init__(self) -> None:
        Decision.__post_init__(self)
        _demand_delay(self, self.after)


@dataclass(frozen=True, slots=True)
class Switch(Decision):
    """Ask another model, one of ``Event.alternatives``.

    ``after`` is how long to wait first, in seconds; None or 0 = at once.
    """

    model: str
    _: KW_ONLY
    after: float | None = None

    def __post_init__(self) -> None:
        Decision.__post_init__(self)
        _demand(self, "model", str)
        if not self.model:
            raise ValueError("Switch(model) needs a model, one of e.alternatives; the name is empty")
        _demand_delay(self, self.after)


@dataclass(frozen=True, slots=True)
class Fail(Decision):
    """Give up. ``Fail("no use before Monday")`` tells people why."""

    reason: str = ""


def _name(value: object) -> str:
    return type(value).__name__


def _demand(holder: object, field: str, wanted: type) -> None:
    value = getattr(holder, field)
    if not isinstance(value, wanted):
        raise TypeError(f"{_name(holder)}({field}=…) takes {wanted.__name__}, not {value!r:.100} ({_name(value)})")


def _demand_delay(holder: object, after: object) -> None:
    if after is None:
        return
    if isinstance(after, bool) or not isinstance(after, (int, float)):
        hint = "; use .total_seconds()" if hasattr(after, "total_seconds") else ""
        raise TypeError(f"{_name(holder)}(after=…) takes seconds as a number, not {after!r:.100} ({_name(after)}){hint}")
    if not math.isfinite(after) or after < 0:
        raise ValueError(f"{_name(holder)}(after={after}): it must be a number of seconds, 0 or more")
