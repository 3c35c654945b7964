"""Tools that a program carries out for the runs that it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ._http import Document


@dataclass(frozen=True)
class Tool:
    """A function of this program that a run's model may call: declare it by `start({..., "tools": [tool]})`, and follow the run by
    `follow_with_tools`. The function is called with the arguments by their names; what it raises is the call's result, of which the
    model is told. With AsyncClient it may be a coroutine function."""

    name: str
    run: Callable[..., Any]
    description: str = ""
    schema: Document | None = None
    """JSON Schema of the arguments; None takes an object with anything in it."""
    safety: str | None = None
    """read_only or idempotent; None: a call whose outcome nobody knows is never repeated by itself."""
    timeout: float = 0
    """How long a call may take, in seconds; 0 is the gateway's usual time for a tool."""

    def document(self) -> Document:
        """The tool as a gateway is told of it."""
        told = {"name": self.name, "description": self.description, "schema": self.schema, "safety": self.safety, "timeoutMs": int(self.timeout * 1000)}
        return {k: v for k, v in told.items() if v}


def declared(start: Document) -> Document:
    """A start whose tools are documents."""
    if "tools" not in start:
        return start
    return {**start, "tools": [t.document() if isinstance(t, Tool) else t for t in start["tools"]]}


class Answering:
    """The calls of a run that were begun here."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {t.name: t for t in tools}
        self._begun: set[tuple[str, int]] = set()

    def new(self, situation: Document) -> list[tuple[Tool, Document]]:
        """The calls of a situation that are ours and not begun."""
        calls = []
        for call in situation.get("awaited", []):
            asking = (call["key"], call.get("try", 0))
            if call["name"] in self._tools and asking not in self._begun:
                self._begun.add(asking)
                calls.append((self._tools[call["name"]], call))
        return calls


def result(call: Document, said: Any, failed: bool = False) -> Document:
    """The result of a call, for return_tool_results."""
    given = {"callId": call["id"], "text": said if isinstance(said, str) else str(said)}
    return {**given, "isError": True} if failed else given
