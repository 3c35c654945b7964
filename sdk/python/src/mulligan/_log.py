"""Log lines as hosts like them: one JSON object a line, on standard error."""

import json
import logging
import sys
from datetime import datetime, timezone

from ._call import current

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class Lines(logging.Formatter):
    """Makes a record a JSON object, with the ids of the call that it was written in."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, timezone.utc)
        line: dict[str, object] = {
            "@level": _level(record.levelno),
            "@message": record.getMessage(),
            "@timestamp": at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        }
        if record.name != "root":
            line["@module"] = record.name
        if call := current.get():
            line["run"] = call.run
            if call.session:
                line["session"] = call.session
        for key, value in record.__dict__.items():
            if key not in _OWN:
                line.setdefault(key, value)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        return json.dumps(line, ensure_ascii=False, default=str)


def _level(number: int) -> str:
    for least, name in ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"), (logging.DEBUG, "debug")):
        if number >= least:
            return name
    return "trace"


def install() -> None:
    """Make logging speak JSON: info and above, unless the author has set logging up.

    What the author set up stays, but logging's own default format becomes JSON too.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.StreamHandler(sys.stderr))
        root.setLevel(logging.INFO)
    for handler in root.handlers:
        if handler.formatter is None or handler.formatter._fmt == logging.BASIC_FORMAT:
            handler.setFormatter(Lines())
