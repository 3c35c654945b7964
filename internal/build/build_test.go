package build

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

const root = "../.."

// stated is where a package states its version, by file name.
var stated = map[string]*regexp.Regexp{
	"pyproject.toml":    regexp.MustCompile(`(?m)^version = "(.*)"$`),
	"Chart.yaml":        regexp.MustCompile(`(?m)^(?:v|appV)ersion: (.*)$`),
	"Cargo.toml":        regexp.MustCompile(`(?m)^version = "(.*)"$`),
	"package.json":      regexp.MustCompile(`(?m)^  "version": "(.*)",$`),
	"package-lock.json": regexp.MustCompile(`(?m)^  "version": "(.*)",$`),
}

// TestOneVersion: every package of a release has the same version.
func TestOneVersion(t *testing.T) {
	packages := 0
	for name, line := range stated {
		for _, folder := range []string{"sdk/*", "sdk/*/*", "web", "packaging/*"} {
			files, err := filepath.Glob(filepath.Join(root, folder, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				if filepath.Base(filepath.Dir(file)) == "xtask" {
					continue // a tool for developers, which is not published
				}
				packages++
				checkVersion(t, file, line)
			}
		}
	}
	if packages < 12 {
		t.Errorf("only %d packages were found", packages)
	}
}

func checkVersion(t *testing.T, file string, line *regexp.Regexp) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch found := line.FindSubmatch(content); {
	case found == nil:
		t.Errorf("%s says no version", file)
	case string(found[1]) != Release:
		t.Errorf("%s says %s, and internal/build.Release is %s: change all of them together", file, found[1], Release)
	}
}

// TestDevelopmentIsNoRelease: a development build's version cannot be mistaken for a published one.
func TestDevelopmentIsNoRelease(t *testing.T) {
	if v := Version(); !strings.HasPrefix(v, "v") || v == "v"+Release {
		t.Errorf("a test is %s", v)
	}
}

func TestVersion(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "2a20df17f46e0123456789"}
	for _, c := range []struct{ main, want string }{
		{"v0.1.0", "v0.1.0"},
		{"v0.1.1-0.20261126000123-2a20df17f46e", "v0.1.1-0.20261126000123-2a20df17f46e"},
		{"v0.0.0-20261126000123-2a20df17f46e", development + "+2a20df17f46e"},
		{"v0.0.0-20261126000123-2a20df17f46e+dirty", development + "+2a20df17f46e.dirty"},
		{"(devel)", development + "+2a20df17f46e"},
		{"", development + "+2a20df17f46e"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Path: module, Version: c.main}, Settings: []debug.BuildSetting{revision}}
		if got := version(info); got != c.want {
			t.Errorf("%q: %s, want %s", c.main, got, c.want)
		}
	}
	for want, built := range map[string][]*debug.Module{
		"v0.1.0":                      {{Path: "example.com/a", Version: "v7.0.0"}, {Path: module, Version: "v0.1.0"}},
		development + "+2a20df17f46e": {{Path: module, Version: "v0.0.0-20261126000123-2a20df17f46e"}},
		development:                   {{Path: module, Version: "v0.1.0", Replace: &debug.Module{Path: "../mulligan"}}},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Path: "example.com/agent", Version: "v3.0.0"}, Deps: built, Settings: []debug.BuildSetting{revision}}
		if got := version(info); got != want {
			t.Errorf("built into another program: %s, want %s", got, want)
		}
	}
	if got := version(&debug.BuildInfo{}); got != development {
		t.Error(got)
	}
}
