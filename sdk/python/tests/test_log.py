"""Log lines."""

import json
import logging
import re
import sys
from typing import Any

from mulligan import time_left
from mulligan._call import Call, during
from mulligan._log import Lines


def line(level: int, message: str, *args: object, **more: Any) -> dict[str, Any]:
    logger = logging.Logger("rules")
    record = logger.makeRecord("rules", level, "f.py", 1, message, args, **more)
    text = Lines().format(record)
    assert "\n" not in text
    got = json.loads(text)
    assert isinstance(got, dict)
    return got


def test_a_line() -> None:
    got = line(logging.WARNING, "over %s", "quota 世界", exc_info=None, extra={"budget": 5, "when": complex(1, 2), "run": "x"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", got.pop("@timestamp"))
    assert got == {"@level": "warn", "@message": "over quota 世界", "@module": "rules", "budget": 5, "when": "(1+2j)", "run": "x"}


def test_a_line_of_a_call_has_its_ids() -> None:
    with during(Call("r-1", "s-7", None)):
        got = line(logging.INFO, "hello", exc_info=None, extra={"run": "mine"})
        assert (got["run"], got["session"]) == ("r-1", "s-7")
    with during(Call("r-2", "", None)):
        assert "session" not in line(logging.INFO, "hello", exc_info=None)
    assert "run" not in line(logging.INFO, "hello", exc_info=None)


def test_levels() -> None:
    levels = {5: "trace", 10: "debug", 20: "info", 25: "info", 30: "warn", 40: "error", 50: "error"}
    assert {number: line(number, "m", exc_info=None)["@level"] for number in levels} == levels


def test_an_exception_is_on_its_line() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        assert "ValueError: boom" in line(logging.ERROR, "m", exc_info=sys.exc_info())["exception"]


def test_time_left() -> None:
    assert time_left() is None
    with during(Call("r", "", 0.0)):
        assert time_left() == 0.0
