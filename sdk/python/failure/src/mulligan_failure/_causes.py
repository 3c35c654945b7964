"""What a message that no rule knows comes to: what it speaks of, and what it says of that, in nine languages."""

from __future__ import annotations

import unicodedata
from typing import Any, List, NamedTuple, Optional, Tuple

from ._tables import Cause, causes, limits, tables
from ._text import clip, is_lower, is_upper, lower, size

ADDRESS_MARK = "://"
"""It stands between the scheme of an address and its host."""

_lexicon = tables["lexicon"]
_words = _lexicon["words"]
_stems = _lexicon["stems"]
_endings = [(text, int(means)) for text, means in _lexicon["endings"]]
_unparted = [(text, int(means)) for text, means in _lexicon["unparted"]]
_PER_MINUTE = int(_lexicon["perMinute"])
_PER_DAY = int(_lexicon["perDay"])
_IS_PASSING = int(_lexicon["isPassing"])
_IS_PREFIX = int(_lexicon["isPrefix"])
_IS_FAILED = int(_lexicon["isFailed"])
_LONGEST_STEM = max(map(len, _stems))
_letters = str.maketrans(_lexicon["letters"])
_FIRST_UNPARTED = limits["unparted"]


class Tagged(NamedTuple):
    """A word, or a few, that the lexicon knows."""

    at: int
    """Its place among the words of the message."""
    means: int


Clause = List[Tagged]


def clauses_of(said: str) -> List[Clause]:
    """The known words of a message, clause by clause. Names of codes come apart into their words."""
    said = clip(said, limits["cause"])
    clauses: List[Clause] = []
    words: Clause = []
    count, before, i = 0, ("", ""), 0
    while len(clauses) < limits["clauses"]:
        word, i = next_word(said, i)
        if word:
            count += 1
            words += [Tagged(count, means) for means in _tags(word, before, said[i : i + 1] == ":")]
            before = (before[1], word)
        if words and (not word or _clause_ends(said, i)):
            clauses.append(words)
            words = []
        if not word:
            break
    return clauses


def _tags(word: str, before: Tuple[str, str], labels: bool) -> List[int]:
    """What the lexicon knows of a word, by itself or with the one or two before it. A label before a colon
    ("AI_APICallError: …") says nothing of what it stands beside."""
    known, begins = _words.get(word, {}), _stem(word)
    own = int(known.get("is", 0)) | int(begins.get("is", 0)) | _ending(word)
    tags: List[int] = [own & ~_IS_FAILED if labels and own & _IS_PREFIX else own]
    for phrase in [*known.get("phrases", ()), *begins.get("phrases", ())]:
        *first, last = phrase["before"]
        if _is_a(before[1], last) and (not first or _is_a(before[0], first[0])):
            tags.append(int(phrase["is"]))
    if _is_unparted(word):
        two = f"{before[1]} {word}"
        tags += [means for text, means in _unparted if text in two and text not in before[1]]
    return [means for means in tags if means]


def _stem(word: str) -> Any:
    """What the longest stem that word begins with means."""
    for n in range(min(len(word), _LONGEST_STEM), 0, -1):
        if word[:n] in _stems:
            return _stems[word[:n]]
    return {}


def _ending(word: str) -> int:
    """What a German word that others are put together in means: Internetverbindung."""
    if size(word) < limits["joined"]:
        return 0
    return next((means for text, means in _endings if word.endswith(text)), 0)


def _is_a(word: str, entry: str) -> bool:
    """Whether word is the one of an entry, begins as its stem or has its ending."""
    if entry.startswith("*"):
        return word.endswith(entry[1:])
    return word.startswith(entry[:-1]) if entry.endswith("*") else word == entry


def _is_labelled(raw: str, text: str, i: int) -> bool:
    """Whether a word only names what follows it: model in "model=x", AI in AI_APICallError and OpenAIException, Bad in
    BadRequestError, which libraries call whatever was refused."""
    after = text[i : i + 1]
    if raw == "AI" and (after == "_" or "A" <= after <= "Z"):
        return True
    return after == "=" or raw in ("Bad", "Invalid") and text.startswith("Request", i)


def next_word(text: str, i: int) -> Tuple[str, int]:
    while True:
        while i < len(text) and not _is_letter(text[i]):
            i += 1
        if i == len(text):
            return "", i
        start, end = i, _word_end(text, i)
        raw, i = text[i:end], address_end(text, end)
        if _is_labelled(raw, text, i) or _is_listed(text, start, i):
            continue
        if size(raw) <= limits["word"] or _is_unparted(raw):
            return _unmarked(lower(raw)).translate(_letters), i


def _is_listed(text: str, start: int, i: int) -> bool:
    """Whether a word is the name of a field in a list: model in "(provider: x, model: y)"."""
    if not text.startswith(": ", i):
        return False
    before = text[:start].rstrip(" ")
    return before[-1:] in ("(", "[", ",") and ("(" in before or "[" in before)


def address_end(text: str, i: int) -> int:
    """Where the address ends whose scheme ends at i: its host and path say nothing about a failure."""
    if not text.startswith(ADDRESS_MARK, i):
        return i
    end = i + len(ADDRESS_MARK)
    while end < len(text) and " " < text[end] < "\x80" and text[end] not in "\"'`<>()[]{}|\\":
        end += 1
    return i + len(text[i:end].rstrip(".,:;!?"))


def _clause_ends(text: str, i: int) -> bool:
    while i < len(text):
        char = text[i]
        if char in "\n;!?。！？；·|।" or char == "." and text[i + 1 : i + 2] in ("", " ", "\n"):
            return True
        if _is_letter(char):
            return False
        i += 1
    return True


def _unmarked(word: str) -> str:
    """Without apostrophes, a French article before one or an English genitive after one: doesn't is doesnt,
    l'entrée is entrée, the model's is the model."""
    word = word.replace("’", "'").removesuffix("'s")
    if len(word) > 2 and word[1:2] == "'" and word[0] in "cdjlmnst":
        return word[2:]
    return word.replace("'", "")


def _is_unparted(word: str) -> bool:
    return not word.isascii() and any(ord(char) >= _FIRST_UNPARTED or "\u0e00" <= char <= "\u0e7f" for char in word)


def _is_letter(char: str) -> bool:
    """Whether it is part of a word; in the scripts from India to Thailand, vowels are marks of letters."""
    return char.isalpha() or "\u0900" <= char <= "\u0e7f" and unicodedata.category(char)[0] == "M"


def _word_end(text: str, start: int) -> int:
    """Where a word ends: before what is no letter; within a name, as in statusCode and APIError; and where Latin
    letters give way to those of a language that does not part its words."""
    before = ""
    for i in range(start, len(text)):
        char, after = text[i], text[i + 1 : i + 2]
        if char in "'’":
            if not _is_letter(after):
                return i
        elif not _is_letter(char):
            return i
        elif before and (
            is_upper(char) and (is_lower(before) or is_upper(before) and is_lower(after))
            or _is_unparted(char) and not _is_unparted(before)
        ):
            return i
        before = char
    return len(text)


class Found(NamedTuple):
    kind: str
    variant: str
    wire: bool


def says_day(said: str) -> bool:
    """Whether a message speaks of a day, a month or a plan."""
    return any(_union(words) & _PER_DAY for words in clauses_of(said))


def cause_of(said: str, over: int, minutes: bool) -> Optional[Found]:
    """The first cause that a clause says, of those that may be said over a status of this family; of all where it
    is none. `minutes`: the message speaks of them elsewhere."""
    clauses = [(words, _union(words)) for words in clauses_of(said)]
    everything = _PER_MINUTE if minutes else 0
    for _, means in clauses:
        everything |= means
    for cause in causes:
        if over and not cause.over & over or cause.brief and not everything & _PER_MINUTE:
            continue
        for words, means in clauses:
            if not means & cause.unless and _says(cause, words):
                if cause.passing and everything & _IS_PASSING:
                    return Found(cause.passing, "", cause.wire)
                return Found(cause.kind, cause.variant, cause.wire)
    return None


def _union(words: Clause) -> int:
    means = 0
    for word in words:
        means |= word.means
    return means


def _says(cause: Cause, words: Clause) -> bool:
    about = says = -1
    for i, word in enumerate(words):
        if word.means & cause.about:
            about = i
        if word.means & cause.says:
            says = i
        if about < 0 or cause.says and says < 0:
            continue
        if not cause.says or (
            abs(words[about].at - words[says].at) <= limits["nearWords"] and not (cause.follows and about >= says)
        ):
            return True
    return False
