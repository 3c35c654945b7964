"""serve: from a function to a plugin that a host can ask."""

import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import quote

from . import _log, _process
from ._decision import Decision, Restrict
from ._event import Event
from ._occasions import ModelCall, RunEnded, Verdict
from ._tool import ToolAdvice, ToolError

Answer = Decision | Restrict | Mapping[str, Any] | None
RunError = Callable[[Event], Answer] | Callable[[Event], Awaitable[Answer]]
BeforeCall = Callable[[ModelCall], Verdict | None] | Callable[[ModelCall], Awaitable[Verdict | None]]
AboutTool = Callable[[ToolError], ToolAdvice | None] | Callable[[ToolError], Awaitable[ToolAdvice | None]]
Heard = Callable[[RunEnded], None] | Callable[[RunEnded], Awaitable[None]]
Configure = Callable[[Any], None] | Callable[[Any], Awaitable[None]]

_MAX_SCHEMA = 256 << 10  # bytes
_MAX_SOCKET = 100  # bytes of its path


def serve(
    run_error: RunError | None = None,
    *,
    before_call: BeforeCall | None = None,
    tool_error: AboutTool | None = None,
    run_ended: Heard | None = None,
    name: str = "",
    version: str = "",
    config_schema: Mapping[str, Any] | str | None = None,
    configure: Configure | None = None,
) -> None:
    """Answer a host until it goes away; this does not return, the process ends.

    run_error is called with an :class:`Event` and returns a :class:`Retry`, :class:`Switch` or
    :class:`Fail`, a :class:`Restrict`, or None for no opinion. It may be ``async``. It is called
    from several threads at once, and an exception of it is "no opinion".

    before_call is asked before every model call, with a :class:`ModelCall`, and returns an
    :class:`Allow`, :class:`Route`, :class:`Hold` or :class:`Refuse`, or None for no opinion. It has
    500 ms. tool_error is asked about every tool of the host that fails, with a :class:`ToolError`,
    and returns a :class:`RunAgain`, :class:`Tell` or :class:`Ask`, or None for no opinion. run_ended
    is told with a :class:`RunEnded` when a run has ended; what it returns is nobody's business. All
    three are called only where the plugin's entry in mulligan.yaml says so:
    ``occasions: [run_error, before_call, tool_error, run_ended]``.

    name and version (at most 100 bytes) are kept with every answer; the host's configuration
    names the plugin whatever it says here.

    config_schema is the JSON Schema (2020-12) of the plugin's configuration, as a dict or as
    JSON, at most 256 KiB. The host checks the configuration before the plugin sees it.

    configure is called once, before any event, with the configuration as :mod:`json` reads it,
    ``{}`` if none was given. Raise ``ValueError("a sentence for people")`` to refuse it.

    Started by hand, it says how a plugin is used and exits with status 1. In a module that is
    only imported, as by a test, it does nothing.
    """
    schema = _check(run_error, before_call, tool_error, run_ended, name, version, config_schema, configure)
    taken = _process.take()
    if taken is None:
        if not _is_import():
            _explain(name)
        return
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("call serve() from the main thread")
    _log.install()

    from . import _server  # what a start or a test does not need is imported where it is needed

    socket = _socket()
    server = _server.new_server(
        _server.Plugin(run_error or _no_opinion, name, version, schema, configure, before_call, tool_error, run_ended), lambda: _process.end(socket)
    )
    certificate = _bind(server, socket)
    server.start()
    # Version 1 is the only one that this package speaks, and so the answer to whatever
    # PLUGIN_PROTOCOL_VERSIONS offers.
    os.write(taken.output, os.fsencode(f"1|1|unix|{socket}|grpc|{certificate}\n"))
    _process.follow(taken, socket)


def _no_opinion(_: Event) -> None:
    return None


def _check(
    run_error: object,
    before_call: object,
    tool_error: object,
    run_ended: object,
    name: object,
    version: object,
    config_schema: object,
    configure: object,
) -> bytes:
    """Say at once what is wrong with serve's arguments; give the schema as JSON."""
    if all(function is None for function in (run_error, before_call, tool_error, run_ended)):
        raise TypeError("serve takes a function: run_error, before_call=…, tool_error=… or run_ended=…")
    if run_error is not None and not callable(run_error):
        raise TypeError(f"serve(run_error) takes a function, not {run_error!r:.100}")
    for argument, function in (("before_call", before_call), ("tool_error", tool_error), ("run_ended", run_ended), ("configure", configure)):
        if function is not None and not callable(function):
            raise TypeError(f"serve({argument}=…) takes a function, not {function!r:.100}")
    for argument, value in (("name", name), ("version", version)):
        if not isinstance(value, str):
            raise TypeError(f"serve({argument}=…) takes a str, not {value!r:.100}")
    if config_schema is None:
        return b""
    try:
        text = config_schema if isinstance(config_schema, str) else json.dumps(config_schema, default=dict)
        json.loads(text)
    except (TypeError, ValueError) as error:
        raise ValueError(f"serve(config_schema=…) is not JSON: {error}") from error
    if len(text.encode()) > _MAX_SCHEMA:
        raise ValueError(f"serve(config_schema=…) has {len(text.encode())} bytes, at most {_MAX_SCHEMA}")
    return text.encode()


def _is_import() -> bool:
    """Whether serve is called at the top of a module that somebody imports."""
    caller = sys._getframe(2)
    return caller.f_code.co_name == "<module>" and caller.f_globals.get("__name__") != "__main__"


def _socket() -> str:
    folder = os.environ.get("PLUGIN_UNIX_SOCKET_DIR")
    if not folder:  # only by hand
        import tempfile

        return os.path.join(tempfile.gettempdir(), f"mulligan-{os.getpid()}")
    socket = os.path.join(folder, "s")
    if not os.path.isdir(folder):
        _refuse(f"the folder for its socket, {folder}, is not there (PLUGIN_UNIX_SOCKET_DIR)")
    if len(os.fsencode(socket)) > _MAX_SOCKET:
        _refuse(f"the path of its socket, {socket}, has more than {_MAX_SOCKET} bytes: set TMPDIR to a shorter one")
    return socket


def _bind(server: Any, socket: str) -> str:
    """Bind the server, with mutual TLS if a host asks for it; give the certificate for the handshake."""
    address = "unix:" + quote(os.fsencode(socket))
    authority = os.environ.get("PLUGIN_CLIENT_CERT")
    try:
        if not authority:  # only by hand
            bound, certificate = server.add_insecure_port(address), ""
        else:
            from . import _tls

            try:
                identity = _tls.identity(authority)
            except ValueError as error:
                _refuse(f"PLUGIN_CLIENT_CERT holds no certificate: {error}")
            bound, certificate = server.add_secure_port(address, identity.credentials), identity.certificate
    except RuntimeError as error:
        _refuse(f"its socket {socket} cannot be bound: {error}")
    if not bound:
        _refuse(f"its socket {socket} cannot be bound")
    return certificate


def _refuse(why: str) -> NoReturn:
    print(f"the plugin cannot serve: {why}", file=sys.stderr)
    sys.exit(1)


def _explain(name: str) -> NoReturn:
    import shlex

    script = os.path.abspath(sys.argv[0])
    command = [sys.executable, script] if script.endswith(".py") else [script]
    title = name or os.path.basename(script).removesuffix(".py")
    print(
        f"""{title} is a Mulligan recovery plugin: it is not run by hand, a host starts it.

Test its function without a host, with pytest:

    from mulligan.testing import event
    assert run_error(event(kind="rate_limit", retry_after=7)) == Retry(after=7)

Test it as a host would use it:

    mulligan plugin test {shlex.join(command)}

Use it: name it in mulligan.yaml, and see with "mulligan plugin list" whether it starts.

    plugins:
      - name: {title}
        command: {json.dumps(command)}
""",
        end="",
        file=sys.stderr,
    )
    sys.exit(1)
