"""A plugin that misbehaves as FAULT says; ../README.md lists how."""

import os
import signal
import subprocess
import sys
import threading
import time

FAULT = os.environ.get("FAULT", "")


def leave_trace(pid: int) -> None:
    if folder := os.environ.get("TRACE"):
        open(os.path.join(folder, str(pid)), "w").close()


def handshake() -> None:
    lines = {
        "garbage": "Welcome to my plugin!",
        "version": f"1|99|unix|{os.environ.get('PLUGIN_UNIX_SOCKET_DIR')}/s|grpc|" + "A" * 60,
    }
    if FAULT in lines:
        print(lines[FAULT], flush=True)
    if FAULT in lines or FAULT == "silent":
        time.sleep(3600)


leave_trace(os.getpid())
handshake()

from mulligan import Retry, serve  # noqa: E402 - it takes standard output away


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(3600)


def run_error(e):
    if FAULT == "crash":
        os.abort()
    if FAULT == "exit":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    if FAULT == "hang":
        time.sleep(3600)
    if FAULT == "stop":
        stop()
    if FAULT == "deaf":
        threading.Timer(0.05, stop).start()
    if FAULT == "slow":
        time.sleep(0.2)
    if FAULT == "print":
        print("x" * (1 << 20))
        os.write(1, b"x" * (1 << 20) + b"\n")
    if FAULT == "grandchild":
        leave_trace(subprocess.Popen(["sleep", "300"]).pid)
        os._exit(4)
    if FAULT == "nonsense":
        return "dance"
    return Retry(after=1)


serve(run_error, name="faulty", version="1.2.3")
