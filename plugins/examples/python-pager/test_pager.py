import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from mulligan.testing import KINDS, event

import pager
from pager import Pager

AUTH = event("auth", model="anthropic/claude-opus-4-5", title="The key was refused")
BUSY = event("overloaded", model="anthropic/claude-opus-4-5")


class World:
    """A pager whose clock stands still and whose pages are kept."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pages: list[dict[str, str]] = []
        self.broken = False
        self.pager = Pager(send=self._send, clock=lambda: self.now, wait=10)

    def _send(self, page: dict[str, str]) -> None:
        if self.broken:
            raise OSError("https://hooks.example/secret does not answer")
        self.pages.append(page)

    def texts(self) -> list[str]:
        return [page["text"] for page in self.pages]


@pytest.fixture
def world() -> World:
    return World()


def test_pages_about_what_only_a_person_can_repair(world: World) -> None:
    for kind in KINDS:
        world.pager.run_error(event(kind, model=f"{kind}/model"))
    assert [page["kind"] for page in world.pages] == ["auth", "billing", "quota"]


def test_pages_nobody_about_a_replay(world: World) -> None:
    for kind in KINDS:
        world.pager.run_error(event(kind, dry_run=True))
    assert world.pages == []


def test_a_page_says_who_and_what(world: World) -> None:
    world.pager.run_error(AUTH)
    assert world.pages == [
        {
            "text": "anthropic: auth. The key was refused",
            "kind": "auth",
            "provider": "anthropic",
            "model": "anthropic/claude-opus-4-5",
            "run": "run-1",
        }
    ]


def test_pages_once_in_15_minutes_for_each_kind_and_provider(world: World) -> None:
    for e in (AUTH, AUTH, event("billing", model="anthropic/x"), event("auth", model="openai/x")):
        world.pager.run_error(e)
    world.now = 899
    world.pager.run_error(AUTH)
    assert len(world.pages) == 3
    world.now = 900
    world.pager.run_error(AUTH)
    assert len(world.pages) == 4


def test_pages_at_the_fifth_failure_in_ten_minutes(world: World) -> None:
    for minute in (0, 1, 2, 3, 10):  # the first one is over by the fifth
        world.now = minute * 60
        world.pager.run_error(BUSY)
    assert world.pages == []
    world.pager.run_error(event("timeout", model="openai/x"))  # counts for another
    world.pager.run_error(BUSY)
    world.pager.run_error(BUSY)
    assert world.texts() == ["anthropic: 5 failures in 10 min, now overloaded."]


def test_a_tool_is_nobodys_failure(world: World) -> None:
    for _ in range(9):
        world.pager.run_error(event("tool_failure", origin="tool"))
    assert world.pages == []


def test_a_page_that_was_not_delivered_is_tried_again(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.broken = True
    with caplog.at_level(logging.ERROR):
        world.pager.run_error(AUTH)
    assert "OSError" in caplog.text and "secret" not in caplog.text
    world.broken = False
    world.pager.run_error(AUTH)
    assert len(world.pages) == 1


def test_an_answer_does_not_wait_for_its_page() -> None:
    answered, sent = threading.Event(), threading.Event()

    def send(page: dict[str, str]) -> None:
        assert answered.wait(10)
        sent.set()

    Pager(send=send).run_error(AUTH)
    answered.set()
    assert sent.wait(10)


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv(pager.URL, f"http://127.0.0.1:{server.server_port}/hook")
        yield bodies
        server.shutdown()
        thread.join()


def test_posts_json(webhook: list[bytes]) -> None:
    Pager(wait=10).run_error(AUTH)
    assert json.loads(webhook[0])["text"] == "anthropic: auth. The key was refused"


@pytest.mark.parametrize("address", ["", "hooks.example/x", "file:///etc/passwd"])
def test_does_not_start_without_an_address(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv(pager.URL, address)
    with pytest.raises(ValueError, match=pager.URL):
        pager.configure({})


def test_takes_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(pager.URL, "https://hooks.example/x")
    monkeypatch.setattr(pager, "pager", taken := Pager())
    pager.configure({"kinds": ["tls"], "failures": 2, "within_minutes": 0.5, "wait_seconds": 1})
    assert (taken.kinds, taken.failures, taken.within, taken.wait) == (("tls",), 2, 30, 1)
