"""What an exception of a model's library says of a failure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

_MAX_BODY = 64 << 10
_MAX_MESSAGE = 8 << 10
_CREDENTIALS = {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}


class Evidence(TypedDict, total=False):
    """What is known of a failure, in the words of POST /v1/decide."""

    status: int
    headers: dict[str, str]
    body: str
    message: str
    code: str
    exception: str
    when: str
    kind: str


def evidence_of(error: BaseException) -> Evidence:
    """What an exception says, with what it was raised from: hosts wrap the errors of their libraries."""
    evidence: Evidence = {"message": str(error)[:_MAX_MESSAGE], "exception": type(error).__name__[:256]}
    for one in _chain(error):
        if "status" not in evidence and isinstance(status := _status(one), int) and 100 <= status <= 599:
            evidence["status"] = status
        if "headers" not in evidence and (headers := _headers(one)):
            evidence["headers"] = headers
        if "body" not in evidence and (body := _body(one)):
            evidence["body"] = body
        code = getattr(one, "code", None)
        if "code" not in evidence and isinstance(code, str) and code:
            evidence["code"] = code[:256]
    if "status" not in evidence:  # the innermost one was there when it happened
        last = list(_chain(error))[-1]
        evidence["exception"] = type(last).__name__[:256]
        evidence["message"] = (str(last) or str(error))[:_MAX_MESSAGE]
    return evidence


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen and len(seen) < 8:
        seen.add(id(one))
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def _status(error: BaseException) -> object:
    status = getattr(error, "status_code", None)
    return status if status is not None else getattr(getattr(error, "response", None), "status_code", None)


def _headers(error: BaseException) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    if not isinstance(headers, Mapping):
        return {}
    kept = {str(k): str(v)[:1024] for k, v in headers.items() if str(k).lower() not in _CREDENTIALS}
    return dict(list(kept.items())[:64])


def _body(error: BaseException) -> str:
    body: Any = getattr(error, "body", None)
    if body is None:
        try:
            body = getattr(getattr(error, "response", None), "text", None)
        except Exception:  # a streamed answer that was not read
            return ""
    if body is not None and not isinstance(body, str):
        try:
            body = json.dumps(body)
        except (TypeError, ValueError):
            return ""
    return body[:_MAX_BODY] if isinstance(body, str) else ""
