package build

import (
	"runtime/debug"
	"strings"
)

// Release is the version that this source is, or becomes. Every package of it in every
// language has the same; TestOneVersion names those that do not.
const Release = "0.1.0"

// module is where Mulligan is, in its own program and in others that have it built in.
const module = "github.com/mulligan-run/mulligan"

// Version is the module's version, or the release this is on the way to and the commit it was
// built from. In another program it is that of the module which is built in.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return development
	}
	return version(info)
}

// version shortens the pseudo-version that the go command makes up before the first tag (v0.0.0, a
// time and a commit) to the commit.
func version(info *debug.BuildInfo) string {
	if info.Main.Path != module {
		for _, m := range info.Deps {
			if m.Path == module && m.Replace == nil {
				return version(&debug.BuildInfo{Main: *m})
			}
		}
		return development
	}
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
