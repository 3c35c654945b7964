package build

import "runtime/debug"

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
	if v := info.Main.Version; v != "" && v != "(devel)" {
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
