"""The tables of the Go package `failure`, generated: see `make ports`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, FrozenSet, List, NamedTuple, Optional, Tuple

_here = Path(__file__).parent
tables: Any = json.loads((_here / "tables.json").read_text("utf-8"))
texts: Any = json.loads((_here / "texts.json").read_text("utf-8"))
limits: Any = tables["limits"]
hints: Any = tables["hints"]


class Rule(NamedTuple):
    """One line of a table by which evidence gets its kind: it matches where every part that is set does."""

    kind: str
    variant: str
    retryable: Optional[bool]
    """None: as its kind."""
    codes: FrozenSet[str]
    like: Tuple[str, ...]
    status: FrozenSet[int]
    any: Tuple[str, ...]
    near: Tuple[str, ...]
    all: Tuple[str, ...]
    unless: Tuple[str, ...]
    wire: bool


class Cause(NamedTuple):
    """One way in which a clause says why a call failed. The sets are of concepts, a bit each."""

    kind: str
    variant: str
    about: int
    says: int
    unless: int
    over: int
    follows: bool
    brief: bool
    passing: str
    wire: bool


def _rules(name: str) -> List[Rule]:
    return [
        Rule(
            row["kind"], row.get("variant", ""), row.get("retryable"), frozenset(row.get("codes", ())), tuple(row.get("like", ())),
            frozenset(row.get("status", ())), tuple(row.get("any", ())), tuple(row.get("near", ())), tuple(row.get("all", ())),
            tuple(row.get("unless", ())), row.get("wire", False),
        )
        for row in tables["rules"][name]
    ]  # fmt: skip


rules = {name: _rules(name) for name in tables["rules"]}
codes = {name: frozenset(list_) for name, list_ in tables["codes"].items()}
causes = [
    Cause(
        row["kind"], row.get("variant", ""), int(row["about"]), int(row.get("says", 0)), int(row.get("unless", 0)), row.get("over", 0),
        row.get("follows", False), row.get("brief", False), row.get("passing", ""), row.get("wire", False),
    )
    for row in tables["causes"]
]  # fmt: skip
kinds = {row["kind"]: row for row in tables["kinds"]}


def is_odd(status: int) -> bool:
    """Whether no list has the status: it is somebody's own, and says less than words."""
    return status >= 300 and "odd" in tables["statuses"][str(min(status, 600))]


def kind_of_status(status: int) -> Tuple[str, str]:
    """What an HTTP status means by itself, and its variant; "" for those of success."""
    if status < 300:
        return "", ""
    row = tables["statuses"][str(min(status, 600))]
    return row["kind"], row.get("variant", "")
