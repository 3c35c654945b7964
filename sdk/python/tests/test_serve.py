"""The process, from its start to its handshake; sdk/conformance has the rest."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mulligan import serve

SOURCES = str(Path(__file__).parents[1] / "src")
COOKIE = {"MULLIGAN_PLUGIN": "4b3f6c1e-run-error"}

PLUGIN = """
import logging, os, sys
{before}
from mulligan import serve
print("a banner")
os.system("echo a banner of a child")
{first}
def run_error(e):
    return None
serve(run_error, name="my-rules"{arguments})
"""


LOG_WHEN_SERVED = """
from mulligan import _process

def follow(*args, real=_process.follow):
    logging.error("served")
    real(*args)

_process.follow = follow
"""


def start(folder: Path, env: dict[str, str] | None = None, args: list[str] | None = None, **parts: str) -> Any:
    """Run a plugin until its life line, which is closed at once, ends it."""
    script = folder / "my_rules.py"
    script.write_text(PLUGIN.format(**{"before": "", "first": "", "arguments": "", **parts}))
    # PATH is for the shell that os.system starts.
    return subprocess.run(
        [sys.executable, *(args or [str(script)])],
        cwd=folder, input="", capture_output=True, text=True, timeout=30, check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": SOURCES, "PLUGIN_UNIX_SOCKET_DIR": str(folder), **(env or {})},
    )


def test_by_hand_it_says_what_it_is(tmp_path: Path) -> None:
    done = start(tmp_path)
    assert done.returncode == 1
    for part in ("my-rules is a Mulligan recovery plugin", "mulligan.testing", f"mulligan plugin test {sys.executable}", "mulligan.yaml"):
        assert part in done.stderr
    assert "handshake" not in done.stdout and "|" not in done.stdout


def test_imported_it_does_nothing(tmp_path: Path) -> None:
    done = start(tmp_path, args=["-c", "import my_rules; my_rules.run_error(None); print('imported')"])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "imported")


def test_nothing_but_the_handshake_is_on_standard_output(tmp_path: Path) -> None:
    done = start(tmp_path, COOKIE, before="print('printed before the import')")
    assert done.stdout == f"1|1|unix|{tmp_path}/s|grpc|\n"
    assert done.returncode == 0
    for said in ("printed before the import", "a banner\n", "a banner of a child"):
        assert said in done.stderr


def test_standard_input_is_not_the_authors(tmp_path: Path) -> None:
    done = start(tmp_path, COOKIE, first="print('read', sys.stdin.read(), 'end')")
    assert done.stdout.startswith("1|1|unix|") and "read  end" in done.stderr


def test_folders_with_odd_names(tmp_path: Path) -> None:
    folder = tmp_path / "a %41?b#c ü"
    folder.mkdir()
    done = start(folder, COOKIE)
    assert done.stdout == f"1|1|unix|{folder}/s|grpc|\n"


@pytest.mark.parametrize(
    ("folder", "want"), [("/nowhere/at/all", "is not there"), ("x" * 101, "TMPDIR")]
)
def test_a_folder_that_will_not_do(tmp_path: Path, folder: str, want: str) -> None:
    (tmp_path / ("x" * 101)).mkdir()
    done = start(tmp_path, {**COOKIE, "PLUGIN_UNIX_SOCKET_DIR": str(tmp_path / folder)})
    assert (done.returncode, done.stdout) == (1, "") and want in done.stderr


def test_an_authority_that_is_none(tmp_path: Path) -> None:
    done = start(tmp_path, {**COOKIE, "PLUGIN_CLIENT_CERT": "garbage"})
    assert (done.returncode, done.stdout) == (1, "") and "PLUGIN_CLIENT_CERT" in done.stderr


@pytest.mark.parametrize(
    "before",
    ["", "logging.info('lost')", "logging.basicConfig(level=logging.INFO)"],
)
def test_logging_speaks_json(tmp_path: Path, before: str) -> None:
    done = start(tmp_path, COOKIE, before=before, first=LOG_WHEN_SERVED)
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert [(line["@level"], line["@message"]) for line in lines] == [("error", "served")]


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        ({"run_error": None}, "takes a function"),
        ({"configure": {}}, "takes a function"),
        ({"version": 1}, "version=….* takes a str"),
        ({"config_schema": "{"}, "is not JSON"),
        ({"config_schema": {"x": object()}}, "is not JSON"),
        ({"config_schema": {"x": "y" * (256 << 10)}}, "at most"),
    ],
)
def test_arguments_are_looked_at_even_by_hand(arguments: dict[str, Any], want: str) -> None:
    with pytest.raises((TypeError, ValueError), match=want):
        serve(**{"run_error": print, **arguments})
