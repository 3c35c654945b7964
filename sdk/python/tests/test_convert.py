"""Between the author's types and the wire."""

import dataclasses
import logging
from datetime import datetime, timezone
from typing import Any

import pytest

from mulligan import Adjust, Alternative, Event, Fail, Failure, RecentCall, Retry, RunAgain, Switch, Tell, _convert, _convert_tool
from mulligan._proto import decision_pb2, failure_pb2, plugin_pb2


def test_nothing_set_is_what_the_types_say_without_arguments() -> None:
    assert _convert.event(plugin_pb2.RunErrorRequest()) == Event() == Event(failure=Failure())


def test_used_up_is_not_unlimited() -> None:
    m = plugin_pb2.RunErrorRequest(remaining_ms=-1, remaining={"tokens": -1, "microdollars": 5})
    e = _convert.event(m)
    assert (e.remaining_time, e.remaining_tokens, e.remaining_microdollars) == (-0.001, -1, 5)


def test_times_are_utc_and_no_year_is_too_much() -> None:
    m = failure_pb2.Failure()
    m.resets_at.FromJsonString("2026-05-04T03:04:05.060Z")
    e = _convert.event(plugin_pb2.RunErrorRequest(failure=m))
    assert e.resets_at == datetime(2026, 5, 4, 3, 4, 5, 60000, timezone.utc)
    m.resets_at.seconds = 1 << 62
    assert _convert.event(plugin_pb2.RunErrorRequest(failure=m)).resets_at is None


def test_a_transcript_is_read_and_not_shown() -> None:
    text = '[{"role":"user","parts":[{"text":"How? 世界"}]},{"role":"assistant","parts":[],"model":"a/b"}]'
    e = _convert.event(plugin_pb2.RunErrorRequest(transcript=text.encode()))
    assert e.transcript == [
        {"role": "user", "parts": [{"text": "How? 世界"}]},
        {"role": "assistant", "parts": [], "model": "a/b"},
    ]
    assert "How?" not in repr(e)
    assert hash(e) == hash(Event())
    assert _convert.event(plugin_pb2.RunErrorRequest(transcript=b"[]")).transcript == []


def test_what_is_known_beyond_the_failure() -> None:
    m = plugin_pb2.RunErrorRequest(
        labels={"team": "Köln"}, spent={"tokens": 3, "microdollars": 4}, input_tokens=5, tools=["search"], images=True, schema=True,
        about={"model": "a/one", "lacks": ["images"], "cooling_kind": "quota", "health": "failing"},
        cooling=[{"model": "b/two"}], failed_kinds=["timeout", "timeout"], recent_calls=[{"model": "a/one", "kind": "quota"}, {"model": "a/two"}],
    )
    m.about.cools_until.FromJsonString("2026-05-04T03:04:05Z")
    e = _convert.event(m)
    assert (e.labels, e.spent_tokens, e.spent_microdollars, e.input_tokens) == ({"team": "Köln"}, 3, 4, 5)
    assert (e.tools, e.images, e.schema, e.failed_kinds) == (("search",), True, True, ("timeout", "timeout"))
    until = datetime(2026, 5, 4, 3, 4, 5, tzinfo=timezone.utc)
    assert e.about == Alternative("a/one", lacks=("images",), cools_until=until, cooling_kind="quota", health="failing")
    assert [a.model for a in e.cooling] == ["b/two"]
    assert e.recent_calls == (RecentCall("a/one", "quota"), RecentCall("a/two"))


def test_a_tool_that_failed_and_what_is_said_to_it() -> None:
    m = plugin_pb2.ToolErrorRequest(tool="pay", safety="TOOL_SAFETY_UNSAFE", took_ms=1500, remaining_ms=-1, error="secret")
    e = _convert_tool.read(m)
    assert (e.tool, e.safety, e.took, e.remaining_time, e.remaining_tokens) == ("pay", "unsafe", 1.5, -0.001, None)
    assert "secret" not in repr(e)
    assert _convert_tool.advice(RunAgain(0.0001)).delay_ms == 1
    assert _convert_tool.advice(None) == plugin_pb2.ToolErrorResponse()
    for nonsense in (Retry(), Tell, "again"):
        with pytest.raises(TypeError, match="tool_error returned"):
            _convert_tool.advice(nonsense)


def test_no_transcript_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert _convert.event(plugin_pb2.RunErrorRequest()).transcript is None
    assert not caplog.records


@pytest.mark.parametrize(
    "text",
    [b"[", b"{}", b"null", b'"secret"', b'["secret"]', b'[{"text":"\xff"}]', b"[" * 1_000_000, b"[" + b"9" * 5000 + b"]"],
    ids=["broken", "object", "null", "text", "list of text", "no UTF-8", "deep", "long number"],
)
def test_what_is_no_transcript_is_a_warning(text: bytes, caplog: pytest.LogCaptureFixture) -> None:
    e = _convert.event(plugin_pb2.RunErrorRequest(run="r-1", transcript=text))
    assert (e.run, e.transcript) == ("r-1", None)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "transcript" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("seconds", "millis"),
    [(None, 0), (0, 0), (0.0001, 1), (1e-12, 1), (0.07, 70), (1.001, 1001), (2.5, 2500), (4.35, 4350), (604800, 604800000), (1.0001, 1001)],
)
def test_delays_are_rounded_up(seconds: float | None, millis: int) -> None:
    assert _convert.response(Retry(after=seconds)).delay_ms == millis


def test_decisions() -> None:
    assert _convert.response(None) == plugin_pb2.RunErrorResponse()
    assert _convert.response(Switch("a/b", after=1, reason="slow")) == plugin_pb2.RunErrorResponse(
        action=decision_pb2.ACTION_SWITCH_MODEL, new_model="a/b", delay_ms=1000, reason="slow"
    )
    assert _convert.response(Fail("no", adjust=Adjust(compact=True))).adjust.compact
    going_on = _convert.response(Fail("no", adjust=Adjust(go_on=True))).adjust
    assert getattr(going_on, "continue") and not going_on.compact
    assert _convert.response(dataclasses.replace(Retry(), reason="\ud800")).reason == "?"


@pytest.mark.parametrize("key", ["newModel", "new_model"])
@pytest.mark.parametrize("action", ["switch", "switch_model"])
def test_the_original_contract(action: str, key: str) -> None:
    want = plugin_pb2.RunErrorResponse(action=decision_pb2.ACTION_SWITCH_MODEL, new_model="a/b", delay_ms=1500, reason="slow")
    assert _convert.response({"action": action, key: "a/b", "delayMs": 1500, "reason": "slow"}) == want
    assert _convert.response({"action": "retry"}).action == decision_pb2.ACTION_RETRY
    assert _convert.response({"action": "fail"}).action == decision_pb2.ACTION_FAIL


class Bad:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (Retry, "the class Retry: return Retry(…), with parentheses"),
        ("retry", "returned 'retry' (str): return Retry(…)"),
        (True, "returned True (bool)"),
        ({"action": "x" * 5000}, "(dict)"),
        (Bad(), "(Bad)"),
    ],
)
def test_what_is_no_decision_is_named(given: Any, want: str) -> None:
    with pytest.raises(TypeError) as raised:
        _convert.response(given)
    assert want in str(raised.value)
    assert len(str(raised.value)) < 300


def test_errors_fit() -> None:
    assert _convert.error_text("ok") == "ok"
    long = _convert.error_text("x" + "世" * 5000 + "\ud800")
    assert 2045 <= len(long.encode()) <= 2048
    assert _convert.error_text("half \ud800") == "half ?"
