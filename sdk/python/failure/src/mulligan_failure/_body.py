"""What a body says, wherever in its wrappings it says it: JSON, JSON inside strings, stream events, HTML around
any of these, a document that was cut short, an object as Python, JavaScript and Rust print it."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Tuple

from ._tables import limits, tables
from ._text import clip, lines, lower, plain, size, trim, unescape, without_scripts, without_stack

_fields = tables["fields"]
_WHITE = " \n\r\t"
_start = re.compile('[{["]')
_plain_run = re.compile(r"""[^{}\[\]",]+""")
_string = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.S)
_word = re.compile(r"[A-Za-z0-9_\-@]{0,64}")
_parted = re.compile(r"[a-z][A-Z]")
_literal_end = re.compile(r"[,}\]) \r\n\t]")
_nested = re.compile(r"""["'{}\[\]]""")
_escape = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\(.)", re.S)
_status = re.compile(r"\+?0*([345][0-9]{2})")
_labels = frozenset(("type", "role", "id", "status", "object", "phase"))


class Told(NamedTuple):
    """The value of a field, and the field's name."""

    name: str = ""
    value: str = ""


def http_status(text: str) -> int:
    """A number that can be a status of a failure, or 0."""
    match = _status.fullmatch(text)
    return int(match[1]) if match else 0


class Body:
    """The signals of a body."""

    def __init__(self, body: str = "") -> None:
        self.codes: List[str] = []
        self.quotas: List[str] = []
        self.status = 0
        self.words: List[str] = []
        self.delay = self.after = self.reset = Told()
        self.request_id = ""
        self.is_error = self.answered = self.blank = self.piece = False
        self.members = self.work = 0
        if body:
            body = clip(body, limits["textScan"])
            if "&quot;" in body or "&#34;" in body:
                body = unescape(body)
            if trim(body).startswith("<"):
                body = without_scripts(body)
            if '"' in body and body.partition('"')[0].endswith("{\\"):
                body = _unquote(body)  # as a log prints it, inside a string
            self._read(body, 0)
            for code in self.codes:  # a sentence where a code should be is the only one
                if not self.words and " " in code:
                    self._say(code)

    @property
    def text(self) -> str:
        """All that was said, in the order in which it was."""
        return self.words[0] if len(self.words) == 1 else clip("\n".join(self.words), limits["words"])

    @property
    def is_blank_answer(self) -> bool:
        return self.blank and not (self.answered or self.piece or self.is_error)

    def _read(self, text: str, depth: int) -> None:
        self.work += size(text)
        if self.work > limits["work"]:
            return
        match = _start.search(text)
        if match is None:
            self._say(plain(text))
            return
        start, members, said = match.start(), self.members, len(self.words)
        end, whole = self._scan(text[start:], depth)
        if self.members > members:
            before = trim(plain(_event_prefix(text[:start])))
            if before and len(self.words) < limits["signals"]:
                self.words.insert(said, clip(before, limits["detail"]))
            self._say(plain(_event_prefix(text[start + end :])))
        elif not whole or start > 0:
            self._say(plain(text))

    def _scan(self, text: str, depth: int) -> Tuple[int, bool]:
        """Goes once through text. Says where the last document ends, and whether text is nothing but a string."""
        level, closed, before, whole, i = 0, -1, "", False, 0
        while i < len(text):
            char = text[i]
            if char in _WHITE:
                i += 1
                continue
            if char in "{[":
                level += 1
            elif char in "}]":
                level -= 1
                if level <= 0:
                    closed = i + 1
            elif before not in ("{", ","):
                run = _plain_run.match(text, i)
                if run is not None:
                    i, before = run.end(), "x"
                    continue
            name, after, ok = _key(text, i, before)
            if ok:
                i = self._member(name, char in "\"'", text, after, depth)
                if closed >= 0:
                    closed = i
            elif char == '"':
                whole = i == 0 and not trim(text[after:])
                self._loose(name, whole, depth)
                i = after
            else:
                i += 1
            before = char
        return (len(text) if level > 0 or closed < 0 else closed), whole

    def _loose(self, raw: str, whole: bool, depth: int) -> None:
        """Takes a string that is not a member's: one in an array, or the whole text."""
        if depth < limits["nesting"] and ("{" in raw or "[" in raw):
            self._read(_unquote(raw), depth + 1)
        elif whole:
            self._say(_unquote(raw))

    def _member(self, name: str, quoted: bool, text: str, i: int, depth: int) -> int:
        """Takes the value that begins at i and says where to go on. A bare name counts only where it is known."""
        if text.startswith("Some(", i):
            i = _skip_space(text, i + len("Some("))
        if i >= len(text):
            return i
        if text[i] in "bu" and text[i + 1 : i + 2] in ("'", '"'):
            i += 1
        field = _fields.get(lower(name), "")
        if field == "piece":
            self.piece = True
        char = text[i]
        if quoted or field and char in "\"'`{[0123456789":
            self.members += 1
        if char in "\"'`":
            raw, after = _quoted(text, i)
            self._value(field, Told(name, _unquote(raw)), depth)
            return after
        if char in "{[":
            if field in ("foreign", "answer"):
                end = _skip_nested(text, i)
                self._answer(field, _says_nothing(text[i:end]))
                return end
            self.is_error = self.is_error or field == "error"
            return i
        match = _literal_end.search(text, i)
        end = len(text) if match is None else match.start()
        literal = text[i:end]
        if literal in ("null", "None", "undefined"):
            self._answer(field, True)
        else:
            self._number(field, Told(name, literal))
        return end

    def _value(self, field: str, member: Told, depth: int) -> None:
        value = member.value
        if field == "code" and lower(member.name) == "reason" and " " in value:
            field = "words"  # a sentence
        if field == "code":
            status = http_status(value)
            if status:
                self.status = self.status or status
                return
            self._code(value)
            if value.lower() == "error":
                self.is_error = True
        elif field == "quota":
            if len(self.quotas) < limits["signals"]:
                self.quotas.append(value)
        elif field in ("status", "delay", "after", "reset"):
            self._number(field, member)
        elif field == "requestID":
            self.request_id = clip(value, limits["requestID"])
        elif field == "blocked":
            self.is_error = True
            self._code("blocked_" + value)
        elif field == "refusal":
            self._code("refusal")
        elif field == "answer":
            self._answer(field, not trim(value))
        elif field in ("error", "words", "errorWords"):
            told = field == "errorWords" and lower(value) not in tables["fineWords"]
            self.is_error = self.is_error or field == "error" or told
            if depth < limits["nesting"] and "{" in value:
                self._read(value, depth + 1)
            else:
                self._say(value)

    def _number(self, field: str, member: Told) -> None:
        """Takes a number, true or false."""
        if field in ("delay", "after", "reset"):
            setattr(self, field, Told(clip(member.name, 64), member.value))
        elif field in ("code", "status"):
            status = http_status(member.value)
            if status:
                self.status = self.status or status
            elif field == "code":
                self._code(member.value)

    def _answer(self, field: str, blank: bool) -> None:
        """Takes what a model wrote, of which only that there is nothing means anything."""
        if field == "answer":
            self.blank, self.answered = self.blank or blank, self.answered or not blank

    def _code(self, code: str) -> None:
        code = code[code.rfind("#") + 1 :]  # AWS puts a namespace before it
        if code and len(self.codes) < limits["signals"]:
            self.codes.append(clip(code, 128))

    def _say(self, said: str) -> None:
        said = trim(without_stack(said))
        if said and len(self.words) < limits["signals"]:
            self.words.append(clip(said, limits["detail"]))


def _event_prefix(text: str) -> str:
    """Leaves out the names of stream fields: "event: error", "data: "."""
    return "".join(
        line for line in lines(text) if lower(trim(line).partition(":")[0]) not in ("event", "data", "id", "retry")
    )


def _skip_space(text: str, i: int) -> int:
    while i < len(text) and text[i] in _WHITE:
        i += 1
    return i


def _quoted(text: str, i: int) -> Tuple[str, int]:
    """The inside of the string that begins at i, still escaped, and the place after it."""
    mark = text[i]
    if mark == '"':
        match = _string.match(text, i + 1)
        end = match.end() if match else len(text)
        if end < len(text) and text[end] == '"':
            return text[i + 1 : end], end + 1
        return text[i + 1 :], len(text)
    end = i + 1
    while end < len(text):
        if text[end] == "\\":
            end += 1
        elif text[end] == mark and _closes(text, end + 1):
            return text[i + 1 : end], end + 1
        end += 1
    return text[i + 1 :], len(text)


def _closes(text: str, i: int) -> bool:
    """Whether a single quote before i ends a string: those who print one by hand do not escape an apostrophe."""
    i = _skip_space(text, i)
    return i == len(text) or text[i] in ",:}])"


def _key(text: str, i: int, before: str) -> Tuple[str, int, bool]:
    """Reads the name of a member at i, and gives the place of its value."""
    if text[i] == '"':
        name, end = _quoted(text, i)
    elif before not in ("{", ","):
        return "", i, False
    elif text[i] == "'":
        end = i + 1
        if text[end : end + 1] == ":":
            end += 1
        end += _word_length(text, end)
        if text[end : end + 1] != "'":
            return "", i, False
        name, end = text[i + 1 : end], end + 1
    else:
        end = i + _word_length(text, i)
        name = text[i:end]
    colon = _skip_space(text, end)
    if not name or text[colon : colon + 1] != ":":
        return name, end, False
    return name, _skip_space(text, colon + 1), True


def _word_length(text: str, i: int) -> int:
    match = _word.match(text, i)
    return match.end() - i if match else 0


def _skip_nested(text: str, i: int) -> int:
    """The place after the object or array that begins at i."""
    level = 0
    while True:
        match = _nested.search(text, i)
        if match is None:
            return len(text)
        i = match.start()
        char = text[i]
        if char in "\"'":
            i = _quoted(text, i)[1]
            continue
        level += 1 if char in "{[" else -1
        i += 1
        if level == 0 and char in "}]":
            return i


def _unquote(raw: str) -> str:
    """Resolves JSON escapes; one that is none stands for the character itself."""
    return raw if "\\" not in raw else _escape.sub(_unescaped, raw)


def _unescaped(match: "re.Match[str]") -> str:
    high, low, single, char = match.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10 | int(low, 16) & 0x3FF))
    if single:
        code = int(single, 16)
        return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)
    if char == "u":
        return "\ufffd"
    return "\n" if char == "n" else " " if char in "rtbf" else str(char)


def _says_nothing(span: str) -> bool:
    """Whether an object or array of an answer holds no text, call or picture."""
    if size(span) > limits["blank"]:
        return False
    before, i = "", 0
    while i < len(span):
        char = span[i]
        name, after, ok = _key(span, i, before)
        if ok and name in _labels and span[after : after + 1] in ("'", '"'):
            i = _quoted(span, after)[1]
        elif ok:
            i = after
        elif char in "\"'":
            inside, i = _quoted(span, i)
            if trim(inside):
                return False
        else:
            i += 1
        before = char
    return True


def is_name(text: str) -> bool:
    """Whether text is nothing but a name as programs have them, in more than one word: quota_exceeded."""
    return bool(text) and _word.fullmatch(text) is not None and (text.find("_") > 0 or _parted.search(text) is not None)


def exception_name(text: str) -> str:
    """The code in a message of AWS: "ThrottlingException: Too many requests"; of gRPC: "code = Unavailable desc =
    …"; or behind "code=" or "code: ", as logs and wrappers write it; "" where there is none."""
    _, found, rest = text.partition("An error occurred (")
    if found:
        n = _word_length(rest, 0)
        if n > 0 and rest[n : n + 1] == ")":
            return rest[:n]
    n = _word_length(text, 0)
    if text[n : n + 1] == ":" and text[:n].endswith("Exception"):
        return text[:n]
    _, _, rest = text.partition("code = ")
    n = _word_length(rest, 0)
    if n > 0 and rest.startswith(" desc = ", n):
        return rest[:n]
    for label in ("code=", "code: "):
        _, _, rest = text.partition(label)
        code = rest[: _word_length(rest, 0)]
        if is_name(code):
            return code
    return ""
