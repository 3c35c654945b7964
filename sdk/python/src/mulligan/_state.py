"""What a plugin keeps."""

import os
from pathlib import Path


def state_dir() -> Path | None:
    """Give the plugin's own folder, of mode 0700.

    Restarts, reloads and pinning keep what is in it; other processes of the same plugin on this
    machine have the same one. In a dry run it is an empty one that is thrown away. None means that
    the host keeps nothing, or that there is none, as in a test.
    """
    path = os.environ.get("MULLIGAN_PLUGIN_STATE")
    return Path(path) if path else None
