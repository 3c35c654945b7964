"""The server, asked over a socket."""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from mulligan import Decision, Event, Fail, Retry, _server, _tls, time_left
from mulligan._proto import decision_pb2, plugin_pb2

Ask = Callable[..., Any]


@contextmanager
def serving(folder: Path, run_error: Any, configure: Any = None) -> Iterator[Ask]:
    """Yield a function that calls a method of a plugin with a request."""
    server = _server.new_server(_server.Plugin(run_error, "n", "v", b"{}", configure), lambda: None)
    server.add_insecure_port(f"unix:{folder}/s")
    server.start()
    with grpc.insecure_channel(f"unix:{folder}/s") as channel:
        yield asker(channel)
    server.stop(None).wait()


def asker(channel: grpc.Channel) -> Ask:
    def ask(method: str = "RunError", timeout: float = 10, **fields: Any) -> Any:
        request: Any = getattr(plugin_pb2, method + "Request")
        reply: Any = getattr(plugin_pb2, method + "Response")
        call = channel.unary_unary(f"/mulligan.v1.RecoveryPlugin/{method}", request.SerializeToString, reply.FromString)
        return call(request(**fields), timeout=timeout)

    return ask


def refusal(ask: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as raised:
        ask()
    error: Any = raised.value
    return error.code(), error.details()


def test_a_function_is_asked(tmp_path: Path) -> None:
    def run_error(e: Event) -> Decision:
        left = time_left()
        assert left is not None and 0 < left < 11  # of 10: gRPC rounds up what it sends
        return Retry(after=e.retry_after, reason=e.kind)

    with serving(tmp_path, run_error) as ask:
        got = ask(failure={"kind": "KIND_RATE_LIMIT", "retry_after_ms": 2500})
    assert (got.action, got.delay_ms, got.reason) == (decision_pb2.ACTION_RETRY, 2500, "rate_limit")


def test_async_functions_are_asked_side_by_side(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    inside = 0

    async def run_error(e: Event) -> Decision:
        nonlocal inside
        inside += 1
        while inside < 20:
            await asyncio.sleep(0.001)
        logging.warning("from a task")
        assert time_left() is not None
        return Fail(e.run)

    async def configure(config: dict[str, str]) -> None:
        await asyncio.sleep(0)
        if config:
            raise ValueError(config["refuse"])

    with serving(tmp_path, run_error, configure) as ask:
        ask("Configure")
        assert refusal(lambda: ask("Configure", config=b'{"refuse": "no such region"}')) == (
            grpc.StatusCode.INVALID_ARGUMENT, "no such region",
        )
        got: dict[str, str] = {}
        threads = [threading.Thread(target=lambda n=n: got.update({n: ask(run=n).reason})) for n in map(str, range(20))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert got == {n: n for n in map(str, range(20))}
    assert len(caplog.records) == 20


def test_a_task_ends_with_its_call(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = threading.Event()

    async def run_error(_: Event) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.set()
            raise

    with serving(tmp_path, run_error) as ask:
        assert refusal(lambda: ask(timeout=0.3))[0] == grpc.StatusCode.DEADLINE_EXCEEDED
        assert ended.wait(5)
    assert capfd.readouterr().err == ""


def fails(_: Event) -> None:
    raise KeyError("boom")


async def fails_later(_: Event) -> None:
    await asyncio.sleep(0)
    raise KeyError("boom")


def exits(_: Event) -> None:
    sys.exit(3)


def forgets_parentheses(_: Event) -> Any:
    return Retry


async def returns_text(_: Event) -> Any:
    return "retry"


@pytest.mark.parametrize(
    ("run_error", "want"),
    [
        (fails, "KeyError: 'boom'"),
        (fails_later, "KeyError: 'boom'"),
        (exits, "SystemExit: 3"),
        (forgets_parentheses, "with parentheses"),
        (returns_text, "returned 'retry' (str)"),
    ],
)
def test_errors_are_told_and_survived(tmp_path: Path, capfd: pytest.CaptureFixture[str], run_error: Any, want: str) -> None:
    with serving(tmp_path, run_error) as ask:
        for _ in range(2):
            code, text = refusal(lambda: ask(run="r-9"))
            assert code == grpc.StatusCode.UNKNOWN and want in text
        assert ask("Describe").name == "n"
    said = capfd.readouterr().err
    assert want in said and "run r-9" in said
    assert "mulligan/_" not in said and ("Traceback" in said) == (run_error in (fails, fails_later, exits))


def test_a_bug_in_configure_is_no_refusal_in_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def configure(config: dict[str, int]) -> None:
        config["limit"] += 1

    with serving(tmp_path, fails, configure) as ask:
        assert refusal(lambda: ask("Configure")) == (grpc.StatusCode.INVALID_ARGUMENT, "KeyError: 'limit'")
    assert 'config["limit"] += 1' in capfd.readouterr().err


def test_only_clients_of_the_authority_are_answered(tmp_path: Path) -> None:
    ours, others = _authority(), _authority()
    identity = _tls.identity(ours[0].decode())
    server = _server.new_server(_server.Plugin(lambda e: None, "n", "v", b"", None), lambda: None)
    server.add_secure_port(f"unix:{tmp_path}/s", identity.credentials)
    server.start()
    line = identity.certificate
    pem = f"-----BEGIN CERTIFICATE-----\n{line + '=' * (-len(line) % 4)}\n-----END CERTIFICATE-----\n".encode()

    def call(**client: bytes) -> Any:
        credentials = grpc.ssl_channel_credentials(pem, **client)
        options = [("grpc.default_authority", "localhost"), ("grpc.ssl_target_name_override", "localhost")]
        with grpc.secure_channel(f"unix:{tmp_path}/s", credentials, options) as channel:
            return asker(channel)("Describe", timeout=5)

    try:
        assert call(private_key=ours[1], certificate_chain=ours[2]).name == "n"
        assert refusal(call)[0] == grpc.StatusCode.UNAVAILABLE
        code, _ = refusal(lambda: call(private_key=others[1], certificate_chain=others[2]))
        assert code == grpc.StatusCode.UNAVAILABLE
        with grpc.insecure_channel(f"unix:{tmp_path}/s") as channel:
            assert refusal(lambda: asker(channel)("Describe", timeout=5))[0] == grpc.StatusCode.UNAVAILABLE
    finally:
        server.stop(None).wait()


def _authority() -> tuple[bytes, bytes, bytes]:
    """An authority's certificate, and the key and certificate of a client that it signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, mine = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    leaf = _tls._certificate(mine)
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "authority")])
    builder = (
        x509.CertificateBuilder()
        .serial_number(1)
        .not_valid_before(leaf.not_valid_before_utc)
        .not_valid_after(leaf.not_valid_after_utc)
        .issuer_name(name)
    )
    authority = (
        builder.subject_name(name)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    client = builder.subject_name(leaf.subject).public_key(mine.public_key()).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    return authority.public_bytes(pem), _tls._key_pem(mine), client.public_bytes(pem)
