package host

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// stateVariable tells a plugin which folder is its own.
const stateVariable = "MULLIGAN_PLUGIN_STATE"

// stateOf is the plugin's own folder, which outlives its processes, pins and reloads, and is
// made before each start; "" where the host has no state folder.
func (f *folders) stateOf(plugin string) (string, error) {
	if f.state == "" {
		return "", nil
	}
	for _, dir := range []string{f.state, filepath.Join(f.state, folderName(plugin))} {
		if err := ownFolder(dir); err != nil {
			return "", err
		}
	}
	return filepath.Join(f.state, folderName(plugin)), nil
}

// folderName is a plugin's name as that of a folder. No two names share one: what a file system
// may not tell apart, or read as something else, gets a digest of the name.
func folderName(plugin string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, plugin)
	if plain == plugin {
		return plain
	}
	sum := sha256.Sum256([]byte(plugin))
	return plain + "." + hex.EncodeToString(sum[:8])
}

// stateEnv is the variable, or nothing where there is no such folder. A folder that cannot be
// used is no reason not to start: most plugins keep nothing.
func (l *launch) stateEnv() []string {
	dir, err := l.folders.stateOf(l.spec.Name)
	if err != nil {
		l.logger.Warn("the plugin has no state folder", "error", err)
	}
	if dir == "" {
		return nil
	}
	return []string{stateVariable + "=" + dir}
}
