"""A message without what programs put around it in passing it on."""

from __future__ import annotations

import re

from ._body import exception_name, http_status
from ._causes import next_word
from ._tables import limits, tables
from ._text import fields, head, is_lower, size

_frame_words = frozenset(tables["frames"]["words"])
_status_words = frozenset(tables["frames"]["statusWords"])
_colours = re.compile(r"\x1b(?:\[[0-9;?]{0,32}[A-Za-z]?)?")
_white = re.compile("[ \t\r\n\u00a0]+")
_request_id = re.compile("[rR]equest[ _-]{0,32}[iI][dD][:= #\"']{1,32}([A-Za-z0-9_@-]{1,64})")
_retrying = re.compile("[rR]etrying in [0-9.]{1,32} {0,32}[a-z]{0,32}")
_full_name = re.compile("[A-Za-z0-9_.]+")
_java = frozenset(("java", "javax", "com", "org", "io", "dev", "net", "kotlin", "reactor", "ai"))


def bare(text: str) -> str:
    """A message without a terminal's colours, ids of requests, when the program itself tries again, and the packages
    of Java's exceptions, with one space between words; a line that goes on with a small letter is the same sentence."""
    text = _request_id.sub(_without_id, _one_spaced(_colours.sub("", text)))
    return _full_name.sub(_without_package, _retrying.sub("", text))


def _one_spaced(text: str) -> str:
    def space(run: "re.Match[str]") -> str:
        lines = run[0].count("\n")
        goes_on = run.start() > 0 and is_lower(text[run.end() : run.end() + 1] or " ")
        return "\n" if lines > 1 or lines == 1 and not goes_on else " "

    return _white.sub(space, text)


def _without_id(found: "re.Match[str]") -> str:
    name = found[1]
    return "" if len(name) >= limits["id"] and any(char in "0123456789" for char in name) else found[0]


def _without_package(found: "re.Match[str]") -> str:
    name = found[0]
    before = name.partition("Exception")[0] if "Exception" in name else ""
    return name[before.rfind(".") + 1 :] if before.partition(".")[0] in _java else name


def unframed(text: str) -> str:
    """A message without the beginnings that say no more than that something failed."""
    for _ in range(limits["frames"]):
        n = _frame_length(text)
        if n == 0:
            break
        text = text[n:]
    return text


def _frame_length(text: str) -> int:
    start = head(text, limits["frame"])
    if start.startswith("code = "):  # of gRPC
        i = start.find(" desc = ")
        if i >= 0:
            return i + len(" desc = ")
    if ") when calling the " in start and start.startswith("An error occurred ("):  # of AWS
        for end in (" operation: ", "): "):
            i = text.find(end)
            if i >= 0 and size(text[:i]) < 2 * limits["frame"]:
                return i + len(end)
    i = start.find(":")
    while i >= 0 and i + 1 < len(start) and start[i + 1] not in " \n":
        i = start.find(":", i + 1)
    if i < 0 or i + 2 >= len(text) or not is_frame(start[:i]):
        return 0
    return i + 2


def is_frame(start: str) -> bool:
    """Whether all words are such as any failure is told with, or those of the name of a status after its number."""
    numbered = any(http_status(word.strip("()[]")) for word in fields(start))
    i = 0
    while True:
        word, i = next_word(start, i)
        if not word:
            return True
        if size(word) > 1 and word not in _frame_words and not (numbered and word in _status_words):
            return False


def name_of(said: str) -> str:
    """The name of the exception of a message, behind its frames if it is there."""
    return exception_name(said) or exception_name(unframed(said))
