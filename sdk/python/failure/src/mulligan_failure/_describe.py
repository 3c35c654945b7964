"""What people are told about a failure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ._tables import limits, tables
from ._text import capital, clip, lower, provider_name, sentence, shown, size, spell, status_url, tidy

_wordings = tables["wordings"]
_hole = re.compile(r"\{([^}]*)\}")
_overflows = [re.compile(form.replace("(?i)", "", 1), re.I) for form in tables["overflows"]]
_HALF_DAY = 12 * 3_600_000


class Facts(NamedTuple):
    """What the words may mention."""

    kind: str
    variant: str
    phase: str
    provider: str
    model: str
    http_status: int
    retry_after_ms: int
    resets_at: Optional[datetime]
    detail: str
    error: Optional[str]


def describe(f: Facts) -> Tuple[str, str]:
    """The title, and the message, which never repeats it."""
    known = _placeholders(f)
    title_form, sentences = _wording(f)
    title = _fill(title_form, known)
    if title is None:
        title = _wordings["plainTitles"].get(f.kind) or "The call failed"
    title = clip(tidy(title), 300)
    said = [text for text in (_say(ways, known, title) for ways in sentences) if text is not None]
    return title, clip(" ".join(said) or "The details may say more.", limits["message"] - size(title))


def _wording(f: Facts) -> Tuple[str, List[List[str]]]:
    base: Any = _wordings["kinds"].get(f.kind) or _wordings["kinds"]["unknown"]
    name = f.variant
    if f.kind == "content_filter" and not name and f.phase in ("mid_stream", "end_of_stream"):
        name = "output"
    variant = base.get("variant", {}).get(name, {})
    return variant.get("title") or base["title"], variant.get("message") or base.get("message", [])


def _placeholders(f: Facts) -> Dict[str, str]:
    """The words for the {placeholders}; what is not known is not in it."""
    known = {"provider": "the provider", "model": "this model", "tool": "the tool", "proxy": "the proxy"}
    entry = f.provider or (f.model.partition("/")[0] if "/" in f.model else "")
    has, takes = overflow_of(f.detail) if f.kind == "context_overflow" else (0, 0)
    for name, value in (
        ("provider", clip(provider_name(entry), 100)),
        ("providerName", clip(provider_name(entry), 100)),  # where "the provider" would not do
        ("model", clip(_model_name(shown(f.model)), 200)),
        ("status", provider_name(entry) + " status" if status_url(entry) else ""),
        ("httpStatus", str(f.http_status) if f.http_status >= 300 else ""),
        ("resetsIn", spell(f.retry_after_ms) if f.retry_after_ms > 0 else ""),
        ("resetsAt", _clock(f)),
        ("contextTokens", _counted(has)),
        ("contextLimit", _counted(takes)),
        ("providerMessage", _quotable(f.detail)),
        ("reason", _reason(f)),
    ):
        value = shown(value)
        if value:
            known[name] = value
    for name in ("provider", "model", "tool", "proxy", "reason"):
        value = known.get(name, "")
        if name == "reason" and value:
            known["Reason"] = sentence(value)
        elif value:
            known[capital(name)] = capital(value) if value.startswith(("the ", "this ")) else value
    return known


def _model_name(model: str) -> str:
    """A model's name without its entry: "claude" of "anthropic/claude"."""
    return model.partition("/")[2] if "/" in model else model


def _clock(f: Facts) -> str:
    if f.resets_at is None:
        return ""
    clock = f.resets_at.strftime("%H:%M UTC")
    if f.retry_after_ms == 0 or f.retry_after_ms > _HALF_DAY:
        month = "January February March April May June July August September October November December".split()
        clock += f" on {month[f.resets_at.month - 1]} {f.resets_at.day}"
    return clock


def _counted(n: int) -> str:
    return f"{n:,}" if n > 0 else ""


def _reason(f: Facts) -> str:
    reason: str = _wordings["reasons"].get(f.kind, {}).get(f.variant, "")
    return reason or (_quotable(f.error) if f.kind == "prompt_failure" and f.error else "")


def _quotable(text: str) -> str:
    """The first of the provider's words, short enough to be quoted in a line; not a document."""
    text = shown(clip(text, 1024))
    return "" if "{" in text or "}" in text else clip(text, 300)


def _say(ways: List[str], known: Dict[str, str], title: str) -> Optional[str]:
    """The first way whose words are all known, and which does not repeat the title."""
    for way in ways:
        text = _fill(way, known)
        if text is not None:
            text = tidy(text)
            if lower(title) not in lower(text):
                return text
    return None


def _fill(form: str, known: Dict[str, str]) -> Optional[str]:
    if any(name not in known for name in _hole.findall(form)):
        return None
    return _hole.sub(lambda hole: known[hole[1]], form)


def overflow_of(text: str) -> Tuple[int, int]:
    """What a provider told about a conversation that is too long: what it has, and what the model takes."""
    for form in _overflows:
        match = form.search(text)
        if match is not None:
            told = {name: int(number.replace(",", "").replace("_", "")) for name, number in match.groupdict().items()}
            has, takes = told.get("has", 0), told.get("takes", 0)
            return (has if has > takes else 0), takes
    return 0, 0

