package build

import (
	"runtime/debug"
	"strings"
)

// Release is the version that this source is, or becomes. Every package of it in every
// language has the same; TestOneVersion names those that do not.
const Release = "0.1.0"

// Version is the module's version, or the release this is on the way to and the commit it was
// built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return development
	}
	return version(info)
}

// version takes no more than the commit of what the go command makes up where there is no tag yet: v0.0.0, a time
// and a commit.
func version(info *debug.BuildInfo) string {
	switch v := info.Main.Version; {
	case strings.HasPrefix(v, "v0.0.0-"):
		return development + "+" + strings.ReplaceAll(v[strings.LastIndex(v, "-")+1:], "+", ".")
	case v != "" && v != "(devel)":
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return development + "+" + s.Value[:12]
		}
	}
	return development
}

const development = "v" + Release + "-devel"
