"""Both clients with a gateway that refuses, is slow, and cuts connections."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mulligan_client import AsyncClient, Client, Problem, Tool

STORY = [
    {"v": 1, "run": "r1", "seq": n, "type": "noted", "data": {"topic": "text"}} for n in range(1, 41)
] + [{"v": 1, "run": "r1", "seq": 41, "type": "ended", "data": {"status": "completed", "stopReason": "completed"}}]

Answer = Callable[["Gateway"], None]


class Gateway(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.command, self.path, dict(self.headers), None))
        self.server.answer(self)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        self.server.answer(self)

    do_PUT = do_DELETE = do_POST

    def say(self, status: int, body: Any, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    asked: list[tuple[str, str, dict[str, str], Any]]
    answer: Answer


@pytest.fixture
def gateway() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Gateway)
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(60)


def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def frame(event: dict[str, Any]) -> str:
    return f"id: {event['seq']}\nevent: event\ndata: {json.dumps(event)}\n\n"


def cutting(g: Gateway) -> None:
    """Cuts most connections, in mid-event, and says one event again."""
    last = int(g.headers["Last-Event-ID"])
    if len(g.server.asked) % 5 == 0:
        return g.say(502, {})
    if last >= 36:
        return g.stream("".join(frame(e) for e in STORY[last:]) + "event: end\ndata: {}\n\n")
    again = "".join(frame(e) for e in STORY[max(0, last - 1) : last + 9])
    g.stream(': welcome\n\nevent: delta\ndata: {"run": "r1", "attempt": 1, "offset": 0, "text": "x"}\n\n' + again + frame(STORY[last + 9])[:30])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mulligan_client._client.backoff", lambda failures: 0.0)


def test_every_event_once(gateway: Server) -> None:
    gateway.answer = cutting
    items = list(Client(url(gateway), "t").follow("r1"))
    assert [i["event"]["seq"] for i in items if "event" in i] == list(range(1, 42))
    assert any("delta" in i for i in items)
    assert all(headers["Authorization"] == "Bearer t" for _, _, headers, _ in gateway.asked)


def test_every_event_once_awaited(gateway: Server) -> None:
    gateway.answer = cutting

    async def follow() -> list[int]:
        return [i["event"]["seq"] async for i in AsyncClient(url(gateway), "t").follow("r1") if "event" in i]

    assert asyncio.run(follow()) == list(range(1, 42))


def test_left_early(gateway: Server) -> None:
    """Who stops following does not keep a connection that says nothing."""
    gone = threading.Event()

    def hold(g: Gateway) -> None:
        g.stream(frame(STORY[0]))
        g.connection.settimeout(60)
        try:
            g.connection.recv(1)
        except OSError:
            pass
        gone.set()

    gateway.answer = hold

    async def first() -> int:
        async with contextlib.aclosing(AsyncClient(url(gateway)).follow("r1")) as items:  # type: ignore[type-var]
            async for item in items:
                return int(item["event"]["seq"])
        return 0

    assert asyncio.run(first()) == 1
    assert gone.wait(60)


def test_problems(gateway: Server) -> None:
    gateway.answer = lambda g: g.say(410, {"status": 410, "detail": "too late", "errors": [{"location": "body.action", "message": "gone"}]})
    client = Client(url(gateway))
    with pytest.raises(Problem, match="too late; body.action: gone") as refused:
        client.recover("r1", {"action": "retry"})
    assert refused.value.status == 410
    with pytest.raises(Problem):
        list(client.follow("r1"))
    with pytest.raises(Problem):
        asyncio.run(AsyncClient(url(gateway)).cancel("r1"))
    for wrong in ("", "127.0.0.1:1", "ftp://x"):
        with pytest.raises(ValueError):
            Client(wrong)


def test_one_key(gateway: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is started under one idempotency key, however often it is asked for; advice is asked for once."""
    monkeypatch.setattr("mulligan_client._http.time.sleep", lambda _: None)

    def busy_twice(g: Gateway) -> None:
        g.say(503 if len(g.server.asked) == 1 else 429 if len(g.server.asked) == 2 else 200, {"id": "r1"})

    gateway.answer = busy_twice
    assert Client(url(gateway)).start({"prompt": "hi", "labels": {"tenant": "acme"}})["id"] == "r1"
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in gateway.asked}) == 1 and len(gateway.asked) == 3
    gateway.asked.clear()
    gateway.answer = lambda g: g.say(429, {})
    with pytest.raises(Problem):
        Client(url(gateway)).decide({"call": "c", "model": "a/b", "failure": {}}, timeout=60)
    assert len(gateway.asked) == 1
    gateway.answer = lambda g: g.say(429, {}, Retry_After="60")
    with pytest.raises(Problem) as refused:
        Client(url(gateway)).run("r1")
    assert refused.value.retry_after == 60


def test_words(gateway: Server) -> None:
    gateway.answer = lambda g: g.say(200, {"runs": [], "models": [1], "kinds": [2], "plugins": [3], "suggestions": [4], "sessions": [5]})
    client = Client(url(gateway) + "/")
    client.runs(status="failed", label=["a=b", "c=d"], waiting=True)
    client.session("a/b", limit=2)
    client.outcome({"call": "c", "ok": True}, timeout=60)
    client.set_session_title("a", "Tea")
    client.delete_session("a")
    client.act_on_plugin("a/b", "restart")
    client.providers()
    listed: list[Any] = [client.models(), client.kinds(), client.plugins(), client.suggestions(), client.sessions(7)]
    assert listed == [[1], [2], [3], [4], [5]]
    assert [path for _, path, _, _ in gateway.asked] == [
        "/v1/runs?status=failed&label=a%3Db&label=c%3Dd&waiting=true", "/v1/sessions/a%2Fb?limit=2", "/v1/outcome", "/v1/sessions/a/title", "/v1/sessions/a", "/v1/plugins/a%2Fb/restart", "/v1/providers",
        "/v1/models", "/v1/kinds", "/v1/plugins", "/v1/suggestions?limit=50", "/v1/sessions?limit=7",
    ]
    both = [{n for n in dir(c) if not n.startswith("_")} for c in (Client, AsyncClient)]
    assert both[0] == both[1]


def test_fails_open() -> None:
    """Advice is waited for no longer than the contract says."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(TimeoutError, match="0.25"):
            Client(f"http://127.0.0.1:{silent.getsockname()[1]}").decide({"call": "c", "model": "a/b", "failure": {}})


AWAITED = {
    "status": "waiting",
    "awaited": [
        {"id": "c1", "name": "get_weather", "args": {"city": "Oslo"}, "key": "k1"},
        {"id": "c2", "name": "broken", "args": {}, "key": "k2"},
        {"id": "c3", "name": "not_ours", "args": {}, "key": "k3"},
    ],
}


def awaiting(g: Gateway) -> None:
    """Awaits tool calls until both are answered; one of them somebody else has answered."""
    given = [body["results"][0] for _, path, _, body in g.server.asked if path.endswith("/tool-results")]
    if g.path.endswith("/tool-results"):
        return g.say(409 if given[-1]["callId"] == "c2" else 202, {"detail": "another result"})
    if not g.path.endswith("/events"):
        return g.say(200, {"id": "r1", "situation": AWAITED})
    if len(given) < 2:
        return g.stream(f"event: situation\ndata: {json.dumps(AWAITED)}\n\n")
    g.stream("event: end\ndata: {}\n\n")


def get_weather(city: str) -> str:
    return f"22 degrees in {city}"


async def get_weather_later(city: str) -> str:
    return get_weather(city)


def broken() -> str:
    raise ValueError("no thermometer")


def answered(gateway: Server) -> list[Any]:
    given = [body["results"][0] for _, path, _, body in gateway.asked if path.endswith("/tool-results")]
    return sorted(given, key=lambda r: str(r["callId"]))


RESULTS = [{"callId": "c1", "text": "22 degrees in Oslo"}, {"callId": "c2", "text": "ValueError: no thermometer", "isError": True}]


def test_tools(gateway: Server) -> None:
    gateway.answer = awaiting
    tools = [Tool("get_weather", get_weather, "The weather", safety="read_only"), Tool("broken", broken)]
    client = Client(url(gateway))
    client.start({"prompt": "hi", "tools": tools})
    assert gateway.asked[0][3]["tools"][0] == {"name": "get_weather", "description": "The weather", "safety": "read_only"}
    list(client.follow_with_tools("r1", tools))
    assert answered(gateway) == RESULTS


def test_tools_awaited(gateway: Server) -> None:
    gateway.answer = awaiting
    tools = [Tool("get_weather", get_weather_later), Tool("broken", broken)]

    async def follow() -> None:
        async for _ in AsyncClient(url(gateway)).follow_with_tools("r1", tools):
            pass

    asyncio.run(follow())
    assert answered(gateway) == RESULTS


def holding(status: int, unfit: str, over: threading.Event) -> Answer:
    """Awaits a call, and refuses the result that is unfit; "" is any. The stream is held open until it is over."""

    def answer(g: Gateway) -> None:
        if g.path.endswith("/tool-results"):
            text = g.server.asked[-1][3]["results"][0]["text"]
            if unfit in text:
                return g.say(status, {"detail": "no"})
            over.set()
            return g.say(202, {"id": "r1"})
        if not g.path.endswith("/events"):
            return g.say(200, {"id": "r1", "situation": {"awaited": AWAITED["awaited"][:1]}})
        g.stream(": welcome\n\n")
        over.wait(30)
        g.wfile.write(b"event: end\ndata: {}\n\n")

    return answer


def follow_awaited(at: Server) -> None:
    async def follow() -> None:
        async for _ in AsyncClient(url(at)).follow_with_tools("r1", [Tool("get_weather", get_weather_later)]):
            pass

    asyncio.run(follow())


def follow_waiting(at: Server) -> None:
    list(Client(url(at)).follow_with_tools("r1", [Tool("get_weather", get_weather)]))


FOLLOWS = pytest.mark.parametrize("follow", [follow_waiting, follow_awaited])


@FOLLOWS
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_result_that_cannot_be_given(gateway: Server, follow: Callable[[Server], None], status: int) -> None:
    gateway.answer = holding(status, "degrees", threading.Event())
    follow(gateway)
    assert answered(gateway)[-1] == {"callId": "c1", "text": "its result cannot be given: no", "isError": True}


@FOLLOWS
def test_nobody_waits_for_a_result_that_is_refused(gateway: Server, follow: Callable[[Server], None]) -> None:
    over = threading.Event()
    gateway.answer = holding(401, "", over)
    with pytest.raises(Problem) as problem:
        follow(gateway)
    assert problem.value.status == 401 and not over.is_set()
    over.set()
