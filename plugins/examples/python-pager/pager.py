"""A recovery plugin that pages a person about what only a person can repair: see README.md."""

import json
import logging
import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from mulligan import Event, serve

CONFIG_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "python-pager",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "kinds": {
            "description": "Kinds of failure that page at once.",
            "type": "array",
            "items": {"type": "string"},
            "default": ["auth", "billing", "quota"],
        },
        "failures": {
            "description": "So many failures of one provider within within_minutes page, of whatever kind.",
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "default": 5,
        },
        "within_minutes": {"type": "number", "exclusiveMinimum": 0, "maximum": 1440, "default": 10},
        "wait_seconds": {
            "description": "How long an answer may wait for its page, where hosts end with their run.",
            "type": "number",
            "minimum": 0,
            "maximum": 1.5,
            "default": 0,
        },
    },
}

URL = "PAGER_WEBHOOK"  # the environment variable; the address is a secret mostly
QUIET = 15 * 60  # seconds between two pages about the same
TIMEOUT = 3  # seconds for a page


def post(page: dict[str, str]) -> None:
    """Send a page to the webhook."""
    request = Request(os.environ[URL], json.dumps(page).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=TIMEOUT):
        pass


@dataclass
class Pager:
    """The policy. It is asked from several threads at once."""

    send: Callable[[dict[str, str]], None] = post
    clock: Callable[[], float] = time.monotonic
    kinds: tuple[str, ...] = ("auth", "billing", "quota")
    failures: int = 5
    within: float = 600.0  # seconds
    wait: float = 0.0  # seconds
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _failed: defaultdict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque), init=False)
    _paged: dict[tuple[str, str], float] = field(default_factory=dict, init=False)

    def run_error(self, e: Event) -> None:
        """Page if need be, in the background, and have no opinion."""
        if e.dry_run:  # nobody is woken up by a replay
            return
        if e.failure.origin == "model" and (about := self._about(e)):
            page = threading.Thread(target=self._page, args=(about, e), daemon=True)
            page.start()
            page.join(self.wait)

    def _about(self, e: Event) -> str:
        """Say what to page about, once in a while: the kind, "failures", or nothing."""
        with self._lock:
            now, failed = self.clock(), self._failed[e.provider]
            failed.append(now)
            while failed[0] <= now - self.within or len(failed) > self.failures:
                failed.popleft()
            about = e.kind if e.kind in self.kinds else "failures" if len(failed) == self.failures else ""
            if not about or now - self._paged.get((about, e.provider), -QUIET) < QUIET:
                return ""
            self._paged[about, e.provider] = now
            return about

    def _page(self, about: str, e: Event) -> None:
        what = f"{self.failures} failures in {self.within / 60:g} min, now {e.kind}" if about == "failures" else e.kind
        text = f"{e.provider}: {what}. {e.failure.title}".strip()
        try:
            self.send({"text": text, "kind": e.kind, "provider": e.provider, "model": e.model, "run": e.run})
        except Exception as error:  # its words could hold the address
            logging.error("the page about %s was not delivered: %s", e.provider, type(error).__name__)
            with self._lock:
                del self._paged[about, e.provider]  # the next failure tries again


pager = Pager()


def configure(config: dict[str, Any]) -> None:
    """Take the settings; without an address to page, the plugin does not start."""
    if not os.environ.get("MULLIGAN_DRY_RUN") and urlsplit(os.environ.get(URL, "")).scheme not in ("http", "https"):
        raise ValueError(f"{URL} is no http or https address, or was not granted")
    pager.kinds = tuple(config.get("kinds", pager.kinds))
    pager.failures = config.get("failures", pager.failures)
    pager.within = 60 * config.get("within_minutes", pager.within / 60)
    pager.wait = config.get("wait_seconds", pager.wait)


serve(pager.run_error, name="python-pager", version="0.1.0", config_schema=CONFIG_SCHEMA, configure=configure)
