package host

import (
	"fmt"
	"os"
)

// maxSocketPath is below what the narrowest system allows (104 bytes).
const maxSocketPath = 100

// roomBelow is what go-plugin appends: /plugin-dirNNNNNNNNNN/pluginNNNNNNNNNN.
const roomBelow = 44

// socketFolder makes a folder of mode 0700 with a path that is short enough.
func socketFolder() (string, error) {
	var last error
	for _, parent := range []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} {
		if parent == "" {
			continue
		}
		dir, err := os.MkdirTemp(parent, "mulligan-")
		if err != nil {
			last = err
			continue
		}
		if len(dir)+roomBelow <= maxSocketPath {
			return dir, nil
		}
		last = os.Remove(dir)
	}
	return "", fmt.Errorf("no folder for plugin sockets: %w", last)
}
