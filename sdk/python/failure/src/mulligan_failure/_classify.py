"""From evidence to a kind: what counts more than what, and the rest of a Failure."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, Tuple

from . import _times as times
from ._causes import cause_of
from ._hints import spoken_hint
from ._reading import Reading, flat, says
from ._tables import Rule, causes, codes, kind_of_status, kinds, limits, rules, tables
from ._text import clip, lower, plain, without_stack


class Verdict(NamedTuple):
    """A kind, and what the rule that gave it said about it."""

    kind: str
    variant: str = ""
    retryable: Optional[bool] = None
    code: str = ""
    daily: bool = False
    """A day's allowance is used up: a wait of seconds beside it is not meant."""


def verdict_of(c: Reading) -> Verdict:
    """The verdict of the first step that knows the failure."""
    for name in tables["precedence"]:
        verdict = _steps[name](c)
        if verdict is not None:
            return verdict
    return Verdict("unknown")


def _by_adapter(c: Reading) -> Optional[Verdict]:
    if not c.e.kind:
        return None
    by = _by_rules(c, "loose", c.text)
    return Verdict(c.e.kind, by.variant if by and by.kind == c.e.kind else "")


def _by_rules(c: Reading, table: str, text: str) -> Optional[Verdict]:
    for rule in rules[table]:
        matches, code = c.match(rule, text)
        if matches:
            return Verdict(_wired(c, rule), rule.variant, rule.retryable, code)
    return None


def _wired(c: Reading, rule: Rule) -> str:
    broke = rule.wire and c.streaming and rule.kind == "unreachable"
    return "stream_interrupted" if broke else rule.kind


def _by_table(table: str) -> "Step":
    return lambda c: _by_rules(c, table, c.text)


_NO_API = Verdict("misconfigured", "no_api")


def _by_page(c: Reading) -> Optional[Verdict]:
    """Answers that no API gave: a log-in page, a bot check, a web server that knows no such path."""
    page = "text/html" in lower(c.header("content-type")) and not c.codes
    check = says(c.text, tables["pages"]["botChecks"])
    status = c.e.status
    if c.header("cf-mitigated") or check and (page or c.raw_body.startswith("<")) and status in (403, 503):
        return Verdict("unreachable", "bot_check", False)
    if page and c.succeeded and not c.streaming:
        return Verdict("unreachable", "page")
    if page and status == 404 or c.text.startswith("404 page not found") or "404 status code (no body)" in c.text:
        return _NO_API
    return _by_nameless(c)


def _by_nameless(c: Reading) -> Optional[Verdict]:
    """A 404 that names nothing that is missing, which is how a web server speaks of a path."""
    if 404 not in (c.status, c.spoken):
        return None
    said = c.text[c.text.rfind("\n") + 1 :].rstrip(". ")
    if said not in tables["pages"]["namelessNotFound"] or c.code_like(sorted(codes["model"])):
        return None
    return _NO_API


def _by_quota(c: Reading) -> Optional[Verdict]:
    """Tells a used-up plan or day from a limit that passes within minutes, by identifiers and figures."""
    exhausted = c.code_of(codes["exhausted"])
    if 429 not in (c.status, c.spoken) and exhausted is None:
        return None
    code = exhausted.lower if exhausted else ""
    if any(says(lower(quota), ("perday", "per_day", "daily")) for quota in c.body.quotas):
        return Verdict("quota", code=code, daily=True)
    long = limits["longDelayMs"]
    if (
        times.bounded(times.duration(c.body.delay.value)) > long
        or "quota will reset" in c.text and spoken_hint(c, "quota") > long
        or c.header("anthropic-ratelimit-unified-status").lower() == "rejected"
    ):
        return Verdict("quota", code=code)
    if any("perminute" in flat(quota) for quota in c.body.quotas):
        return Verdict("rate_limit", code=code)
    return None


def _by_refusal(c: Reading) -> Optional[Verdict]:
    """Why a request was refused with a status that says no more than that."""
    return _by_causes(c, tables["refusals"]) if c.status in (400, 403, 409, 422, 424) else None


def _by_cause(c: Reading) -> Optional[Verdict]:
    return _by_causes(c, len(causes))


def _by_causes(c: Reading, n: int) -> Optional[Verdict]:
    said = c.said or without_stack(clip(c.error or "", limits["cause"]))
    found = cause_of(said, causes[:n])
    if found is None:
        return None
    return Verdict("stream_interrupted" if found.wire and c.streaming else found.kind, found.variant)


def _by_status(c: Reading) -> Optional[Verdict]:
    kind, variant = kind_of_status(c.status)
    if c.status == 404 and c.code_of(codes["request"]) and "model" not in c.text:
        return _NO_API
    return Verdict(kind, variant) if kind else None


def _by_invalid_code(c: Reading) -> Optional[Verdict]:
    code = c.code_of(codes["invalid"])
    return Verdict("invalid_request", code=code.lower) if code else None


def _by_answer(c: Reading) -> Optional[Verdict]:
    """A whole answer that ended as it should and has nothing in it."""
    well = c.status == 0 or 200 <= c.status <= 299
    return Verdict("empty_response") if well and c.body.is_blank_answer and c.code_of(codes["properEnds"]) else None


def _by_spoken_status(c: Reading) -> Optional[Verdict]:
    """A status in a message. Passed on, a 503 or 504 says no more than that the provider has problems."""
    kind, variant = kind_of_status(c.spoken)
    if c.spoken in (502, 503, 504):
        kind = "unavailable"
    return Verdict(kind, variant) if kind else None


def _by_words(c: Reading) -> Optional[Verdict]:
    """What the transport says, or whoever passed a failure on with a message alone."""
    text = c.wire + "\n" + c.text if c.wire and c.wire != c.text else c.text
    verdict = _by_rules(c, "loose", text)
    if verdict and verdict.kind == "timeout" and "lookup " in c.wire:
        return verdict._replace(kind="unreachable")
    return verdict


def _by_end(c: Reading) -> Optional[Verdict]:
    """How it ended, where nothing was said."""
    if c.wire == "eof":
        return Verdict("stream_interrupted" if c.streaming else "unreachable")
    if c.e.timed_out:
        return Verdict("timeout")
    if c.body.is_error:
        return Verdict("unavailable")
    if not c.succeeded:
        return None
    if c.streaming:
        return Verdict("stream_interrupted")
    return Verdict("malformed_response", retryable=False) if c.raw_body or c.error is not None else Verdict("empty_response")


Step = Callable[[Reading], Optional[Verdict]]

_steps: Dict[str, Step] = {
    "the adapter": _by_adapter,
    "a page": _by_page,
    "figures of a quota": _by_quota,
    "exact words": _by_table("exactWords"),
    "a code that names one cause": _by_table("strongCodes"),
    "a sentence": _by_table("sentences"),
    "a general code": _by_table("generalCodes"),
    "why it was refused": _by_refusal,
    "the status": _by_status,
    "a code that says no more than 400": _by_invalid_code,
    "an empty answer": _by_answer,
    "a status in the message": _by_spoken_status,
    "loose words": _by_words,
    "a cause in any words": _by_cause,
    "how it ended": _by_end,
}


def retryable_of(c: Reading, verdict: Verdict) -> bool:
    """Whether the same input may succeed."""
    says_so = lower(c.header("x-should-retry"))
    if says_so in ("true", "false"):
        return says_so == "true"
    if verdict.retryable is not None:
        return verdict.retryable
    return bool(kinds[verdict.kind]["retryable"]) if verdict.kind in kinds else True


def provider_code(c: Reading, verdict: Verdict) -> str:
    """The code that decided, as the provider wrote it, else its first one that is not an envelope's."""
    first = ""
    for code in c.codes:
        if verdict.code and code.lower == verdict.code:
            return code.written
        if not first and code.lower != "error" and not code.in_header:
            first = code.written
    return first


def request_id(c: Reading) -> str:
    named = next((value for name in tables["requestIDHeaders"] for value in [c.header(name.lower())] if value), "")
    return clip(named, limits["requestID"]) or c.body.request_id


def detail(c: Reading) -> str:
    """What the provider said in its own words, else what the transport did."""
    if c.raw_body:
        return clip(c.said or plain(c.raw_body), limits["detail"])
    return clip(plain(c.error or ""), limits["detail"])


def place(kind: str, phase: str, status: int) -> Tuple[str, str]:
    """Origin and phase, where they follow from the rest."""
    if not phase:
        phase = "before_connect" if status == 0 and kind in ("unreachable", "tls") else "before_first_event"
    if kind == "internal":
        return "runner", phase
    if phase == "prompt":
        return "prompt", phase
    return ("tool" if phase == "tool" or kind == "tool_failure" else "model"), phase
