//! What a plugin keeps.

use std::env;
use std::path::PathBuf;

/// The plugin's own folder, of mode 0700. Restarts, reloads and pinning keep what is in it; other
/// processes of the same plugin on this machine have the same one. In a dry run it is an empty one
/// that is thrown away. `None` means that the host keeps nothing, or that there is none, as in a
/// test.
#[must_use]
pub fn state_dir() -> Option<PathBuf> {
    env::var_os("MULLIGAN_PLUGIN_STATE")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}
