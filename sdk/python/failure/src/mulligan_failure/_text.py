"""Text: bounded, valid, plain, and fit for people. Limits are in bytes of UTF-8, as in Go."""

from __future__ import annotations

import re
import unicodedata
from html.entities import html5
from typing import List, Union

from ._tables import texts

SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_spaces = re.compile(f"[{SPACE}]+")
_invalid = re.compile("[\ud800-\udfff]+")


def valid(text: Union[str, bytes]) -> str:
    """Text of which every run of bytes or surrogates that are no character is one U+FFFD."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    return text if text.isascii() else _invalid.sub("\ufffd", text)


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def head(text: str, n: int) -> str:
    """As many whole characters from the beginning as n bytes hold."""
    text = text[:n]
    return text if text.isascii() else text.encode()[:n].decode("utf-8", "ignore")


def clip(text: str, n: int) -> str:
    """Text of at most n bytes, which ends in "…" where it was cut."""
    if len(text) <= n and size(text) <= n:
        return text
    return head(text, n - len("…".encode())) + "…"


def lower(text: str) -> str:
    """Each character's own small letter: no rule of a language, and never two for one."""
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "i").replace("Σ", "σ").lower()


def trim(text: str) -> str:
    return text.strip(SPACE)


def fields(text: str) -> List[str]:
    return [word for word in _spaces.split(text) if word]


def lines(text: str) -> List[str]:
    """The lines of text, each with its end."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + parts[-1:] if parts[-1] else [part + "\n" for part in parts[:-1]]


def is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def is_upper(char: str) -> bool:
    return bool(char) and unicodedata.category(char) == "Lu"


def is_lower(char: str) -> bool:
    return bool(char) and unicodedata.category(char) == "Ll"


_control = {i: " " for i in [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]}


def tidy(text: str) -> str:
    """One line without control characters."""
    return " ".join(text.translate(_control).split())


def is_tidy(text: str) -> bool:
    return text != "" and tidy(text) == text


def capital(text: str) -> str:
    first = text[:1].upper()
    return first + text[1:] if len(first) == 1 else text


def sentence(text: str) -> str:
    """Begins with a capital and ends with a full stop."""
    text = capital(text)
    return text if text.endswith((".", "!", "?", "…")) else text + "."


def spell(ms: int) -> str:
    """A duration for people: 2 min, 30 min 2 s, 250 ms."""
    if ms < 1000:
        return f"{ms} ms"
    left, parts = (ms + 500) // 1000, []
    for unit, name in ((3600, "h"), (60, "min"), (1, "s")):
        if left // unit:
            parts.append(f"{left // unit} {name}")
            left %= unit
    return " ".join(parts[:2])


# Markup.

_windows = (
    "\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f"
    "\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178"
)
_reference = re.compile("&(?:#|([a-zA-Z0-9]+;?))")
_LONGEST_BARE = 6


def unescape(text: str) -> str:
    """What HTML's references to characters stand for, as Go's package html reads them."""
    out: List[str] = []
    kept, at = 0, text.find("&")
    while at >= 0:
        match = _reference.match(text, at)
        if match is None:
            at = text.find("&", at + 1)
            continue
        value, end = _numbered(text, at) if match[1] is None else _named(match[1], at)
        if end > at:
            out += [text[kept:at], value]
            kept = end
        at = text.find("&", max(end, at + 1))
    return "".join(out) + text[kept:]


def _named(name: str, at: int) -> "tuple[str, int]":
    if name in html5:
        return html5[name], at + 1 + len(name)
    for n in range(min(len(name) - 1, _LONGEST_BARE), 1, -1):
        if name[:n] in html5:
            return html5[name[:n]], at + 1 + n
    return "", at


def _numbered(text: str, at: int) -> "tuple[str, int]":
    rest = text[at : at + 4]
    if len(rest) < 4:
        return "", at
    hexadecimal = rest[2] in "xX"
    i, x = at + 3 if hexadecimal else at + 2, 0
    base, digits = (16, "0123456789abcdefABCDEF") if hexadecimal else (10, "0123456789")
    while i < len(text) and text[i] in digits:
        x = (x * base + int(text[i], 16)) & 0xFFFFFFFF
        i += 1
    if i < len(text) and text[i] == ";":
        i += 1
    if i - at <= 3:
        return "", at
    if 0x80 <= x <= 0x9F:
        return _windows[x - 0x80], i
    if x == 0 or 0xD800 <= x <= 0xDFFF or x > 0x10FFFF:
        return "\ufffd", i
    return chr(x), i


def plain(text: str) -> str:
    """What a person would read of text that may be HTML."""
    if "<" not in text:
        return trim(text)
    return " ".join(fields(_without_tags(unescape(_without_tags(text)))))


def _is_script(text: str, at: int) -> bool:
    return text[at + 1 : at + 7].lower().startswith(("script", "style"))


def _is_tag(text: str, at: int) -> bool:
    char = text[at + 1 : at + 2]
    return char in ("/", "!", "?") or char.isascii() and char.isalpha()


def _without_tags(text: str) -> str:
    """Puts a space in the place of every tag, and of what a script or style holds."""
    out: List[str] = []
    at = 0
    while at < len(text):
        begin = text.find("<", at)
        if begin < 0:
            out.append(text[at:])
            break
        out.append(text[at:begin])
        if not _is_tag(text, begin):
            out.append("<")
            at = begin + 1
            continue
        end = text.find(">", begin)
        if end < 0:
            break
        at = end + 1
        if _is_script(text, begin):
            closing = text.find("</", at)
            at = closing if closing >= 0 else len(text)
        out.append(" ")
    return "".join(out)


def without_scripts(text: str) -> str:
    """Leaves out scripts and styles alone, so that JSON in a page stays as it is."""
    out: List[str] = []
    at = 0
    while True:
        begin = text.find("<", at)
        if begin < 0:
            return "".join(out) + text[at:]
        out.append(text[at:begin])
        if _is_script(text, begin):
            closing = text.find("</", begin + 1)
            at = closing if closing >= 0 else len(text)
        else:
            out.append("<")
            at = begin + 1


# Stacks and keys.


def without_stack(text: str) -> str:
    """Leaves out the lines in which a program says where it was."""
    if "\n" not in text:
        return text
    kept = []
    for line in lines(text):
        if line.startswith("goroutine ") and "[" in line:
            break
        bare = trim(line)
        if not (
            bare.startswith("at ") and (line[0] in " \t" or bare.endswith(")"))
            or bare.startswith("Traceback (most recent call last)")
            or bare.startswith('File "') and ", line " in bare
        ):
            kept.append(line)
    return "".join(kept)


_stack_tail = re.compile(texts["stackTail"])
_key_prefixes = tuple(texts["keyPrefixes"])
_MIN_KEY = texts["minKey"]
_token = re.compile(r"[A-Za-z0-9_\-.+*]+")
_userinfo = re.compile(r'://[^@/ "]*@')


def shown(text: str) -> str:
    """Somebody else's words, fit to stand in a sentence."""
    if is_tidy(text) and size(text) < _MIN_KEY and "<" not in text:
        return text
    text = tidy(plain(without_stack(text)))
    cut = _stack_tail.search(text)
    return _without_keys(text if cut is None else trim(text[: cut.start()]))


def _without_keys(text: str) -> str:
    out: List[str] = []
    kept, bearer, i = 0, False, 0
    while i < len(text):
        match = _token.match(text, i)
        if match is None:
            bearer = bearer and text[i] in " :"
            userinfo = _userinfo.match(text, i)
            if userinfo is not None:
                out += [text[kept:i], "://…@"]
                i = kept = userinfo.end()
            else:
                i += 1
            continue
        token, end = match[0], match.end()
        if len(token) >= _MIN_KEY and (bearer or token.startswith(_key_prefixes)):
            out += [text[kept:i], "…"]
            kept, bearer = end, False
        else:
            bearer = token.lower() == "bearer"
        i = end
    return "".join(out) + text[kept:]


def _provider(entry: str) -> "List[str] | None":
    if size(entry) > 200:
        return None
    name = lower(entry)
    while name not in texts["providers"]:
        end = max(name.rfind(mark) for mark in "-_.:@ ")
        if end < 0:
            return None
        name = name[:end]
    known: List[str] = texts["providers"][name]
    return known


def provider_name(entry: str) -> str:
    """How people call the provider behind an entry: "openai-work" is OpenAI."""
    known = _provider(entry)
    return known[0] if known else entry


def status_url(entry: str) -> str:
    """The status page of the provider behind an entry, "" where none is known."""
    known = _provider(entry)
    return known[1] if known else ""
