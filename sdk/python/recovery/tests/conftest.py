"""The fault lab, and Mulligan with the one plugin: real programs, of the binary that MULLIGAN_BINARY names."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FAULTS = json.loads((HERE / "faults.json").read_text())
BINARY = os.environ.get("MULLIGAN_BINARY", "")


@dataclass
class Lab:
    url: str
    """The OpenAI wire's base URL."""


@dataclass
class Service:
    url: str
    token: str
    state: Path
    process: subprocess.Popen[bytes]

    def runs(self) -> list[dict[str, object]]:
        """What `mulligan runs list` has of advised calls."""
        out = subprocess.run(
            [BINARY, "runs", "list", "--state", str(self.state), "--label", "mulligan/kind=advised", "--limit", "500", "--json"],
            capture_output=True, check=True, text=True,
        ).stdout
        return [json.loads(line) for line in out.splitlines()]


def _until(path: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(pattern, path.read_text()):
            return found.group(1)
        time.sleep(0.05)
    raise AssertionError(f"it does not begin: {path.read_text()}")


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    log = tmp_path_factory.mktemp("lab") / "log"
    with log.open("wb") as out:
        process = subprocess.Popen([BINARY, "faults", "serve", "--addr", "127.0.0.1:0", "--pace", "0ms"], stdout=out, stderr=out)
    try:
        yield Lab(_until(log, r"(http://127\.0\.0\.1:\d+)", process) + "/v1")
    finally:
        process.terminate()
        process.wait(10)


def start(folder: Path) -> Service:
    """Mulligan with the plugin, and a store of its own."""
    config, state, log = folder / "mulligan.yaml", folder / "state", folder / "log"
    plugin = {"name": "policy", "command": [sys.executable, str(HERE / "policy.py")], "env": ["PYTHONPATH"]}
    config.write_text(json.dumps({"plugins": [plugin]}))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(HERE.parents[1] / "src")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [BINARY, "serve", "--config", str(config), "--state", str(state), "--listen", "127.0.0.1:0", "--json"],
            stdout=out, stderr=out, env=environment,
        )
    url = _until(log, r'"msg":"listening".*"url":"([^"]*)"', process)
    return Service(url, (state / "token").read_text().strip(), state, process)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = start(tmp_path_factory.mktemp("service"))
    try:
        yield running
    finally:
        running.process.terminate()
        running.process.wait(20)


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Service]:
    """A service that the test kills."""
    running = start(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.send_signal(signal.SIGKILL)
    running.process.wait(20)


def script(fault: dict[str, str], name: str) -> str:
    """The model that plays a fault: once where it is retried, else for ever. name makes it another model for each host."""
    step = fault["step"]
    return f"script:{step},answer:{name}" if fault["obeyed"] == "retry" else f"script:{step}"
