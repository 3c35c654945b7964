"""What a message that no rule knows comes to: what it speaks of, and what it says of that, in nine languages."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

from ._tables import Cause, limits, tables
from ._text import clip, is_lower, is_upper, lower, size

_lexicon = tables["lexicon"]
_words = _lexicon["words"]
_phrases = _lexicon["phrases"]
_unparted = _lexicon["unparted"]
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
        word, i = _next_word(said, i)
        if word:
            count += 1
            words += [Tagged(count, means) for means in _tags(word, before)]
            before = (before[1], word)
        if words and (not word or _clause_ends(said, i)):
            clauses.append(words)
            words = []
        if not word:
            break
    return clauses


def _tags(word: str, before: Tuple[str, str]) -> List[int]:
    """What the lexicon knows of a word, by itself or with the one or two before it."""
    two = f"{before[1]} {word}"
    known = [_words.get(word), _phrases.get(two), _phrases.get(f"{before[0]} {two}")]
    if _is_unparted(word):
        known += [means for text, means in _unparted if text in two and text not in before[1]]
    return [means for means in known if means]


def _next_word(text: str, i: int) -> Tuple[str, int]:
    while True:
        while i < len(text) and not text[i].isalpha():
            i += 1
        if i == len(text):
            return "", i
        end = _word_end(text, i)
        raw, i = text[i:end], end
        if size(raw) <= limits["word"] or _is_unparted(raw):
            return _unmarked(lower(raw)), i


def _clause_ends(text: str, i: int) -> bool:
    while i < len(text):
        char = text[i]
        if char in "\n;!?。！？；·|" or char == "." and text[i + 1 : i + 2] in ("", " ", "\n"):
            return True
        if char.isalpha():
            return False
        i += 1
    return True


def _unmarked(word: str) -> str:
    """Without apostrophes, and without a French article before one: doesn't is doesnt, l'entrée is entrée."""
    word = word.replace("’", "'")
    if word[1:2] == "'" and word[0] in "cdjlmnst":
        return word[2:]
    return word.replace("'", "")


def _is_unparted(word: str) -> bool:
    return not word.isascii() and any(ord(char) >= _FIRST_UNPARTED for char in word)


def _word_end(text: str, start: int) -> int:
    """Where a word ends: before what is no letter; within a name, as in statusCode and APIError; and where Latin
    letters give way to those of a language that does not part its words."""
    before = ""
    for i in range(start, len(text)):
        char, after = text[i], text[i + 1 : i + 2]
        if char in "'’":
            if not after.isalpha():
                return i
        elif not char.isalpha():
            return i
        elif before and (
            is_upper(char) and (is_lower(before) or is_upper(before) and is_lower(after))
            or ord(char) >= _FIRST_UNPARTED > ord(before)
        ):
            return i
        before = char
    return len(text)


class Found(NamedTuple):
    kind: str
    variant: str
    wire: bool


def cause_of(said: str, table: Sequence[Cause]) -> Optional[Found]:
    """The first cause that a clause says."""
    clauses = [(words, _union(words)) for words in clauses_of(said)]
    everything = 0
    for _, means in clauses:
        everything |= means
    for cause in table:
        if cause.brief and not everything & _lexicon["perMinute"]:
            continue
        for words, means in clauses:
            if not means & cause.unless and _says(cause, words):
                if cause.passing and everything & _lexicon["isPassing"]:
                    return Found(cause.passing, "", cause.wire)
                return Found(cause.kind, cause.variant, cause.wire)
    return None


def _union(words: Clause) -> int:
    means = 0
    for word in words:
        means |= word.means
    return means


def _says(cause: Cause, words: Clause) -> bool:
    about = says = None
    for word in words:
        if word.means & cause.about:
            about = word.at
        elif word.means & cause.says:
            says = word.at
        else:
            continue
        if about is not None and (not cause.says or says is not None and abs(about - says) <= limits["nearWords"]):
            return True
    return False
