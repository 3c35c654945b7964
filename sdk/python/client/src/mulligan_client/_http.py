"""Requests, and answers that are none of success."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

Document = dict[str, Any]
"""A document of the gateway, as /openapi.json tells of it."""

Item = dict[str, Any]
"""What a follower gets, under one of: event, delta, situation, notice."""

T = TypeVar("T")

PATIENCE = 30.0
"""How long a gateway that is busy is asked again, in seconds."""

_MOST = 64 << 20


class Problem(Exception):
    """A request that the gateway refused (RFC 9457)."""

    def __init__(self, status: int, detail: str, fields: list[Document] | None = None, retry_after: float = 0.0) -> None:
        super().__init__("; ".join([detail, *(f"{f.get('location', '')}: {f.get('message', '')}" for f in fields or [])]))
        self.status = status
        """Of HTTP: 401 sign in, 404 unknown, 409 answered, 410 expired, 422 one field is wrong."""
        self.detail = detail
        self.fields = fields or []
        self.retry_after = retry_after
        """When it may be asked again, in seconds; 0 where the gateway did not say so."""


def problem_of(response: http.client.HTTPResponse) -> Problem:
    after = response.getheader("Retry-After") or ""
    retry_after = float(after) if after.isdecimal() else 0.0
    try:
        doc = json.loads(response.read(64 << 10))
        return Problem(response.status, str(doc.get("detail") or doc.get("title") or response.reason), doc.get("errors"), retry_after)
    except (ValueError, AttributeError):
        return Problem(response.status, response.reason or f"HTTP {response.status}", None, retry_after)


def busy(problem: Problem) -> bool:
    """It was refused before anything of it was done."""
    return problem.status == 429


def busy_or_down(problem: Problem) -> bool:
    """It may have been done, and may be made twice all the same."""
    return problem.status in (429, 503)


def patiently(passes: Callable[[Problem], bool], request: Callable[[], T]) -> T:
    """Makes a request again while it is refused in a way that passes, for 30 s at the most."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return request()
        except Problem as problem:
            wait = max(problem.retry_after, 1.0) * random.uniform(1, 1.25)  # not all who were refused at once come back at once
            if not passes(problem) or time.monotonic() + wait > deadline:
                raise
            time.sleep(wait)


class Transport:
    """One gateway. Every request has a connection of its own."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a gateway: write for example http://127.0.0.1:8484")
        self._https = parts.scheme == "https"
        self._at = (parts.hostname, parts.port)
        self._path = parts.path.rstrip("/")
        self._token = token

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, timeout: float = 60.0) -> Any:
        """Makes a request once, and reads its answer."""
        sock, response = self.open(method, path, body, headers, timeout)
        with sock, response:
            return None if response.status == 204 else json.loads(response.read(_MOST))

    def open(
        self, method: str, path: str, body: Any, headers: dict[str, str] | None, timeout: float
    ) -> tuple[socket.socket, http.client.HTTPResponse]:
        """Makes a request; timeout is for each step of it. What it gives is the caller's to close."""
        kind = http.client.HTTPSConnection if self._https else http.client.HTTPConnection
        connection = kind(*self._at, timeout=timeout)
        sent = {"Accept": "application/json", **(headers or {})}
        if self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        connection.connect()
        sock: socket.socket = connection.sock
        try:
            connection.request(method, self._path + path, data, sent)
            response = connection.getresponse()
            if response.status // 100 == 2:
                return sock, response
            with response:
                raise problem_of(response)
        except BaseException:
            sock.close()
            raise


def within(seconds: float, request: Callable[[], T]) -> T:
    """A request under a deadline of the whole, which no socket has: TimeoutError after it."""
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(request())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise TimeoutError(f"no answer within {seconds} s")
    return done[0]


def server_events(response: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    """The events of a stream: what each is and its data. What has no blank line after it is not complete."""
    event, data, size = "message", [], 0
    while line := response.readline(_MOST):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        size += len(text)
        if size >= _MOST:
            raise http.client.HTTPException("the server sent an event without an end")
        if text:
            field, _, value = text.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                event = value
            continue
        if data:
            yield event, "\n".join(data)
        event, data, size = "message", [], 0


def hang_up(sockets: list[socket.socket]) -> None:
    """Ends a read that waits at one of them."""
    for sock in sockets:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def backoff(failures: int) -> float:
    """The pause after so many failures in a row: 0, 0.25 s, doubling up to 4 s."""
    return 0.0 if failures == 0 else min(0.25 * math.pow(2, failures - 1), 4.0) * random.uniform(0.75, 1.25)
