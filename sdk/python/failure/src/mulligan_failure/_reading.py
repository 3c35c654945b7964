"""Evidence, read once; and what matches in it."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, AbstractSet, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import _times as times
from ._bare import bare, is_frame, name_of
from ._body import Body, http_status, is_name
from ._causes import ADDRESS_MARK, address_end
from ._tables import Rule, is_odd, limits, tables
from ._text import clip, head, is_word, lower, size, trim, valid, without_stack

if TYPE_CHECKING:
    from ._evidence import Evidence

_flat = str.maketrans("", "", "_- ./:")
_straight = str.maketrans("’‘“”", "''\"\"")
_spoken = tables["spoken"]
_counts = tuple(_spoken["counts"])
_stops = tuple(_spoken["stops"])
_denials = tuple(tables["denials"])


def _straightened(text: str) -> str:
    """Text in the form in which phrases are looked for: in lower case, with straight apostrophes, without the paths
    of links; the address of an API is left as it is."""
    text, parts = lower(text).translate(_straight), []
    while (at := text.find(ADDRESS_MARK)) >= 0:
        end, begin = address_end(text, at), at + len(ADDRESS_MARK)
        address = text[begin:end]
        if not any(mark in address for mark in tables["endpointMarks"]):
            address = address.partition("/")[0]
        parts += [text[:begin], address]
        text = text[end:]
    return "".join(parts) + text


class Code(NamedTuple):
    """One code of a body, header or message."""

    lower: str
    flat: str
    written: str
    in_header: bool


def flat(code: str) -> str:
    """RateLimitExceeded, rate-limit-exceeded and rate_limit_exceeded are one code."""
    return lower(code).translate(_flat)


class Reading:
    def __init__(self, e: Evidence) -> None:
        self.e = e
        self.raw_body = valid(e.body)
        self.error = None if e.error is None else valid(e.error)
        self.headers: Dict[str, str] = {}
        for name in sorted(e.headers, reverse=True):
            value: object = e.headers[name]
            self.headers[lower(name)] = trim(valid(value if isinstance(value, (str, bytes)) else str(value)))
        date = times.http_date(self.header("date"))
        self.now: Optional[int] = date if date is not None else _moment_of(e.at)
        error = without_stack(clip(self.error or "", limits["textScan"]))
        text = self.raw_body or (error if "{" in error or "[" in error else "")
        self.body = Body(text)
        wire = bare(clip(error, limits["words"]))
        self.said = self.body.text
        parts = [bare(each) for each in self.body.words]
        self.bare = (parts[0] if len(parts) == 1 else clip("\n".join(parts), limits["words"])) or wire
        self.wire = _straightened(wire)
        self.text = _straightened(self.bare)
        self.codes: List[Code] = []
        for code in self.body.codes:
            self._add_code(code)
        in_header = self.header("x-amzn-errortype")
        if in_header:
            self._add_code(clip(in_header.partition(":")[0], 128), True)
        said = self.said or error
        name = said if is_name(said) else name_of(said)
        if name:
            self._add_code(name)
        self.status = e.status
        if self.body.status and (e.status == 0 or self.succeeded):
            self.status = self.body.status
        self.odd = 0  # the status where no list has it
        if is_odd(self.status):
            self.status, self.odd = 0, self.status
        self.spoken = spoken_status(self.text)

    def _add_code(self, code: str, in_header: bool = False) -> None:
        self.codes.append(Code(lower(code), flat(code), code, in_header))

    @property
    def succeeded(self) -> bool:
        return 200 <= self.e.status <= 299

    @property
    def streaming(self) -> bool:
        return self.e.phase in ("mid_stream", "end_of_stream")

    @property
    def is_page(self) -> bool:
        """What came is a page, whatever it was called."""
        n = limits["lead"]
        body = valid(self.e.body[:n]) if isinstance(self.e.body, bytes) else head(self.raw_body, n)
        return says(lower(body if self.raw_body else self.error or ""), ("<!doctype html", "<html"))

    def header(self, name: str) -> str:
        return self.headers.get(name, "")

    def code_of(self, codes: AbstractSet[str]) -> Optional[Code]:
        """The first code that is one of these."""
        return next((have for have in self.codes if have.flat in codes or have.lower in codes), None)

    def code_like(self, patterns: Sequence[str]) -> Optional[Code]:
        """The first code that is like one of these patterns: it has the pieces between their stars, in order."""
        for have in self.codes:
            if size(have.written) <= limits["likeCode"] and any(_is_like(have.flat, pattern) for pattern in patterns):
                return have
        return None

    def match(self, rule: Rule, text: str) -> Tuple[bool, str]:
        """Whether a rule matches what was said, and the code by which it does."""
        code = ""
        if rule.status and self.status not in rule.status:
            return False, code
        if rule.codes or rule.like:
            found = self.code_of(rule.codes) or self.code_like(rule.like)
            if found is None:
                return False, code
            code = found.lower
        if rule.any and not _claims_near(text, rule.any, rule.near):
            return False, code
        if not all(_claimed_at(text, phrase, 0) >= 0 for phrase in rule.all):
            return False, code
        if says(text, rule.unless):
            return False, code
        return self.code_of(frozenset(rule.unless)) is None, code


def _moment_of(at: Optional[datetime]) -> Optional[int]:
    if at is None:
        return None
    since = at.astimezone(timezone.utc) - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return ((since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds) * 1000


def says(text: str, phrases: Sequence[str]) -> bool:
    return any(phrase in text for phrase in phrases)


def _claimed_at(text: str, phrase: str, start: int) -> int:
    """Where a phrase is said of what happened: "this is not a rate limit" names one, and claims none."""
    i = text.find(phrase, start)
    while i >= 0 and text.endswith(_denials, 0, i):
        i = text.find(phrase, i + len(phrase))
    return i


def _claims_near(text: str, phrases: Sequence[str], near: Sequence[str]) -> bool:
    """Whether one of the phrases is claimed, and soon after it one of near said, where there are any."""
    if near and not says(text, near):
        return False
    for phrase in phrases:
        i = _claimed_at(text, phrase, 0)
        while i >= 0:
            i += len(phrase)
            if not near or says(head(text[i : i + limits["near"]], limits["near"]), near):
                return True
            i = _claimed_at(text, phrase, i)
    return False


def _is_like(code: str, pattern: str) -> bool:
    at = 0
    for piece in pattern.split("*"):
        i = code.find(piece, at)
        if i < 0:
            return False
        at = i + len(piece)
    return True


# Statuses in words.


def spoken_status(text: str) -> int:
    """The number that text begins with, that follows the name of a status field, that has its own name after it, or
    that stands after the colon of an HTTP error; 0 where there is none. A number anywhere else is not a
    status."""
    lead = text.lstrip(" \n[(")
    for _ in range(limits["leads"]):
        status = _leading_status(_without_leads(lead), 0)
        if status:
            return status
        i = lead[: limits["lead"]].find(": ")
        before = lead[: max(i, 0)]
        framed = is_frame(before) and not before.endswith("code")
        if i < 0 or size(before) + 2 > limits["lead"] or not (before.endswith(("error", "exception")) or framed):
            break
        lead = lead[i + 2 :]
    for name in _spoken["names"]:
        status = _named_status(text, name)
        if status:
            return status
    phrase = next((phrase for phrase in _spoken["phrases"] if phrase in text), "")
    i = text.find(phrase)
    if phrase and (i == 0 or not is_word(text[i - 1])):
        return int(phrase[:3])
    _, _, after = text.partition("http error ")
    i = head(after, limits["lead"]).find(": ")
    return _leading_status(after, i + 2) if i >= 0 else 0


def _without_leads(text: str) -> str:
    for _ in range(2):
        for lead in _spoken["leads"]:
            if text.startswith(lead):
                text = text[len(lead) :]
    return text


def _named_status(text: str, name: str) -> int:
    start = 0
    while True:
        i = text.find(name, start)
        if i < 0:
            return 0
        whole = i == start or not is_word(text[i - 1]) or text[i - 1] == "_"  # provider_http_402
        start = i + len(name)
        at = start
        while text[at : at + 1] in (" ", ":", "=", '"', "'", "(", "_", "：", "（"):
            at += 1
        status = _leading_status(text, at) if whole else 0
        if status:
            return status


def _leading_status(text: str, i: int) -> int:
    """The status that text at i begins with. What goes on as an amount, an identifier, a date or a count is none."""
    status = http_status(text[i : i + 3]) if text[i : i + 1].isdigit() else 0
    after = text[i + 3 : i + 4]
    if not status or not after or after in _stops:
        return status
    if is_word(after) or not after.isascii() or after in "%$#*+@":
        return 0
    following = text[i + 4 : i + 5] or " "
    if after == ":" and following.isascii() and following.isalpha():  # http_500:boom
        return status
    if after in ".,:-/" and is_word(following):
        return 0
    i += 3
    while text[i : i + 1] == " ":
        i += 1
    return 0 if (text[i : i + 32] + " ").startswith(_counts) else status
