"""What the events of a run amount to, by the rules of the runner's own fold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._http import Document, Item


@dataclass
class View:
    """A run as a client shows it."""

    id: str = ""
    session: str = ""
    seq: int = 0
    status: str = "running"
    waiting_for: str = ""
    stop_reason: str = ""
    model: str = ""
    """That is asked, or was asked last."""
    text: str = ""
    """What the model said last."""
    text_model: str = ""
    """Who wrote it."""
    partial: bool = False
    """The attempt that wrote it failed, or goes on."""
    truncated: bool = False
    tokens: int = 0
    wasted_tokens: int = 0
    error: Document | None = None
    suggestion: Document | None = None
    """meta.recoverySuggestion, while it is open."""
    situation: Document | None = None
    """What a person should see and can do, in the gateway's words."""
    notice: str = ""
    lines: list[str] = field(default_factory=list)
    """What people are told of the events, one line each."""


class _Streamed:
    """Text that streams in pieces, which may get lost, come late or come twice."""

    def __init__(self, begun: str = "") -> None:
        self._begun = begun
        self._bytes = begun.encode()

    def delta(self, offset: int, text: str) -> None:
        piece, known = text.encode(), len(self._bytes)
        if 0 <= offset <= known < offset + len(piece):
            self._bytes += piece[known - offset :]

    def end(self, text: str) -> None:
        self._bytes = (text or self._begun).encode()

    @property
    def text(self) -> str:
        return self._bytes.decode("utf-8", "replace")


@dataclass
class _Attempt:
    id: int
    model: str
    again: bool
    text: _Streamed
    in_air: bool = True


class Fold:
    """Makes a View of what is followed."""

    def __init__(self) -> None:
        self.view = View()
        self._messages: list[Document] = []
        self._attempt: _Attempt | None = None
        self._answers = 0
        self._calls: dict[str, bool] = {}  # tool calls of the last answer, and whether each has returned
        self._truncated = False
        self._caller_tools = False
        self._open: Document | None = None
        self._suggestion: Document | None = None
        self._ended = False

    def apply(self, item: Item) -> None:
        if "event" in item:
            self._event(item["event"])
        elif "delta" in item:
            self._delta(item["delta"])
        elif "situation" in item:
            self.view.situation = item["situation"]
        elif "notice" in item:
            self.view.notice = item["notice"]["text"]
        self._publish()

    def _event(self, e: Document) -> None:
        v = self.view
        if e["seq"] <= v.seq:
            return
        if e["seq"] != v.seq + 1:
            raise ValueError(f"run {e['run']}: event {e['seq']} cannot follow event {v.seq}")
        v.seq, v.notice = e["seq"], ""
        if e.get("text"):
            v.lines.append(e["text"])
        happened = getattr(self, "_on_" + e["type"], None)
        if happened is not None and not self._ended:
            happened(e, e.get("data") or {})

    def _delta(self, d: Document) -> None:
        a = self._attempt
        if a is not None and a.id == d["attempt"] and a.in_air and not d.get("thinking"):
            a.text.delta(d["offset"], d["text"])
            self.view.notice = ""

    def _on_started(self, e: Document, b: Document) -> None:
        self.view.id, self.view.session, self.view.model = e["run"], b.get("session", ""), b["model"]
        self._caller_tools = b.get("policy", {}).get("tools") == "caller"
        self._messages += b.get("input") or []

    def _on_began(self, _: Document, b: Document) -> None:
        a = self._attempt
        begun = a.text.text if a is not None and a.id == b.get("continues") else ""
        self._attempt = _Attempt(b["attempt"], b["model"], b.get("again", False), _Streamed(begun))
        self.view.model, self._open = b["model"], None

    def _on_answered(self, _: Document, b: Document) -> None:
        a = self._attempt
        if a is None or a.id != b["attempt"] or not a.in_air:
            return
        self._spend(b.get("usage"))
        if a.again:
            self._messages.pop()
        self._messages.append(b["message"])
        self._answers += 1
        parts = b["message"].get("parts") or []
        self._calls = {} if self._caller_tools else {p["call"]["id"]: False for p in parts if p.get("call")}
        self._truncated, self._attempt = b.get("stop") == "length", None

    def _on_failed(self, _: Document, b: Document) -> None:
        a = self._attempt
        mine = a is not None and a.id == b.get("attempt", 0) and a.in_air
        if mine:
            self._spend(b.get("usage"))
            self.view.wasted_tokens += _total(b.get("usage"))
        if self._answers > 0 and not self._calls and (a is None or a.again):
            self._attempt = None  # an answer that was cut stays what it is where it cannot be had once more
            return
        self._said(b)
        self._open = b
        if a is not None and mine:
            a.in_air = False

    def _on_tool_returned(self, _: Document, b: Document) -> None:
        if self._calls.get(b["callId"]) is False:
            self._calls[b["callId"]] = True
            self._messages.append({"role": "tool", "parts": [{"result": b["result"]}]})

    def _on_compacted(self, _: Document, b: Document) -> None:
        self._spend(b.get("usage"))

    def _on_suggested(self, _: Document, b: Document) -> None:
        self._suggestion = {**b["suggestion"], "actions": b["suggestion"].get("actions") or []}

    def _on_accepted(self, e: Document, b: Document) -> None:
        s = self._suggestion
        if not e.get("text") or s is None or s["id"] != b["suggestion"] or self._open is None:
            return
        wanted = b["action"]
        button = next((x for x in s["actions"] if x["id"] == wanted), None) or next((x for x in s["actions"] if x["kind"] == wanted), None)
        call = self._open.get("callId")
        if button is not None and button["kind"] == "rerun_tool" and self._calls.get(call or ""):
            self._calls[str(call)] = False  # its result is taken back
            self._messages = [m for m in self._messages if not (m["role"] == "tool" and m["parts"][0].get("result", {}).get("callId") == call)]

    def _on_cancel_requested(self, _: Document, b: Document) -> None:
        self._said(b)

    def _on_ended(self, _: Document, b: Document) -> None:
        self._ended = True
        self.view.status, self.view.stop_reason = b["status"], b["stopReason"]
        a = self._attempt
        if a is not None and a.again:
            self._attempt = None
        elif a is not None:
            a.in_air = False

    def _said(self, b: Document) -> None:
        a = self._attempt
        if a is not None and a.id == b.get("attempt", 0) and a.in_air:
            a.text.end(b.get("text", ""))

    def _spend(self, usage: Document | None) -> None:
        self.view.tokens += _total(usage)

    def _publish(self) -> None:
        v, a, s = self.view, self._attempt, self.view.situation
        if s and not self._ended:
            v.status = s["status"]
        v.waiting_for = "" if self._ended or not s else s.get("waitingFor", "")
        open_id = (s or {}).get("suggestion")
        v.suggestion = self._suggestion if self._suggestion and open_id == self._suggestion["id"] else None
        v.error = self._open["failure"] if self._open else None
        text = a.text.text if a is not None else ""
        v.truncated = self._truncated and not text
        if a is not None and text:
            v.text, v.text_model, v.partial = text, a.model, True
            return
        last: Document = self._messages[-1] if self._messages else {}
        v.text = "".join(p.get("text", "") for p in last.get("parts") or []) if last.get("role") == "assistant" else ""
        v.text_model, v.partial = (last.get("model", "") if v.text else ""), False


def _total(usage: Any) -> int:
    return sum((usage or {}).get(name, 0) for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"))
