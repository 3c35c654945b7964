package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/mulligan-run/mulligan/sdk/conformance/plugins"
)

func TestLanguageWithoutToolchainIsShown(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	lines, err := languageLines(measured("grpc"))
	if err != nil {
		t.Error(err)
	}
	want := []line{{"Go", "missing: go"}, {"Python", "missing: python3"}, {"TypeScript", "missing: node"}, {"Rust", "missing: cargo"}, {"Java", "missing: java"}}
	if !slices.EqualFunc(lines[1:], want, slices.Equal) {
		t.Errorf("got %q", lines[1:])
	}
}

func TestLanguageWithoutResultIsAnError(t *testing.T) {
	var there []string
	for _, l := range plugins.Languages {
		if titles[l.Name] == "" {
			t.Errorf("%s has no title", l.Name)
		}
		if l.Missing() == "" {
			there = append(there, l.Name)
		}
	}
	if lines, err := languageLines(measured(append(there, "grpc")...)); err != nil || len(lines) != len(plugins.Languages)+1 {
		t.Errorf("got %q, %v", lines, err)
	}
	if _, err := languageLines(measured(there...)); err == nil { // Go is always there
		t.Error("the bare server is not missed")
	}
	if _, err := languageLines(measured("grpc")); err == nil {
		t.Error("nothing is missed")
	}
}

// measured are results of some subjects.
func measured(names ...string) results {
	all := results{}
	add := func(part string, units ...string) {
		m := metrics{}
		for _, name := range names {
			maps.Copy(m, metrics{name + "-" + units[0]: 1500, name + "-" + units[len(units)-1]: 3000})
		}
		all[key("bench", languageBench+"/"+part)] = m
	}
	add("start", p50, p99)
	add("call", p50, p99)
	add("callers1", perSec)
	add("callers8", perSec)
	add("callers32", perSec)
	add("memory", "rss-MB")
	return all
}
