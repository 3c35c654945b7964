"""What an advisor does where nothing or nonsense comes back, and what a call says of itself."""

from __future__ import annotations

import http.server
import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mulligan_recovery import Advice, Advisor, evidence_of

QUESTION: dict[str, Any] = {"call": "c", "model": "a/b", "failure": {}}


def test_hung(caplog: pytest.LogCaptureFixture) -> None:
    """A service that listens and says nothing is given up after 250 ms; it is said once."""
    with socket.create_server(("127.0.0.1", 0)) as silent, caplog.at_level(logging.WARNING, "mulligan"):
        advisor = Advisor(f"http://127.0.0.1:{silent.getsockname()[1]}", "t")
        assert advisor.timeout == 0.25
        assert advisor.decide(QUESTION) is None
        assert advisor.decide(QUESTION) is None
    assert len(caplog.records) == 1 and "no answer within 0.25 s" in caplog.records[0].message


@pytest.fixture
def scripted() -> Iterator[tuple[Advisor, list[tuple[int, bytes]], list[Any]]]:
    """An advisor of a service that answers what it is given."""
    answers: list[tuple[int, bytes]] = []
    asked: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            status, body = answers.pop(0)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield Advisor(f"http://127.0.0.1:{server.server_address[1]}", "t", timeout=60), answers, asked
    finally:
        server.shutdown()
        server.server_close()


def test_nonsense(scripted: tuple[Advisor, list[tuple[int, bytes]], list[Any]]) -> None:
    advisor, answers, _ = scripted
    nonsense = [b"[]", b"<html>", b"", b'{"decision": [1]}', b'{"decision": {"delayMs": "x"}}']
    for status, body in [(500, b"{}"), (401, b"{}"), *((200, one) for one in nonsense)]:
        answers.append((status, body))
        assert advisor.decide(QUESTION) is None, body


def test_call(scripted: tuple[Advisor, list[tuple[int, bytes]], list[Any]]) -> None:
    """Attempts are counted, a switch stays, and an answer is told."""
    advisor, answers, asked = scripted
    answers += [(200, b'{"decision": {"action": "switch_model", "newModel": "c/d"}}'), (200, b'{"decision": {"action": "retry", "delayMs": 1}}'), (200, b"{}")]
    call = advisor.call("a/b", ["c/d"], sessionKey="s")
    assert call.failed(ValueError("first")) and call.model == "c/d"
    assert call.failed(ValueError("second")) and call.model == "c/d"
    said = call.answered()
    assert said is not None
    said.join(60)
    one, two = (question for path, question in asked if path == "/v1/decide")
    assert (one["model"], one["attempt"], two["model"], two["attempt"]) == ("a/b", 0, "c/d", 1)
    assert one["call"] == two["call"] and one["sessionKey"] == "s" and one["autoRecover"] is True
    assert one["failure"] == {"message": "first", "exception": "ValueError"}
    assert asked[2] == ("/v1/outcome", {"call": one["call"], "ok": True, "model": "c/d"})


def test_what_is_not_acted_on() -> None:
    retry = {"action": "retry"}
    assert Advice.of({"decision": retry}).acts
    for reply in ({}, {"decision": {"action": "fail"}}, {"decision": {**retry, "blockedBy": "max_retries"}}, {"decision": retry, "recoverySuggestion": {}}):
        assert not Advice.of(reply).acts, reply


def test_evidence_is_bounded_and_has_no_keys() -> None:
    class Response:
        status_code = 429
        headers = {"Retry-After": "3", "Authorization": "Bearer secret", "x": "y" * 5000}
        text = "b" * 100_000

    error = RuntimeError("m" * 100_000)
    error.response = Response()  # type: ignore[attr-defined]
    wrapped = ValueError("outside")
    wrapped.__cause__ = error
    e = evidence_of(wrapped)
    assert e["status"] == 429 and e["headers"]["Retry-After"] == "3" and "secret" not in json.dumps(e)
    assert len(e["body"]) == 64 << 10 and len(json.dumps(e)) < 80_000
    loop = ValueError("x")
    loop.__cause__ = wrapped
    wrapped.__cause__ = loop
    assert evidence_of(wrapped)["message"]
