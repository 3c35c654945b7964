"""What the host keeps for the plugin: bytes by key, the same for all of its processes.

::

    from mulligan import values

    if values.add("paged", 1) == 1:
        page("the first of today")

They are shared by all processes of the plugin that share the host's store, on this machine or on all
machines of a fleet. A key has 1 to 200 bytes of UTF-8, a value at most 64 KiB, all of a plugin 64 MiB.
Every change is atomic, and durable before it returns. In a dry run they are empty and thrown away.

A function that is ``async`` calls these by ``asyncio.to_thread``: they wait for the host.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from urllib.parse import quote

from ._call import time_left
from ._proto import values_pb2

__all__ = ["Full", "NoValues", "NotANumber", "Unreachable", "add", "compare_and_set", "delete", "get", "get_with_version", "keys", "set"]

_SERVICE = "/mulligan.v1.ValueService/"
_TIMEOUT = 5.0  # seconds, where the call at hand has no deadline


class NoValues(RuntimeError):
    """The host keeps no values for the plugin, or there is no host."""


class Full(ValueError):
    """There is no room for the value."""


class NotANumber(ValueError):
    """The value is no number, or the sum would not fit into 64 bits."""


class Unreachable(ConnectionError):
    """The host's store cannot be reached now: a change may have been made or not."""


def get(key: str) -> bytes | None:
    """Give a value, None where there is none."""
    return get_with_version(key)[0]


def get_with_version(key: str) -> tuple[bytes | None, int]:
    """Give a value and its version for :func:`compare_and_set`: None and 0 where there is none."""
    m = _call("GetValue", values_pb2.GetValueRequest(key=key), values_pb2.GetValueResponse)
    return (m.value, m.version) if m.version else (None, 0)


def set(key: str, value: bytes) -> None:
    """Write a value, whatever there is."""
    _call("SetValue", values_pb2.SetValueRequest(key=key, value=value), values_pb2.SetValueResponse)


def compare_and_set(key: str, version: int, value: bytes) -> bool:
    """Write a value only in the place of that version, 0 for none, and say whether it was written."""
    m = _call("SetValue", values_pb2.SetValueRequest(key=key, value=value, expected=version), values_pb2.SetValueResponse)
    return bool(m.done)


def add(key: str, amount: int = 1) -> int:
    """Add to a number, which is 0 where there is none, and give the sum."""
    return int(_call("AddValue", values_pb2.AddValueRequest(key=key, amount=amount), values_pb2.AddValueResponse).sum)


def delete(key: str) -> None:
    """Remove a value, if there is one."""
    _call("DeleteValue", values_pb2.DeleteValueRequest(key=key), values_pb2.DeleteValueResponse)


def keys(prefix: str = "") -> list[str]:
    """List the keys that begin with prefix, in the order of their bytes."""
    found: list[str] = []
    while True:
        request = values_pb2.ListValuesRequest(prefix=prefix, after=found[-1] if found else "")
        m = _call("ListValues", request, values_pb2.ListValuesResponse)
        found.extend(m.keys)
        if not m.more or not m.keys:
            return found


_lock = threading.Lock()
_channel: Any = None


def _call(method: str, request: Any, reply: Any) -> Any:
    import grpc

    left = time_left()
    try:
        return _open().unary_unary(_SERVICE + method, request_serializer=lambda m: m.SerializeToString(), response_deserializer=reply.FromString)(
            request, timeout=_TIMEOUT if left is None else max(0.0, min(left, _TIMEOUT))
        )
    except grpc.RpcError as error:
        code, text = error.code(), error.details() or ""
    if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
        raise Full(text)
    if code == grpc.StatusCode.FAILED_PRECONDITION:
        raise NotANumber(text)
    if code == grpc.StatusCode.INVALID_ARGUMENT:
        raise ValueError(text)
    raise Unreachable(text)


def _open() -> Any:
    """Make the one channel of the process, when it is first needed."""
    import grpc

    global _channel
    with _lock:
        if _channel is None:
            socket = os.environ.get("MULLIGAN_PLUGIN_VALUES")
            if not socket:
                raise NoValues("the host keeps no values for the plugin (MULLIGAN_PLUGIN_VALUES is not set)")
            _channel = grpc.insecure_channel("unix:" + quote(os.fsencode(socket)))
        return _channel
