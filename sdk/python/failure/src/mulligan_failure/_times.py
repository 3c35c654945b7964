"""Times and waits, as providers write them. A moment is in nanoseconds since 1970, a wait in milliseconds."""

from __future__ import annotations

import re
from typing import List, Mapping, Optional

from ._tables import hints, limits
from ._text import capital, is_word, lower

SECOND = 1_000_000_000
_YEAR_ONE = -62_135_596_800 * SECOND
_YEAR_10000 = 253_402_300_800 * SECOND
_MAX_DELAY = limits["delayMs"] * 1_000_000
_decimal = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_duration_part = re.compile("([0-9]*)(?:\\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_duration_units = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def decimal(value: str) -> Optional[float]:
    """A number as people and programs write it; None where it is none, or too large for one."""
    if not _decimal.fullmatch(value):
        return None
    n = float(value)
    return n if abs(n) != float("inf") else None


def seconds(n: float) -> int:
    """Nanoseconds of so many seconds, 0 where it is no sensible wait."""
    return 0 if not 0 < n <= _MAX_DELAY / SECOND else int(n * 1e9)


def bounded(ns: int) -> int:
    """Milliseconds, rounded up so that a wait never becomes none; 0 where it is no sensible wait."""
    return 0 if not 0 < ns <= _MAX_DELAY else -(-ns // 1_000_000)


def duration(value: str) -> int:
    """Reads "40s", "6m0s", "900ms", "34.07s" or plain seconds."""
    text = lower(value)
    parsed = _go_duration(text)
    if parsed is not None:
        return parsed
    n = decimal(value)
    return 0 if n is None else seconds(n)


def _go_duration(text: str) -> Optional[int]:
    negative = text[:1] == "-"
    if text[:1] in ("-", "+"):
        text = text[1:]
    if text == "0":
        return 0
    total, i = 0, 0
    while i < len(text):
        match = _duration_part.match(text, i)
        if match is None or not (match[1] or match[2]):
            return None
        unit, fraction = _duration_units[match[3]], (match[2] or "")[:18]
        total += int(match[1][-40:] or "0") * unit if len(match[1]) <= 40 else 1 << 70
        if fraction:
            total += int(float(int(fraction)) * (float(unit) / 10.0 ** len(fraction)))
        if total > 1 << 63:
            return None
        i = match.end()
    if i == 0 or total > (1 << 63) - (0 if negative else 1):
        return None
    return -total if negative else total


def _moment(year: int, month: int, day: int, hour: int, minute: int, second: int, fraction: str = "", offset: int = 0) -> Optional[int]:
    if not 1 <= month <= 12 or not 1 <= day <= _month_days(year, month) or hour > 23 or minute > 59 or second > 59:
        return None
    days = _days_from_civil(year, month, day)
    ns = ((days * 24 + hour) * 60 + minute) * 60 + second - offset
    return ns * SECOND + int((fraction[:9] or "0").ljust(9, "0"))


def _month_days(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 28 + leap if month == 2 else 30 if month in (4, 6, 9, 11) else 31


def _days_from_civil(year: int, month: int, day: int) -> int:
    year -= month <= 2
    era, months = year // 400, (month + 9) % 12
    of_era = year - era * 400
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + (153 * months + 2) // 5 + day - 1 - 719468


_rfc3339 = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))")
_zone = r"(GMT(?:[+-][0-9]{1,2})?|[A-Z]{3,4}|[A-Z]{4}T|ChST|MeST|[+-][0-9]{1,2})"
_clock = r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
_http_dates = tuple(
    re.compile(form, re.I)
    for form in (
        rf"(?P<weekday>[a-z]{{3}}), +([0-9]{{2}}) +([a-z]{{3}}) +([0-9]{{4}}) +{_clock} +(?-i:{_zone})",
        rf"(?P<weekday>[a-z]{{3}}), +([0-9]{{2}}) +([a-z]{{3}}) +([0-9]{{4}}) +{_clock} +([+-])([0-9]{{2}})([0-9]{{2}})",
        rf"(?P<weekday>[a-z]+), +([0-9]{{2}})-([a-z]{{3}})-([0-9]{{2}}) +{_clock} +(?-i:{_zone})",
        rf"(?P<weekday>[a-z]{{3}}) +([a-z]{{3}}) +([0-9]{{1,2}}) +{_clock} +([0-9]{{4}})",
    )
)


def rfc3339(value: str) -> Optional[int]:
    match = _rfc3339.fullmatch(value)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = match.groups()
    offset = int(hours or 0) * 3600 + int(minutes or 0) * 60
    if int(hours or 0) > 24 or int(minutes or 0) > 60:
        return None
    return _moment(int(year), int(month), int(day), int(hour), int(minute), int(second), fraction or "", -offset if sign == "-" else offset)


def http_date(value: str) -> Optional[int]:
    """A date of an HTTP header, in any of its forms."""
    for form, pattern in enumerate(_http_dates):
        match = pattern.fullmatch(value)
        if match is None:
            continue
        parts = list(match.groups())
        weekday = parts.pop(0).lower()
        if weekday not in (_DAYS if form == 2 else tuple(day[:3] for day in _DAYS)):
            continue
        if form == 3:
            month, day, hour, minute, second, fraction, year = parts
            zone: List[str] = []
        else:
            day, month, year, hour, minute, second, fraction, *zone = parts
        if month.lower() not in _MONTHS:
            continue
        offset = _offset(zone)
        number = int(year) if form != 2 else int(year) + (1900 if int(year) >= 69 else 2000)
        at = None if offset is None else _moment(number, _MONTHS.index(month.lower()) + 1, int(day), int(hour), int(minute), int(second), fraction or "", offset)
        if at is not None:
            return at
    return None


def _offset(zone: List[str]) -> Optional[int]:
    """Seconds east of Greenwich; a zone known by its name alone counts as Greenwich."""
    if len(zone) == 3:
        sign, hours, minutes = zone
        if int(hours) > 24 or int(minutes) > 60:
            return None
        return (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
    if not zone:
        return 0
    name = zone[0]
    shift = name[3:] if name.startswith("GMT") else name
    if shift[:1] in ("+", "-") and shift and int(shift[1:]) > 23:
        return None
    if len(name) == 4 and name[0] not in "+-" and not (name.endswith("T") or name == "WITA"):
        return None
    return int(shift) * 3600 if name.startswith("GMT") and shift else 0


# Spoken waits and dates.

_spoken_number = re.compile(r"[0-9.]{0,32}")
_spoken_unit = re.compile(r"[a-z]{0,32}")
_units: Mapping[str, float] = hints["units"]


def leading_delay(text: str, i: int) -> int:
    """The delay that text at i begins with, in nanoseconds: 9.816s, 6m0s, 2 minutes, 1h 5m."""
    total = 0
    for _ in range(4):
        i = _skip_blanks(text, i)
        digits = _spoken_number.match(text, i)
        n = decimal(digits[0].rstrip(".")) if digits else None
        if digits is None or n is None:
            break
        i = _skip_blanks(text, digits.end())
        letters = _spoken_unit.match(text, i)
        if letters is None or letters[0] not in _units:
            break
        i = letters.end()
        total += seconds(n * _units[letters[0]])
    return total


def _skip_blanks(text: str, i: int) -> int:
    while text[i : i + 1] == " ":
        i += 1
    return i


_D = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
_H = "([0-9]{1,2}):([0-9]{2})"
_S = ":([0-9]{2})"
# Each with its length in a text, which is that of Go's layout.
_spoken_dates = tuple(
    (re.compile(form), length, zoned)
    for form, length, zoned in (
        (f"{_D} +AT +{_H}() +{_zone}", 23, True), (f"{_D} +{_H}{_S} +{_zone}", 23, True), (f"{_D} +{_H}() +{_zone}", 20, True),
        (f"{_D}T{_H}{_S}([+-])([0-9]{{2}}):([0-9]{{2}})", 25, True), (f"{_D}T{_H}{_S}Z", 20, False), (f"{_D} +AT +{_H}", 19, False),
        (f"{_D} +{_H}{_S}", 19, False), (f"{_D} +{_H}", 16, False), (_D, 10, False),
    )
)  # fmt: skip


def leading_date(text: str, i: int) -> Optional[int]:
    """The date that text at i begins with."""
    upper = "".join(map(capital, text[i : i + 26]))
    for pattern, length, zoned in _spoken_dates:
        match = pattern.fullmatch(upper[:length])
        if match is None or len(upper) < length or is_word(upper[length : length + 1]):
            continue
        year, month, day, *clock = match.groups()
        hour, minute, second = (int(n or 0) for n in [*clock[:3], "", "", ""][:3])
        offset = _offset(clock[3:]) if zoned else 0
        at = None if offset is None else _moment(int(year), int(month), int(day), hour, minute, second, "", offset)
        if at is not None:
            return at
    return None


def is_moment(ns: Optional[int]) -> bool:
    """Whether it is a time that can be written: Go's zero time is none."""
    return ns is not None and _YEAR_ONE < ns < _YEAR_10000

