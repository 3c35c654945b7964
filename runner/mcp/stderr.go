package mcp

import (
	"bytes"
	"strings"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// lastSaid is the last lines as one line that can be shown, at most n bytes long.
func lastSaid(said *procgroup.Tail, n int) string {
	kept := bytes.TrimSpace(said.Bytes())
	lines := strings.Split(string(kept[max(0, len(kept)-n):]), "\n")
	return printable(strings.Join(lines[max(0, len(lines)-5):], " | "), n)
}
