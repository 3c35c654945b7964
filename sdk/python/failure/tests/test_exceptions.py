"""Exceptions, by what they have: fakes of the clients', and real ones of the standard library."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any, Dict, Iterator

import pytest

from mulligan_failure import KINDS, Evidence, classify, evidence_of


class Answer:
    """What httpx and requests have of an answer."""

    def __init__(self, status: int, content: bytes, headers: Dict[str, str]) -> None:
        self.status_code, self.content, self.headers = status, content, headers


class RateLimitError(Exception):
    """As openai and anthropic raise it."""

    def __init__(self, message: str, response: Any = None, body: Any = None) -> None:
        super().__init__(message)
        self.response, self.body, self.status_code = response, body, 429


def test_a_client_error_has_the_answer() -> None:
    body = b'{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}'
    error = RateLimitError("Error code: 429", Answer(429, body, {"Retry-After": "7", "x-request-id": "req_1"}))
    f = classify(error, provider="openai", model="openai/gpt-5")
    assert (f.kind, f.retryable, f.provider_code, f.request_id, f.http_status) == ("billing", False, "insufficient_quota", "req_1", 429)
    assert str(f) == "Your OpenAI account has no credit left. Add credit, or use another provider."


def test_a_parsed_body_is_as_good() -> None:
    f = classify(RateLimitError("slow down", body={"error": {"type": "rate_limit_error", "message": "Please retry in 9.8s"}}))
    assert (f.kind, f.retry_after, f.detail) == ("rate_limit", 9.8, "Please retry in 9.8s")


def test_an_answer_that_was_not_read() -> None:
    class Unread(Answer):
        @property
        def content(self) -> bytes:
            raise RuntimeError("the stream was not read")

        @content.setter
        def content(self, _: bytes) -> None:
            pass

    assert classify(RateLimitError("slow down", Unread(429, b"", {}))).kind == "rate_limit"


def test_an_error_of_botocore() -> None:
    class ClientError(Exception):
        response = {
            "Error": {"Code": "ThrottlingException", "Message": "Too many requests"},
            "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"x-amzn-requestid": "aws_1"}},
        }

    f = classify(ClientError("An error occurred (ThrottlingException) when calling Converse"), provider="bedrock")
    assert (f.kind, f.provider_code, f.request_id, f.http_status) == ("rate_limit", "ThrottlingException", "aws_1", 429)


def test_what_caused_it_counts() -> None:
    class APIConnectionError(Exception):
        pass

    try:
        try:
            socket.create_connection(("127.0.0.1", free_port()), timeout=20)
        except OSError as refused:
            raise APIConnectionError("Connection error.") from refused
    except APIConnectionError as error:
        f = classify(error)
    assert (f.kind, f.retryable, f.phase) == ("unreachable", True, "before_connect")
    assert "refused" in f.detail.lower()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("error", [TimeoutError(), asyncio.TimeoutError(), socket.timeout("timed out")])
def test_timers(error: BaseException) -> None:
    assert classify(error).kind == "timeout"


def test_a_stream_that_breaks() -> None:
    assert classify(ConnectionResetError(104, "Connection reset by peer"), phase="mid_stream").kind == "stream_interrupted"


class Overloaded(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(529)
        self.send_header("request-id", "req_2")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Overloaded) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()
        thread.join()


def test_an_error_of_urllib(server: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(server, timeout=20)
    f = classify(raised.value, provider="anthropic")
    assert (f.kind, f.request_id, f.title) == ("overloaded", "req_2", "Anthropic is overloaded")
    raised.value.close()


def test_whatever_is_raised_gets_a_kind() -> None:
    class Hostile(Exception):
        headers = Message()

        def __str__(self) -> str:
            raise RuntimeError("no words")

        @property
        def response(self) -> object:
            raise RuntimeError("no answer")

    hostile = Hostile()
    hostile.__cause__ = hostile
    loop = ValueError("a")
    loop.__cause__ = KeyError("b")
    loop.__cause__.__cause__ = loop
    for error in (hostile, loop, KeyboardInterrupt(), Exception("\ud800\udfff"), Exception(b"\xff"), Exception("x" * 1_000_000)):
        assert classify(error).kind in KINDS
    assert evidence_of(loop).error == "ValueError: a: KeyError: 'b'"


def test_the_kind_that_you_know_counts() -> None:
    f = classify(Evidence(kind="of_tomorrow", error="rate limit"))
    assert (str(f.kind), f.code, f.retryable) == ("of_tomorrow", "MODEL_PROVIDER_ERROR", True)
