"""What the author says wrong is said where it is said."""

from datetime import timedelta
from typing import Any

import pytest

import mulligan
from mulligan import Fail, Retry, Switch

untyped: Any = mulligan


def test_decisions_are_values() -> None:
    assert Retry(after=7) == Retry(7.0) != Retry()
    assert Switch("a/b", reason="slow") == Switch("a/b", reason="slow") != Switch("a/c", reason="slow")
    assert Fail("no use") == Fail(reason="no use") != Fail()


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda: Retry(after=-1), "0 or more"),
        (lambda: Retry(after=float("nan")), "0 or more"),
        (lambda: Retry(after=float("inf")), "0 or more"),
        (lambda: Switch("a/b", after=-0.1), "0 or more"),
        (lambda: Switch(""), "one of e.alternatives"),
    ],
)
def test_values_that_mean_nothing(make: Any, want: str) -> None:
    with pytest.raises(ValueError, match=want):
        make()


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda: untyped.Retry(after="7"), "seconds as a number, not '7'"),
        (lambda: untyped.Retry(after=True), "seconds as a number"),
        (lambda: untyped.Retry(after=timedelta(seconds=7)), "total_seconds"),
        (lambda: untyped.Retry(reason=None), "Retry.reason=….*takes str, not None"),
        (lambda: untyped.Switch(None), "Switch.model=….*takes str, not None"),
        (lambda: untyped.Fail(7), "takes str, not 7"),
        (lambda: untyped.Retry(actions=untyped.Button("edit", "Edit")), "list of Button"),
        (lambda: untyped.Retry(actions=["edit"]), "list of Button"),
        (lambda: untyped.Retry(adjust={"compact": True}), "takes Adjust"),
        (lambda: untyped.Button("edit", 7), "takes str, not 7"),
        (lambda: untyped.Adjust(max_output_tokens="many"), "takes int"),
        (lambda: untyped.Restrict(never="openai/*"), "list of names"),
        (lambda: untyped.Restrict(max_output_price=2.5), "takes int"),
        (lambda: untyped.Retry(restrict={"local": True}), "takes Restrict"),
    ],
)
def test_values_of_another_type(make: Any, want: str) -> None:
    with pytest.raises(TypeError, match=want):
        make()
