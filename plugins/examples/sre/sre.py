"""After hours never the dear model; on a 429 of one account the other key; a page after three failures."""

import json
import os
import threading
from datetime import datetime
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

from mulligan import Event, ModelCall, Restrict, Route, Switch, serve, values

CHEAP, DEAR = ("work/cheap", "home/cheap"), ("work/dear", "home/dear")
WITHIN = 10 * 60_000  # milliseconds


def after_hours(at: datetime | None) -> bool:
    return at is not None and not 8 <= at.astimezone(ZoneInfo("Europe/Oslo")).hour < 18


def before_call(c: ModelCall) -> Route | None:
    failed = {t.model for t in c.tried}
    left = [m for m in CHEAP if m in c.alternatives and m not in failed]
    if after_hours(c.time) and c.model.endswith("/dear") and left:
        return Route(left[0], reason=f"not {c.model} after hours")
    return None


def run_error(e: Event) -> Switch | Restrict | None:
    if count(e.time) == 3 and not e.dry_run:
        page = {"reason": f"3 failures within 10 minutes, the last one at {e.provider}"}
        threading.Thread(target=post, args=(page,)).start()
    late = after_hours(e.time)
    forbidden = Restrict(DEAR, reason="nothing dear after hours") if late else None
    if e.failure.http_status == 429:
        wanted = CHEAP if late or not e.model.endswith("/dear") else DEAR + CHEAP
        failed = {e.model} | {t.model for t in e.tried}
        left = [m for m in wanted if m in e.alternatives and m not in failed]
        left.sort(key=lambda m: m.split("/")[0] == e.model.split("/")[0])  # the other key first
        if left:
            return Switch(left[0], reason=f"the key of {e.provider} is limited", restrict=forbidden)
    return forbidden


def count(at: datetime | None) -> int:
    now = round(at.timestamp() * 1000) if at else 0
    while True:
        kept, version = values.get_with_version("failures")
        recent = [t for t in json.loads(kept or b"[]") if now - WITHIN < t <= now] + [now]
        if values.compare_and_set("failures", version, json.dumps(recent).encode()):
            return len(recent)


def post(page: dict[str, str]) -> None:
    urlopen(Request(os.environ["PAGER"], json.dumps(page).encode(), {"Content-Type": "application/json"}), timeout=5).close()


if __name__ == "__main__":
    serve(run_error, before_call=before_call, name="sre")
