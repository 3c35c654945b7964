"""The conformance plugin of the Python SDK: it obeys the commands of sdk/conformance/README.md."""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mulligan import (
    Adjust,
    Allow,
    Alternative,
    Ask,
    Button,
    Decision,
    Event,
    Fail,
    Hold,
    ModelCall,
    RecentCall,
    Refuse,
    Restrict,
    Retry,
    Route,
    RunAgain,
    RunEnded,
    Switch,
    Tell,
    ToolAdvice,
    ToolError,
    Tried,
    Verdict,
    serve,
    state_dir,
    time_left,
    values,
)

SCHEMA = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}, "refuse": {"type": "string"}},
    "additionalProperties": False,
}

DURATIONS = {
    "elapsed",
    "took",
    "recovery_time",
    "remaining_time",
    "retry_after",
    "limit",
    "failure.elapsed",
    "failure.retry_after",
    "failure.limit",
    "failure.last_step_elapsed",
}
NUMBERS = {"remaining_tokens", "remaining_microdollars"}

config: dict[str, str] = {}


def configure(given: dict[str, str]) -> None:
    if "refuse" in given:
        raise ValueError(given["refuse"])
    config.clear()
    config.update(given)


def run_error(e: Event) -> Decision | Restrict | Mapping[str, Any] | None:
    line, _, reason = e.failure.detail.split("\n")[0].partition(" because ")
    verb, _, rest = line.partition(" ")
    if verb not in COMMANDS:
        raise LookupError(f"unknown command {verb}")
    decision = COMMANDS[verb](e, rest)
    return dataclasses.replace(decision, reason=reason) if reason and isinstance(decision, (Decision, Restrict)) else decision


def before_call(c: ModelCall) -> Verdict | None:
    verb, _, rest = c.labels.get("do", "").partition(" ")
    match verb:
        case "":
            return None
        case "allow":
            return Allow()
        case "route":
            return Route(rest, reason="told so")
        case "hold":
            assert c.time is not None
            return Hold(c.time + timedelta(seconds=int(rest)), reason="told so")
        case "refuse":
            return Refuse(rest)
        case "say":
            return Refuse(render(rest, field(c, rest)))
    raise RuntimeError(rest)


def tool_error(e: ToolError) -> ToolAdvice | None:
    verb, _, rest = e.labels.get("do", "").partition(" ")
    match verb:
        case "":
            return None
        case "again":
            return RunAgain(float(rest), reason="told so")
        case "tell":
            return Tell(rest, reason="told so")
        case "ask":
            return Ask(rest)
        case "say":
            return Ask(render(rest, field(e, rest)))
    raise RuntimeError(rest)


def run_ended(e: RunEnded) -> None:
    verb, _, rest = e.labels.get("do", "").partition(" ")
    if verb == "say":
        raise RuntimeError(f"<{render(rest, field(e, rest))}>")
    if verb:
        raise RuntimeError(rest)


def retry(_: Event, seconds: str) -> Decision:
    return Retry(after=float(seconds)) if seconds else Retry()


def actions(_: Event, __: str) -> Decision:
    return Retry(actions=[
        Button("edit", "Edit the message", effect="client"),
        Button("switch_model", "Use GPT", model="openai/gpt-5.2", primary=True),
        Button("status", "See the status", effect="client", url="https://status.example.com/?q=a&b=c#now"),
    ])


def adjust(_: Event, pairs: str) -> Decision:
    read: dict[str, Callable[[str], Any]] = {
        "compact": lambda text: text == "true", "max_output_tokens": int, "reasoning_effort": str,
        "go_on": lambda text: text == "true",
    }
    given = (pair.replace("continue=", "go_on=").partition("=") for pair in pairs.split())
    return Retry(adjust=Adjust(**{key: read[key](value) for key, _, value in given}))


def restrict(_: Event, pairs: str) -> Restrict:
    read: dict[str, Callable[[str], Any]] = {
        "never": lambda text: text.split(","), "max_output_price": int, "local": lambda text: text == "true",
    }
    return Restrict(**{key: read[key](value) for key, _, value in (pair.partition("=") for pair in pairs.split())})


def play_values(_: Event, key: str) -> Decision:
    first = values.add(key, 2)
    value, version = values.get_with_version(key)
    assert value == values.get(key)
    done = values.compare_and_set(key, version, (value or b"") + b"5")
    late = values.compare_and_set(key, version, b"")
    values.set(key + "/x", b"")
    keys = values.keys(key)
    try:
        values.add(key + "/x")
        wrong = False
    except values.NotANumber:
        wrong = True
    values.delete(key + "/x")
    return Fail(f"{first} {done} {late} {','.join(keys)} {wrong} {values.add(key, -1)}".replace("True", "true").replace("False", "false"))


def nonsense(_: Event, __: str) -> Any:
    return {"action": "nonsense"}


def log(_: Event, text: str) -> None:
    logging.info(text)


def fail_badly(_: Event, text: str) -> None:
    raise RuntimeError(text)


def sleep(_: Event, duration: str) -> None:
    time.sleep(float(duration.removesuffix("s")))


class Meeting:
    """Makes calls wait for each other; a barrier counts from 0 again by itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._barriers: dict[int, threading.Barrier] = {}

    def meet(self, _: Event, n: str) -> None:
        with self._lock:
            barrier = self._barriers.setdefault(int(n), threading.Barrier(int(n)))
        barrier.wait(timeout=time_left())


def say(e: Event, name: str) -> Decision:
    return Fail(render(name, field(e, name)))


def count(e: Event, name: str) -> Decision:
    return Fail(str(len(field(e, name) or ())))


def field(e: Event | ModelCall | ToolError | RunEnded, name: str) -> Any:
    value: Any = e
    for part in name.split("."):
        value = getattr(value, part)
    return value


def render(name: str, value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(render_one(one) for one in value)
    if isinstance(value, dict):
        return ",".join(f"{key}={value[key]}" for key in sorted(value))
    if name in DURATIONS:
        return seconds(value or 0.0)
    if value is None:
        return "0" if name in NUMBERS else ""
    return render_one(value)


def render_one(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            whole, _, fraction = value.isoformat(timespec="milliseconds").removesuffix("+00:00").partition(".")
            return f"{whole}.{fraction}".rstrip("0").rstrip(".") + "Z"
        case Alternative():
            return render_model(value)
        case RecentCall():
            return f"{value.model} {value.kind} {render('at', value.at)}"
        case Tried():
            return f"{value.attempt} {value.model} {value.code} {render_one(value.at)} {seconds(value.duration)}"
    return str(value)


def render_model(a: Alternative) -> str:
    if not a.model:
        return ""
    price = f" {a.price.input}/{a.price.output}" if a.price else ""
    facts = {"lacks": "+".join(a.lacks), "cools_until": render("cools_until", a.cools_until), "cooling_kind": a.cooling_kind, "health": a.health}
    known = "".join(f" {name}={fact}" for name, fact in facts.items() if fact)
    return f"{a.model} {a.context_tokens}{price}{' local' * a.local}{known}"


def seconds(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


COMMANDS: dict[str, Callable[[Event, str], Decision | Restrict | Mapping[str, Any] | None]] = {
    "": lambda *_: None,
    "none": lambda *_: None,
    "retry": retry,
    "switch": lambda _, model: Switch(model),
    "contract": lambda _, model: {"action": "switch", "newModel": model},
    "fail": lambda *_: Fail(),
    "actions": actions,
    "adjust": adjust,
    "restrict": restrict,
    "say": say,
    "count": count,
    "config": lambda *_: Fail(config["greeting"]),
    "values": play_values,
    "state": lambda *_: Fail((state_dir() or Path()).name),
    "nonsense": nonsense,
    "print": lambda _, text: print(text),
    "flood": lambda _, n: print("x" * int(n)),
    "log": log,
    "raise": fail_badly,
    "panic": fail_badly,
    "sleep": sleep,
    "meet": Meeting().meet,
}

if __name__ == "__main__":
    serve(run_error, before_call=before_call, tool_error=tool_error, run_ended=run_ended, name="conformance", version="1.2.3", config_schema=SCHEMA, configure=configure)
