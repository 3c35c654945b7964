package host

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// stateVariable tells a plugin the path of its own folder.
const stateVariable = "MULLIGAN_PLUGIN_STATE"

// stateOf is the plugin's own folder, which survives restarts, pins and reloads and is
// created before each start; "" if the host has no state folder.
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

// folderName makes a folder name from a plugin's name. No two plugins share one: a name that a
// file system might confuse with another or misread gets a digest appended.
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

// stateEnv is the environment variable, or nothing if there is no folder. A folder that
// cannot be used does not prevent the start: most plugins keep nothing.
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
