"""The client of programs that wait."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urlencode

from ._http import Document, Item, Problem, Transport, backoff, busy, busy_or_down, hang_up, patiently, server_events, within
from ._tools import Answering, Tool, declared, result

SILENCE = 40.0
"""A stream without any sign of life for this long is dead, in seconds: the gateway gives one every 15 s."""

ADVICE = 0.25
"""How long advice is waited for, in seconds: a program whose Mulligan is gone goes on as without it."""


_AT_ONCE = 32
"""How many calls of tools are answered at once."""


class Client:
    """Talks to one gateway. It may be used by several threads."""

    def __init__(self, url: str = "http://127.0.0.1:8484", token: str | None = None) -> None:
        self._to = Transport(url, token)

    def start(self, start: Document, key: str | None = None) -> Document:
        """Begins a run. It begins once, however often the request has to be sent: a gateway that is busy is asked again for up to 30 s."""
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return _document(patiently(busy_or_down, lambda: self._to.send("POST", "/v1/runs", declared(start), headers)))

    def run(self, run: str) -> Document:
        """Says where a run stands."""
        return self._ask("GET", _path(run))

    def runs(self, **query: Any) -> Document:
        """Lists runs, newest first: status, waiting, session, label (a list of name=value), limit, before."""
        return self._ask("GET", "/v1/runs" + _query(query))

    def recover(self, run: str, choice: Document) -> Document:
        """Answers a run's suggestion or live wait, or cuts its model call short; it counts at most once."""
        return self._ask("POST", _path(run) + "/recover", choice)

    def cancel(self, run: str) -> Document:
        """Ends a run."""
        return self._ask("POST", _path(run) + "/cancel")

    def return_tool_results(self, run: str, results: list[Document]) -> Document:
        """Gives a run results of tool calls that it awaits (`situation.awaited`): callId, text, isError. All are taken, or none; the same one
        may be given again. A Problem: 404 for a call that is not awaited, 409 where it has another result, 410 where nobody waits any more."""
        return self._ask("POST", _path(run) + "/tool-results", {"results": results})

    def suggestions(self, limit: int = 50) -> list[Document]:
        """Lists the suggestions that are open, newest first."""
        return self._list("/v1/suggestions" + _query({"limit": limit}), "suggestions")

    def sessions(self, limit: int = 50) -> list[Document]:
        """Lists the conversations, the one with the newest run first."""
        return self._list("/v1/sessions" + _query({"limit": limit}), "sessions")

    def session(self, session: str, **query: Any) -> Document:
        """Gives a conversation: its defaults and its runs."""
        return self._ask("GET", f"/v1/sessions/{quote(session, safe='')}" + _query(query))

    def set_session(self, session: str, defaults: Document) -> Document:
        """Sets what a conversation's runs start with."""
        return self._ask("PUT", f"/v1/sessions/{quote(session, safe='')}", defaults)

    def set_session_title(self, session: str, title: str) -> None:
        """Gives a conversation a title, one line of at most 80 characters; with "" it is called as its first run is."""
        self._ask("PUT", f"/v1/sessions/{quote(session, safe='')}/title", {"title": title})

    def delete_session(self, session: str) -> None:
        """Deletes a conversation for good, with all that is kept of its runs; Problem 409: one of them has not ended."""
        self._ask("DELETE", f"/v1/sessions/{quote(session, safe='')}")

    def models(self) -> list[Document]:
        """Lists the models that may be chosen."""
        return self._list("/v1/models", "models")

    def plugins(self) -> list[Document]:
        """Lists the recovery plugins and how they are."""
        return self._list("/v1/plugins", "plugins")

    def act_on_plugin(self, name: str, act: str) -> Document:
        """Starts a plugin anew ("restart"), has it asked no more ("disable"), or again ("enable"); Problem 409: it cannot be done."""
        return self._ask("POST", f"/v1/plugins/{quote(name, safe='')}/{quote(act, safe='')}")

    def providers(self) -> Document:
        """How the providers do, as the gateway's process has counted."""
        return self._ask("GET", "/v1/providers")

    def kinds(self) -> list[Document]:
        """Lists the kinds that a failure may be called by instead of its own: none where the gateway learns nothing."""
        return self._list("/v1/kinds", "kinds")

    def learn(self, run: str, correction: Document) -> Document:
        """Calls failures like a run's error by another kind, from the next one on."""
        return self._ask("POST", _path(run) + "/learn", correction)

    def decide(self, failed: Document, timeout: float = ADVICE) -> Document:
        """Asks what to do about a model call of your own that failed, once. Whatever it raises, go on as without Mulligan."""
        return _document(within(timeout, lambda: self._to.send("POST", "/v1/decide", failed)))

    def outcome(self, outcome: Document, timeout: float = ADVICE) -> None:
        """Tells how a call went on that was asked about."""
        within(timeout, lambda: self._to.send("POST", "/v1/outcome", outcome))

    def follow(self, run: str, after: int = 0) -> Iterator[Item]:
        """Yields what happens to a run: every event exactly once and in order, whatever becomes of the connection, with
        live text between them. It ends with the run, and raises a Problem that trying again cannot help."""
        return self._follow(run, after, threading.Event(), [])

    def follow_with_tools(self, run: str, tools: Iterable[Tool], after: int = 0) -> Iterator[Item]:
        """As follow, and answers meanwhile the calls of the tools that the run awaits, each on a thread of its own."""
        answering = Answering(tools)
        calls: list[Future[None]] = []
        stopped = threading.Event()
        sockets: list[socket.socket] = []

        def done(call: Future[None]) -> None:
            if call.exception() is not None:  # the run waits for it in vain
                stopped.set()
                hang_up(sockets)

        with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:

            def answer(situation: Document) -> None:
                for tool, call in answering.new(situation):
                    calls.append(threads.submit(self._answer, run, tool, call))
                    calls[-1].add_done_callback(done)

            answer(self.run(run)["situation"])
            for item in self._follow(run, after, stopped, sockets):
                if "situation" in item:
                    answer(item["situation"])
                yield item
        for call in calls:
            call.result()

    def _answer(self, run: str, tool: Tool, call: Document) -> None:
        try:
            given = result(call, tool.run(**call["args"]))
        except Exception as error:
            given = result(call, f"{type(error).__name__}: {error}", failed=True)
        self._give(run, given)

    def _give(self, run: str, given: Document, unfit: bool = False) -> None:
        try:
            self.return_tool_results(run, [given])
        except Problem as problem:
            if problem.status in (400, 413, 422) and not unfit:  # too long, or no text: the model is told, and the run does not wait
                self._give(run, {"callId": given["callId"], "text": f"its result cannot be given: {problem}", "isError": True}, unfit=True)
            elif problem.status not in (404, 409, 410):  # somebody else has answered, or the run goes on without it
                raise

    def _follow(self, run: str, after: int, stopped: threading.Event, sockets: list[socket.socket]) -> Iterator[Item]:
        failures = 0
        while not stopped.wait(backoff(failures)):
            failures += 1
            try:
                for kind, data in self._connect(run, after, stopped, sockets):
                    failures = 1
                    if kind == "end":
                        return
                    if kind == "resync":
                        failures = 0
                        break
                    item: Item = {kind: json.loads(data)}
                    if kind != "event":
                        yield item
                        continue
                    seq = item["event"]["seq"]
                    if seq > after + 1:
                        break  # a gap: ask for what is missing
                    if seq == after + 1:
                        after = seq
                        yield item
            except Problem as problem:
                if problem.status < 500 and problem.status not in (408, 429):
                    raise
            except (OSError, http.client.HTTPException, ValueError):
                pass  # the connection is lost

    def _connect(self, run: str, after: int, stopped: threading.Event, sockets: list[socket.socket]) -> Iterator[tuple[str, str]]:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        sock, response = self._to.open("GET", _path(run) + "/events", None, headers, SILENCE)
        sockets[:] = [sock]
        with sock, response:
            if stopped.is_set():  # before there was a socket to hang up
                return
            for kind, data in server_events(response):
                if kind in ("event", "delta", "situation", "notice", "end", "resync"):
                    yield kind, data

    def _ask(self, method: str, path: str, body: Any = None) -> Document:
        return _document(patiently(busy, lambda: self._to.send(method, path, body)))

    def _list(self, path: str, name: str) -> list[Document]:
        listed: list[Document] = self._ask("GET", path)[name]
        return listed


def _document(value: Any) -> Document:
    if not isinstance(value, dict):
        raise ValueError("the gateway's answer is no document")
    return value


def _path(run: str) -> str:
    return "/v1/runs/" + quote(run, safe="")


def _query(query: dict[str, Any]) -> str:
    pairs = {k: str(v).lower() if isinstance(v, bool) else v for k, v in query.items() if v is not None}
    return "?" + urlencode(pairs, doseq=True) if pairs else ""
