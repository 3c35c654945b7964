"""The gRPC server: our service beside health and what go-plugin's hosts ask for."""

from __future__ import annotations  # grpc's classes are generic only in its type hints

import asyncio
import inspect
import json
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from concurrent import futures
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from . import _convert, _convert_tool
from ._call import Call, during
from ._proto import plugin_pb2

_MAX_REQUEST = 64 << 20  # bytes

# Threads are made when they are needed. Functions that hang keep theirs; once all do, health is
# no longer answered and the host starts a fresh process.
_MAX_THREADS = 128

_Reply = TypeVar("_Reply")

_SERVING = 1  # grpc.health.v1.HealthCheckResponse.SERVING


@dataclass(frozen=True, slots=True)
class Plugin:
    """What the author gave to serve."""

    run_error: Callable[[Any], Any]
    name: str
    version: str
    schema: bytes
    configure: Callable[[Any], Any] | None
    before_call: Callable[[Any], Any] | None = None
    tool_error: Callable[[Any], Any] | None = None
    run_ended: Callable[[Any], Any] | None = None

    def occasions(self) -> list[str]:
        """Name those that it takes beside run_error."""
        taken = {"before_call": self.before_call, "tool_error": self.tool_error, "run_ended": self.run_ended}
        return [name for name, function in taken.items() if function is not None]


def new_server(plugin: Plugin, shut_down: Callable[[], None]) -> grpc.Server:
    """Make a server that is bound to nothing; shut_down is called after the answer to Shutdown."""
    server = grpc.server(
        futures.ThreadPoolExecutor(_MAX_THREADS, "call"),
        options=[("grpc.max_receive_message_length", _MAX_REQUEST)],
    )
    service = _Service(plugin)
    server.add_generic_rpc_handlers((
        grpc.method_handlers_generic_handler("mulligan.v1.RecoveryPlugin", {
            "Describe": _unary(service.describe, plugin_pb2.DescribeRequest),
            "Configure": _unary(service.configure, plugin_pb2.ConfigureRequest),
            "RunError": _unary(service.run_error, plugin_pb2.RunErrorRequest),
            "BeforeCall": _unary(service.before_call, plugin_pb2.BeforeCallRequest),
            "ToolError": _unary(service.tool_error, plugin_pb2.ToolErrorRequest),
            "RunEnded": _unary(service.run_ended, plugin_pb2.RunEndedRequest),
        }),
        # Its messages look the same on the wire as those of protobuf's wrappers.
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": _unary(_health, StringValue)}),
        # Its messages are empty both ways, so bytes do.
        grpc.method_handlers_generic_handler("plugin.GRPCController", {
            "Shutdown": grpc.unary_unary_rpc_method_handler(_shutdown(shut_down)),
        }),
        grpc.method_handlers_generic_handler("plugin.GRPCStdio", {
            "StreamStdio": grpc.unary_stream_rpc_method_handler(_hold_open),
        }),
    ))
    return server


def _unary(behavior: Callable[[Any, grpc.ServicerContext], Any], request: Any) -> grpc.RpcMethodHandler[Any, Any]:
    return grpc.unary_unary_rpc_method_handler(behavior, request.FromString, lambda reply: reply.SerializeToString())


def _health(request: StringValue, context: grpc.ServicerContext) -> Int32Value:
    if request.value not in ("", "plugin"):
        context.abort(grpc.StatusCode.NOT_FOUND, "the service is called plugin")
    return Int32Value(value=_SERVING)


def _shutdown(shut_down: Callable[[], None]) -> Callable[[bytes, grpc.ServicerContext], bytes]:
    def behavior(_: bytes, context: grpc.ServicerContext) -> bytes:
        if not context.add_callback(shut_down):
            shut_down()
        return b""

    return behavior


def _hold_open(_: bytes, context: grpc.ServicerContext) -> tuple[()]:
    over = threading.Event()
    if context.add_callback(over.set):
        over.wait()
    return ()


class _Service:
    """mulligan.v1.RecoveryPlugin."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._loop = _Loop()

    def describe(self, _: plugin_pb2.DescribeRequest, __: grpc.ServicerContext) -> plugin_pb2.DescribeResponse:
        return plugin_pb2.DescribeResponse(
            name=self._plugin.name, version=self._plugin.version, config_schema=self._plugin.schema,
            occasions=self._plugin.occasions(),
        )

    def configure(
        self, request: plugin_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> plugin_pb2.ConfigureResponse:
        if self._plugin.configure is None:
            return plugin_pb2.ConfigureResponse()
        try:
            self._ask(self._plugin.configure, json.loads(request.config or b"{}"), context)
            return plugin_pb2.ConfigureResponse()
        except ValueError as refusal:  # the author's own words for people
            text = str(refusal)
        except BaseException as error:
            text = _report("configure", error)
        _abort(context, grpc.StatusCode.INVALID_ARGUMENT, text)

    def run_error(
        self, request: plugin_pb2.RunErrorRequest, context: grpc.ServicerContext
    ) -> plugin_pb2.RunErrorResponse:
        return self._answer("run_error", self._plugin.run_error, _convert.event, _convert.response, request, context)

    def before_call(
        self, request: plugin_pb2.BeforeCallRequest, context: grpc.ServicerContext
    ) -> plugin_pb2.BeforeCallResponse:
        function = self._taken("before_call", self._plugin.before_call, context)
        return self._answer("before_call", function, _convert.call, _convert.verdict, request, context)

    def tool_error(
        self, request: plugin_pb2.ToolErrorRequest, context: grpc.ServicerContext
    ) -> plugin_pb2.ToolErrorResponse:
        function = self._taken("tool_error", self._plugin.tool_error, context)
        return self._answer("tool_error", function, _convert_tool.read, _convert_tool.advice, request, context)

    def run_ended(
        self, request: plugin_pb2.RunEndedRequest, context: grpc.ServicerContext
    ) -> plugin_pb2.RunEndedResponse:
        function = self._taken("run_ended", self._plugin.run_ended, context)
        return self._answer("run_ended", function, _convert.ended, lambda _: plugin_pb2.RunEndedResponse(), request, context)

    def _taken(
        self, occasion: str, function: Callable[[Any], Any] | None, context: grpc.ServicerContext
    ) -> Callable[[Any], Any]:
        if function is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the plugin does not take {occasion}")
        return function

    def _answer(
        self,
        occasion: str,
        function: Callable[[Any], Any],
        read: Callable[[Any], Any],
        write: Callable[[Any], _Reply],
        request: Any,
        context: grpc.ServicerContext,
    ) -> _Reply:
        left = context.time_remaining()
        call = Call(request.run, request.session, None if left is None else time.monotonic() + left)
        try:
            with during(call):
                answer = self._ask(function, read(request), context)
            return write(answer)
        except BaseException as error:
            given_up = isinstance(error, futures.CancelledError) and not context.is_active()
            text = "" if given_up else _report(f"{occasion}, run {call.run},", error)
        _abort(context, grpc.StatusCode.UNKNOWN, text)

    def _ask(self, function: Callable[[Any], Any], argument: Any, context: grpc.ServicerContext) -> Any:
        answer = function(argument)
        return self._loop.wait(answer, context) if inspect.isawaitable(answer) else answer


class _Loop:
    """An event loop in a thread of its own, made when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def wait(self, answer: Awaitable[Any], context: grpc.ServicerContext) -> Any:
        """Wait for the answer, as a task that is cancelled when its call is over."""
        task = asyncio.run_coroutine_threadsafe(_await(answer), self._running())
        def cancel() -> None:
            task.cancel()

        if not context.add_callback(cancel):
            cancel()
        return task.result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="async", daemon=True).start()
            return self._loop


async def _await(answer: Awaitable[Any]) -> Any:
    return await answer


def _report(what: str, error: BaseException) -> str:
    """Write the author's stack to standard error, and give the error in one line."""
    text = "".join(traceback.format_exception_only(error)).strip()
    lines = [f"{what} failed: {text}\n"]
    if stack := _authors(error.__traceback__):
        lines += traceback.format_exception(type(error), error, stack)
    sys.stderr.write("".join(lines))
    return text


def _authors(stack: TracebackType | None) -> TracebackType | None:
    """Leave out the frames that lead to the author's function, through an event loop or not."""
    rest = stack
    while stack is not None:
        if stack.tb_frame.f_code.co_filename in (__file__, _convert.__file__):
            rest = stack.tb_next
        stack = stack.tb_next
    return rest


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, text: str) -> NoReturn:
    context.abort(code, _convert.error_text(text))
