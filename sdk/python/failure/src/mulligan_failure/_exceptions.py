"""Exceptions as evidence: those of openai, anthropic, httpx, requests, aiohttp, botocore, urllib and the sockets below
them, by what they have and not by what they are."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Union

from ._evidence import Evidence

_MAX_CHAIN = 8


def evidence_of(error: BaseException, *, provider: str = "", model: str = "", phase: str = "") -> Evidence:
    """What an exception, and those that caused it, know of the answer."""
    chain = _chain(error)
    answer: Any = next((found for each in chain for found in [_answer_of(each)] if found is not None), None)
    return Evidence(
        status=next((status for each in chain for status in [_status_of(each)] if status), 0),
        headers=_headers_of(answer),
        body=_body_of(chain, answer),
        error=": ".join(_named(each) for each in chain),
        timed_out=any(isinstance(each, TimeoutError) or "Timeout" in type(each).__name__ for each in chain),
        provider=provider,
        model=model,
        phase=phase,
        at=datetime.now(timezone.utc),
    )


def _chain(error: BaseException) -> List[BaseException]:
    """The exception and what caused it."""
    chain: List[BaseException] = []
    at: Union[BaseException, None] = error
    while at is not None and not any(at is known for known in chain) and len(chain) < _MAX_CHAIN:
        chain.append(at)
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return chain


def _named(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # an exception of another's making may fail to print itself
        said = ""
    name = type(error).__name__
    return f"{name}: {said}" if said else name


def _get(thing: Any, name: str) -> Any:
    try:
        return getattr(thing, name, None)
    except Exception:  # a property may raise: httpx's content of a stream that was not read
        return None


def _answer_of(error: BaseException) -> Any:
    answer = _get(error, "response")
    if answer is not None:
        return answer
    return error if isinstance(_get(error, "headers"), Mapping) or hasattr(_get(error, "headers"), "items") else None


def _status_of(error: BaseException) -> int:
    answer = _get(error, "response")
    botocore = answer.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(answer, dict) else None
    for status in (botocore, _get(error, "status_code"), _get(answer, "status_code"), _get(answer, "status"), _get(error, "status"), _get(error, "code")):
        if isinstance(status, int) and 100 <= status <= 599:
            return status
    return 0


def _headers_of(answer: Any) -> Dict[str, str]:
    if isinstance(answer, dict):
        headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders")
    else:
        headers = _get(answer, "headers")
    try:
        return {str(name): str(value) for name, value in headers.items()} if headers is not None else {}
    except Exception:
        return {}


def _body_of(chain: List[BaseException], answer: Any) -> Union[str, bytes]:
    """The answer's text where it was read, else what the client has parsed of it."""
    if isinstance(answer, dict):
        return _json({"error": answer["Error"]}) if "Error" in answer else ""
    for body in (_get(answer, "content"), _get(answer, "text"), *(_get(each, "body") for each in chain)):
        if isinstance(body, (str, bytes)) and body:
            return body
        if isinstance(body, (dict, list)) and body:
            return _json(body)
    return ""


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return ""
