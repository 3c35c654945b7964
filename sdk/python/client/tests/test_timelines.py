"""The golden logs of sdk/conformance: this fold is the runner's."""

import json
from pathlib import Path

import pytest

from mulligan_client import Fold

GOLDEN = sorted((Path(__file__).parents[3] / "conformance" / "timelines").glob("*.json"))


def test_they_are_there() -> None:
    assert len(GOLDEN) > 20


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_fold(path: Path) -> None:
    golden = json.loads(path.read_text())
    fold = Fold()
    for event, wanted in zip(golden["events"], golden["views"], strict=True):
        if situation := wanted.pop("situation", None):
            fold.apply({"situation": situation})  # a gateway sends it right before the event
        fold.apply({"event": event})
        v = fold.view
        got = {
            "asked": v.model, "text": v.text, "model": v.text_model, "partial": v.partial, "truncated": v.truncated,
            "error": v.error["code"] if v.error else "", "tokens": v.tokens, "wasted": v.wasted_tokens,
        }
        assert got == wanted, f"after event {event['seq']}, {event['type']}"
        assert v.situation is not None and v.status == v.situation["status"]
        assert (v.suggestion or {}).get("id") == v.situation.get("suggestion")


def test_live_text() -> None:
    fold = Fold()
    begin = [
        {"seq": 1, "run": "r", "type": "started", "data": {"model": "a/one", "input": []}},
        {"seq": 2, "run": "r", "type": "began", "data": {"attempt": 1, "model": "a/one"}},
    ]
    for event in begin:
        fold.apply({"event": event})
    for offset, text in [(0, "né"), (0, "né"), (1, "é a"), (9, "gap")]:
        fold.apply({"delta": {"attempt": 1, "offset": offset, "text": text}})
    assert fold.view.text == "né a" and fold.view.partial
    with pytest.raises(ValueError):
        fold.apply({"event": {"seq": 4, "run": "r", "type": "ended"}})
