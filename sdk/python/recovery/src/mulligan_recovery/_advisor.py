"""The question, and the answer."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ._evidence import evidence_of

_log = logging.getLogger("mulligan")
_MOST = 1 << 20
_T = TypeVar("_T")


@dataclass(frozen=True)
class Advice:
    """What to do about a failed call. It is to be acted on where acts is true."""

    action: str = ""
    delay: float = 0.0
    new_model: str = ""
    reason: str = ""
    blocked_by: str = ""
    suggestion: dict[str, Any] | None = None
    """meta.recoverySuggestion: what a person is to be asked, with its buttons."""
    failure: dict[str, Any] = field(default_factory=dict)
    adjust: dict[str, Any] = field(default_factory=dict)
    run: str = ""

    @property
    def acts(self) -> bool:
        return self.action in ("retry", "switch_model") and not self.blocked_by and self.suggestion is None

    @classmethod
    def of(cls, reply: dict[str, Any]) -> Advice:
        d = reply.get("decision") or {}
        return cls(
            action=d.get("action", ""),
            delay=d.get("delayMs", 0) / 1000,
            new_model=d.get("newModel", ""),
            reason=d.get("reason", ""),
            blocked_by=d.get("blockedBy", ""),
            suggestion=reply.get("recoverySuggestion"),
            failure=reply.get("failure") or {},
            adjust=d.get("adjust") or {},
            run=reply.get("run", ""),
        )


class Advisor:
    """Asks Mulligan (`mulligan serve`): at MULLIGAN_URL, with the token MULLIGAN_TOKEN or that of the state folder.

    Fails open: where no answer comes within timeout seconds, decide gives None, and it is said once.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, timeout: float = 0.25, auto_recover: bool | None = True
    ) -> None:
        self.url = (url or os.environ.get("MULLIGAN_URL") or "http://127.0.0.1:8484").rstrip("/")
        self._token = token or os.environ.get("MULLIGAN_TOKEN")
        self.timeout = timeout
        self.auto_recover = auto_recover
        self._said = False
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is a neighbour

    def call(self, model: str, alternatives: Iterable[str] = (), **facts: Any) -> Call:
        """One model call, which may have several attempts. facts are more fields of the question."""
        return Call(self, model, list(alternatives), facts)

    def decide(self, question: dict[str, Any]) -> Advice | None:
        """POST /v1/decide; None is "as without Mulligan"."""
        if self.auto_recover is not None:
            question = {"autoRecover": self.auto_recover, **question}
        return self._ask("/v1/decide", question, Advice.of)

    def outcome(self, call: str, *, model: str = "", failure: dict[str, Any] | None = None) -> None:
        """POST /v1/outcome: there is an answer, or the call is given up with a failure."""
        told: dict[str, Any] = {"call": call, "ok": failure is None}
        if model:
            told["model"] = model
        if failure is not None:
            told["failure"] = failure
        self._ask("/v1/outcome", told, dict)

    def _ask(self, path: str, body: dict[str, Any], read: Callable[[dict[str, Any]], _T]) -> _T | None:
        """Asks beside this thread: a deadline of the whole, which no socket has."""
        done: Future[dict[str, Any]] = Future()
        threading.Thread(target=self._send, args=(path, body, done), daemon=True).start()
        try:
            return read(done.result(self.timeout))
        except Exception as error:
            if not self._said:
                self._said = True
                why = str(error) or f"no answer within {self.timeout} s"
                _log.warning("Mulligan at %s gives no advice (%s): failures are handled as without it", self.url, why)
            return None

    def _send(self, path: str, body: dict[str, Any], done: Future[dict[str, Any]]) -> None:
        try:
            request = urllib.request.Request(
                self.url + path,
                data=json.dumps(body).encode(),
                headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._secret()}"},
            )
            with self._opener.open(request, timeout=self.timeout) as answer:
                reply = json.loads(answer.read(_MOST))
            if not isinstance(reply, dict):
                raise ValueError("the answer is no object")
            done.set_result(reply)
        except Exception as error:
            done.set_exception(error)

    def _secret(self) -> str:
        if not self._token:
            state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
            self._token = (Path(state) / "mulligan" / "token").read_text().strip()
        return self._token


class Call:
    """A model call and its attempts."""

    def __init__(self, advisor: Advisor, model: str, alternatives: list[str], facts: dict[str, Any]) -> None:
        self.id = uuid.uuid4().hex
        self.model = model
        self.attempt = 0
        self.advice: Advice | None = None
        self._advisor, self._alternatives, self._facts = advisor, alternatives, facts

    def ask(self, error: BaseException, **facts: Any) -> Advice | None:
        """What to do about the attempt that failed. Where that is to be acted on, model is who is to be asked next."""
        question: dict[str, Any] = {
            "call": self.id,
            "attempt": self.attempt,
            "model": self.model,
            "alternatives": self._alternatives,
            "failure": evidence_of(error),
            **self._facts,
            **facts,
        }
        self.advice = advice = self._advisor.decide(question)
        self.attempt += 1
        if advice is not None and advice.acts and advice.new_model:
            self.model = advice.new_model
        return advice

    def failed(self, error: BaseException, **facts: Any) -> bool:
        """Asks, and waits as long as it is told to; True where another attempt is to be made, of model."""
        advice = self.ask(error, **facts)
        if advice is None or not advice.acts:
            return False
        time.sleep(advice.delay)
        return True

    async def afailed(self, error: BaseException, **facts: Any) -> bool:
        """failed for programs that wait otherwise."""
        advice = await asyncio.to_thread(self.ask, error, **facts)
        if advice is None or not advice.acts:
            return False
        await asyncio.sleep(advice.delay)
        return True

    def answered(self) -> threading.Thread | None:
        """There is an answer. Mulligan is told where it was asked, by a thread of its own."""
        if self.advice is None:
            return None
        told = threading.Thread(target=self._advisor.outcome, args=(self.id,), kwargs={"model": self.model}, daemon=True)
        told.start()
        return told
