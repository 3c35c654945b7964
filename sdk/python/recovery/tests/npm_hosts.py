"""Hosts of npm: agents of one Node process, sdk/typescript/recovery/hosts."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import urllib.request
from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab

from mulligan_recovery import Advisor

FOLDER, NODE = (os.environ.get("MULLIGAN_NPM_HOSTS", ":") + ":").split(":")[:2]
_processes: list[subprocess.Popen[str]] = []
_keys: dict[Advisor, str] = {}
_log = logging.getLogger("mulligan")


def skipped() -> None:
    """Skips aloud where they are not installed."""
    if not FOLDER:
        reason = "the hosts of npm are not installed: make hosts needs node, npm and its registry"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


@cache
def _url() -> str:
    process = subprocess.Popen([NODE, str(Path(FOLDER) / "hosts.mjs")], stdout=subprocess.PIPE, text=True)
    _processes.append(process)
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end() -> None:
    """Ends the process."""
    for process in _processes:
        process.terminate()
        process.wait(20)


def _ask(asked: dict[str, Any]) -> dict[str, Any]:
    with urllib.request.urlopen(urllib.request.Request(_url(), data=json.dumps(asked).encode()), timeout=120) as answer:
        return dict(json.loads(answer.read()))


def host(name: str, other: str) -> Callable[[Lab, Advisor, str], Coroutine[Any, Any, str]]:
    """An agent of npm's as the others are: what it says is given, what it failed with is raised."""

    async def play(lab: Lab, advisor: Advisor, model: str) -> str:
        asked = {
            "host": name, "lab": lab.url, "model": model, "other": other,
            "key": _keys.setdefault(advisor, str(len(_keys))), "url": advisor.url, "token": advisor._token, "timeout": advisor.timeout * 1000,
        }
        reply = await asyncio.to_thread(_ask, asked)
        for text in reply["warned"]:
            _log.warning(text)
        if "failed" in reply:
            raise RuntimeError(reply["failed"])
        return str(reply["said"])

    play.__name__ = name
    return play
