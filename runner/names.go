package runner

import (
	"maps"
	"slices"
	"strings"
)

// entryOf is the provider entry of a full model name: the part before the first slash.
func entryOf(model string) string {
	entry, _, _ := strings.Cut(model, "/")
	return entry
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// isQuick reports whether an effect is over as soon as it is stopped.
func isQuick(key string) bool {
	return strings.HasPrefix(key, "timer/") || strings.HasPrefix(key, "ask/") || strings.HasPrefix(key, "network/")
}
