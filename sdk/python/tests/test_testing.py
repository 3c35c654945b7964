"""The events of tests are like those of a host."""

import dataclasses
import inspect

import pytest

from mulligan import Alternative, Event, Failure, testing


def test_every_field_can_be_given() -> None:
    fields = {f.name for c in (Event, Failure) for f in dataclasses.fields(c)}
    assert set(inspect.signature(testing.event).parameters) == fields - {"failure", "models"}


def test_what_is_left_out_follows_from_the_rest() -> None:
    e = testing.event("rate_limit", model="openai/gpt-5.2", attempt=2, alternatives=["a/b", Alternative("c/d", 9)])
    assert (e.kind, e.code, e.retryable) == ("rate_limit", "MODEL_PROVIDER_RATE_LIMITED", True)
    assert (e.provider, e.failure.model, e.retries) == ("openai", "openai/gpt-5.2", 2)
    assert e.alternatives == ("a/b", "c/d")
    assert e.models == (Alternative("a/b"), Alternative("c/d", 9))
    assert not testing.event("rate_limit", retryable=False).retryable


def test_a_transcript_is_given_as_it_is_received() -> None:
    messages = [{"role": "user", "parts": [{"text": "How?"}]}]
    assert testing.event(transcript=messages).transcript == messages
    assert testing.event(transcript=[]).transcript == []
    assert testing.event().transcript is None


def test_a_slip_in_a_kind_is_caught_and_tomorrow_is_not() -> None:
    with pytest.raises(ValueError, match="did you mean 'rate_limit'"):
        testing.event("rate-limit")
    assert str(testing.event("kind_99").kind) == "kind_99"
    assert testing.event("rate_limit").kind != "rate_limitt"  # type: ignore[comparison-overlap]
