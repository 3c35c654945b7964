package plugin

import "os"

// StateDir is the plugin's own folder, of mode 0700. Its content survives restarts, reloads and
// pinning, and all processes of the plugin on this machine share it. In a dry run it is an empty
// one that is deleted afterwards. "" means that the host keeps no state, or that there is no host.
func StateDir() string { return os.Getenv("MULLIGAN_PLUGIN_STATE") }
