"""What counts more than what: the steps from evidence to a kind."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, Tuple

from . import _times as times
from ._bare import unframed
from ._causes import cause_of, says_day
from ._hints import spoken_hint
from ._reading import Reading, flat, says
from ._sizes import is_overflow
from ._tables import Rule, codes, kind_of_status, limits, rules, tables
from ._text import lower, size


class Verdict(NamedTuple):
    """A kind, and what the rule that gave it said about it."""

    kind: str
    variant: str = ""
    retryable: Optional[bool] = None
    code: str = ""
    daily: bool = False
    """A day's allowance is used up: a wait of seconds beside it is not meant."""


def verdict_of(c: Reading) -> Tuple[Verdict, int]:
    """The verdict of the first step that knows the failure, and how sure it is, of a hundred."""
    for row in tables["precedence"]:
        verdict = _steps[row["step"]](c)
        if verdict is not None:
            return verdict, row["confidence"]
    return Verdict("unknown"), 0


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
    missing = c.status == 404 and (page or c.body.members == 0 and c.is_page)
    if missing or says(c.text, ("404 page not found", "404 status code (no body)")):
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
    if 429 not in (c.status, c.spoken) and exhausted is None and "quota will reset" not in c.text:
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


def _by_code_words(c: Reading) -> Optional[Verdict]:
    """The words of a code that no table has: BILLING_PAUSED."""
    family = _family(c.status)
    if not family and c.status and not 200 <= c.status <= 299:
        return None
    for code in c.codes:
        if code.flat in codes["known"] or size(code.written) > limits["likeCode"]:
            continue
        verdict = _by_causes(c, code.written, family)
        if verdict and (verdict.kind != "unavailable" or family):
            return verdict._replace(code=code.lower)
    return None


def _by_refusal(c: Reading) -> Optional[Verdict]:
    """Why a call failed whose status, or a code that says no more than one of 400 or 500, says less than its words."""
    family, silent = _family(c.status), not c.status
    invalid = silent and c.code_of(codes["invalid"]) is not None
    if invalid:
        family = _family(400)
    elif silent and _family(c.spoken):
        family = _family(c.spoken)
    elif not family and _by_rules(c, "serverCodes", c.text):
        family = _family(503)
    verdict = _by_clauses(c, family) if family else None
    spoken = _by_spoken_status(c) if silent and not invalid else None
    return None if verdict and spoken and spoken.kind == verdict.kind else verdict


def _of_limit(c: Reading, verdict: Optional[Verdict]) -> Optional[Verdict]:
    """A quota, where a general code or a name tells of a limit and the words of a day or a month."""
    if verdict is None or verdict.kind != "rate_limit":
        return verdict
    said = _by_clauses(c, _family(429))
    if said is None or said.kind != "quota" or not says_day(unframed(c.bare)):
        return verdict
    return said._replace(code=verdict.code)


def _by_cause(c: Reading) -> Optional[Verdict]:
    return _by_clauses(c, 0)


def _family(status: int) -> int:
    """The family of HTTP statuses that say less than words; 0: none."""
    return int(tables["families"].get(str(status), 0))


def _by_clauses(c: Reading, family: int) -> Optional[Verdict]:
    """What the words say that are not those of a frame and, where nothing else does, all of them."""
    if (not family or family & (_family(400) | _family(500))) and is_overflow(c.text):
        return Verdict("context_overflow")
    own = unframed(c.bare)
    verdict = _by_causes(c, own, family)
    return verdict if verdict or family or own == c.bare else _by_causes(c, c.bare, 0)


def _by_causes(c: Reading, said: str, family: int) -> Optional[Verdict]:
    found = cause_of(said, family, says(c.text, tables["minutely"]))
    if found is None:
        return None
    return Verdict("stream_interrupted" if found.wire and c.streaming else found.kind, found.variant)


def _is_late(c: Reading) -> bool:
    """Whether the words are about time that ran out."""
    return any(verdict and verdict.kind == "timeout" for verdict in (_by_words(c), _by_cause(c)))


def _by_status(c: Reading) -> Optional[Verdict]:
    kind, variant = kind_of_status(c.status)
    if c.status == 404 and c.code_of(codes["request"]) and "model" not in c.text:
        return _NO_API
    if c.status == 504 and not _is_late(c):
        kind = "unavailable"  # a gateway's word for whatever is behind it
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
    if c.spoken in (502, 503, 504, 522, 524):
        kind = "unavailable"
    return Verdict(kind, variant) if kind else None


def _transport(c: Reading) -> str:
    """The words of the error before the body's."""
    return c.wire + "\n" + c.text if c.wire and c.wire != c.text else c.text


def _by_wrapper(c: Reading) -> Optional[Verdict]:
    """The names of errors that say least."""
    return _by_rules(c, "wrappers", _transport(c))


def _by_words(c: Reading) -> Optional[Verdict]:
    """What the transport says, or whoever passed a failure on with a message alone."""
    verdict = _by_rules(c, "loose", _transport(c))
    if verdict and verdict.kind == "timeout" and "lookup " in c.wire:
        return verdict._replace(kind="unreachable")
    return _of_limit(c, verdict)


def _by_end(c: Reading) -> Optional[Verdict]:
    """How it ended, where nothing was said."""
    if c.odd:
        return Verdict(kind_of_status(c.odd)[0])
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
    "the words of a code": _by_code_words,
    "a general code": lambda c: _of_limit(c, _by_rules(c, "generalCodes", c.text)),
    "why it was refused": _by_refusal,
    "a code that says no more than 500": _by_table("serverCodes"),
    "the status": _by_status,
    "a code that says no more than 400": _by_invalid_code,
    "an empty answer": _by_answer,
    "a status in the message": _by_spoken_status,
    "loose words": _by_words,
    "a cause in any words": _by_cause,
    "a wrapper's name": _by_wrapper,
    "how it ended": _by_end,
}
