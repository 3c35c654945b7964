"""When a provider wants to be asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence

from . import _times as times
from ._tables import hints, limits
from ._text import lower, trim

if TYPE_CHECKING:
    from ._reading import Reading

_MAX_RESET = limits["resetMs"] * 1_000_000


class Hint(NamedTuple):
    """A wait in milliseconds (0: not said), a time (None: not said), or both."""

    after: int = 0
    at: Optional[int] = None

    def later(self, other: Hint) -> Hint:
        """The longer wait and the later time of both."""
        at = self.at
        if times.is_moment(other.at) and (at is None or (other.at or 0) > at):
            at = other.at
        return Hint(max(self.after, other.after), at)


def come_back(c: Reading, kind: str, daily: bool) -> Hint:
    """When to come back, of a failure of this kind. Reset headers say when an allowance is full again, so they
    mean something only where one was used up. Beside a used-up day Google repeats the wait of its limit per
    minute, which is not meant."""
    hint = _header_hint(c, "retry-after-ms", millis).later(_header_hint(c, "retry-after", lambda value: _retry_after(value, c.now)))
    in_body = _field_hint(c.body.delay).later(_field_hint(c.body.after)).later(Hint(spoken_hint(c, kind)))
    if not (daily and in_body.after <= limits["longDelayMs"]):
        hint = hint.later(in_body)
    at = _spoken_date(c)
    if at is not None:
        hint = hint.later(_hint_at(c, at))
    limited = kind in ("rate_limit", "quota")
    if limited and hint.after == 0:
        hint = hint.later(_reset_hint(c))
    if kind != "quota":
        return Hint(hint.after)
    if hint.at is None and hint.after and c.now is not None:
        return Hint(hint.after, c.now + hint.after * 1_000_000)
    return hint


def millis(value: str) -> int:
    n = times.decimal(value)
    return 0 if n is None else times.bounded(times.seconds(n / 1000))


def _retry_after(value: str, now: Optional[int]) -> int:
    """Reads seconds, whole or not, or an HTTP date."""
    n = times.decimal(value)
    if n is not None:
        return times.bounded(times.seconds(n))
    at = times.http_date(value)
    return 0 if at is None or now is None else times.bounded(at - now)


def _header_hint(c: Reading, name: str, read: "Reader") -> Hint:
    value = c.header(name)
    return Hint(read(value)) if value else Hint()


def _field_hint(field: "Told") -> Hint:
    """Reads a field of the body: "40s", "900ms", or seconds unless its name says milliseconds."""
    if lower(field.name).endswith("ms"):
        return Hint(millis(field.value))
    return Hint(times.bounded(times.duration(field.value)))


def spoken_hint(c: Reading, kind: str) -> int:
    """Reads the wording. "after 30 s" alone may as well say how long it took, so it counts only where a limit or
    a full server is at fault."""
    longest = _spoken_delay(c.text, hints["delayLeads"])
    if kind in ("rate_limit", "quota", "overloaded"):
        longest = max(longest, _spoken_delay(c.text, hints["looseDelayLeads"]))
    return times.bounded(longest)


def _spoken_delay(text: str, leads: Sequence[str]) -> int:
    longest = 0
    for lead in leads:
        i = text.find(lead)
        while i >= 0:
            i += len(lead)
            longest = max(longest, times.leading_delay(text, i))
            i = text.find(lead, i)
    return longest


def _spoken_date(c: Reading) -> Optional[int]:
    """Finds "regain access on 2026-04-01 at 00:00 UTC"."""
    for lead in hints["dateLeads"]:
        i = c.text.find(lead)
        if i >= 0:
            at = times.leading_date(c.text, i + len(lead))
            if at is not None:
                return at
    return None


def _hint_at(c: Reading, at: int) -> Hint:
    """The hint of a date: none where it is past, or too far away to be believed."""
    if c.now is None:
        return Hint(0, at if times.is_moment(at) else None)
    until = at - c.now
    if until <= 0 or until > _MAX_RESET:
        return Hint()
    return Hint(times.bounded(until), at)


def _reset_hint(c: Reading) -> Hint:
    """Reads the headers and fields that say when a used-up allowance is full again."""
    allowances = {name: value for name, value in c.headers.items() if "ratelimit" in name}
    resets: List[str] = sorted(name for name in allowances if "reset" in name)
    hint = Hint()
    for name in resets:
        left = allowances.get(name.replace("reset", "remaining", 1), "")
        status = allowances.get(name.replace("reset", "status", 1), "")
        if not (left not in ("", "0") or status.startswith("allowed")):
            hint = hint.later(_parse_reset(c, trim(allowances[name])))
    return hint.later(_parse_reset(c, c.body.reset.value)) if c.body.reset.value else hint


def _parse_reset(c: Reading, value: str) -> Hint:
    """Reads RFC 3339, seconds or milliseconds since 1970, a duration, or seconds."""
    at = times.rfc3339(value)
    if at is None:
        n = times.decimal(value)
        if n is None or not 1e9 < n < 1e13:
            return Hint(times.bounded(times.duration(value)))
        at = int(n / 1000 if n > 1e11 else n) * times.SECOND
    return Hint() if c.now is None else _hint_at(c, at)


if TYPE_CHECKING:
    from typing import Callable

    from ._body import Told

    Reader = Callable[[str], int]
