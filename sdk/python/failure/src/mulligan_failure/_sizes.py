"""The figures of a request that is too long, in whatever words they are told."""

from __future__ import annotations

import re
from typing import Any, List, Tuple

from ._tables import tables

_sizes: Any = tables["sizes"]
_figure = re.compile(r"([0-9]+(?:[,_][0-9]+)*)(?:(?:\.([0-9]{1,3}))?([km]))?")
_joined_before = re.compile("[A-Za-z_./:#$-]")
_joined_after = re.compile("[A-Za-z_%]|[./:-][0-9]")
_times = {"": 1, "k": 1000, "m": 1_000_000}


def is_overflow(text: str) -> bool:
    """Whether text, in lower case, gives a bound of tokens and a larger number of them."""
    if not any(name in text for name in _sizes["names"]) or any(word in text for word in _sizes["unless"]):
        return False
    found = _figures(text)
    has, takes = 0, 0
    for i, (start, end, n) in enumerate(found):
        before = text[found[i - 1][1] if i > 0 else 0 : start]
        after = text[end : found[i + 1][0] if i + 1 < len(found) else len(text)]
        if i + 1 < len(found) and after.rstrip(" =:(") in _sizes["after"]:
            after = ""  # it names the next one: limit=200000
        if not _is_bound(before, after):
            has = max(has, n)
        elif takes == 0 or n < takes:
            takes = n
    return 0 < takes < has


def _figures(text: str) -> List[Tuple[int, int, int]]:
    found = []
    for match in _figure.finditer(text):
        digits, decimals, unit = match.groups("")
        n = 0
        if len(digits) <= 12:
            whole = int(digits.replace(",", "").replace("_", ""))
            n = whole * _times[unit] + int(decimals.ljust(3, "0")) * _times[unit] // 1000
        start, end = match.span()
        joined = start > 0 and _joined_before.match(text[start - 1]) or _joined_after.match(text, end)
        if _sizes["min"] <= n <= _sizes["max"] and not joined:
            found.append((start, end, n))
    return found


def _is_bound(before: str, after: str) -> bool:
    clause = re.split("[,.;\n]", before)[-1]
    return any(word in clause for word in _sizes["bounds"]) or after.startswith(tuple(_sizes["after"]))
