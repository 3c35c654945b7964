"""Answers each line of evidence with a line of what is made of it: failure/ports_test.go of the Go package asks."""

from __future__ import annotations

import base64
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, Union

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from mulligan_failure import Evidence, Failure, classify  # noqa: E402


def text_of(value: Any) -> Union[str, bytes]:
    if isinstance(value, str):
        return value
    if "base64" in value:
        return base64.b64decode(value["base64"])
    return str(value["head"] + value["unit"] * value["times"] + value["tail"])


def evidence_of(row: Dict[str, Any]) -> Evidence:
    error = row.get("error")
    return Evidence(
        status=row.get("status", 0), headers=row.get("headers", {}), body=text_of(row.get("body", "")),
        error=None if error is None else str(text_of(error)), timed_out=row.get("timedOut", False),
        provider=row.get("provider", ""), model=row.get("model", ""), kind=row.get("kind", ""), phase=row.get("phase", ""),
        at=datetime.fromisoformat(row["at"].replace("Z", "+00:00")) if "at" in row else None,
    )  # fmt: skip


def fields_of(f: Failure) -> Dict[str, Any]:
    """The fields as Go writes them."""
    always = {"kind": f.kind, "code": f.code, "origin": f.origin, "phase": f.phase, "retryable": f.retryable, "title": f.title, "message": f.message}
    resets_at = ""
    if f.resets_at is not None:
        millis = f".{f.resets_at.microsecond // 1000:03d}".rstrip("0").rstrip(".")
        resets_at = f"{f.resets_at:%Y-%m-%dT%H:%M:%S}{millis}Z"
    sometimes = {
        "once": f.once, "variant": f.variant, "provider": f.provider, "model": f.model, "httpStatus": f.http_status, "providerCode": f.provider_code,
        "requestId": f.request_id, "retryAfterMs": f.retry_after_ms, "resetsAt": resets_at, "detail": f.detail, "confidence": f.confidence,
    }  # fmt: skip
    return {**always, **{name: value for name, value in sometimes.items() if value}}


def answer(row: Dict[str, Any]) -> Dict[str, Any]:
    return fields_of(classify(evidence_of(row)))


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line)), ensure_ascii=True))
