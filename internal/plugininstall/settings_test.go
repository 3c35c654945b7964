package plugininstall

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mulligan-run/mulligan/config"
)

var somePlugin = config.Plugin{
	Name: "pager", Command: []string{"/x/pager-1/.venv/bin/python", "/x/pager-1/run \"a\".py"}, Folder: "/x/pager-1",
}

const (
	asBlock = "- name: pager\n    command: [/x/pager-1/.venv/bin/python, \"/x/pager-1/run \\\"a\\\".py\"]\n    folder: /x/pager-1\n"
	asFlow  = `{name: pager, command: [/x/pager-1/.venv/bin/python, "/x/pager-1/run \"a\".py"], folder: /x/pager-1}`
	heading = "plugins: # asked side by side; the first in this order with an opinion wins\n"
)

// TestAConfigKeepsItsForm: everything else in the config stays as it is, byte for byte, and once
// the plugin is removed the config is as before.
func TestAConfigKeepsItsForm(t *testing.T) {
	head := "# mine\nmodel: fable/one   # dear\n\n"
	for name, tt := range map[string]struct{ source, with, after string }{
		"nothing":     {"", heading + "  " + asBlock + "  - auto-recover\n", heading + "  - auto-recover\n"},
		"no plugins":  {head, head + heading + "  " + asBlock + "  - auto-recover\n", head + heading + "  - auto-recover\n"},
		"no line end": {"model: fable/one", "model: fable/one\n\n" + heading + "  " + asBlock + "  - auto-recover\n", "model: fable/one\n\n" + heading + "  - auto-recover\n"},
		"no value":    {head + "plugins:\nfallbacks: []\n", head + "plugins:\n  " + asBlock + "  - auto-recover\nfallbacks: []\n", head + "plugins:\n  - auto-recover\nfallbacks: []\n"},
		"block": {
			head + "plugins:  # in order\n  # the first\n  - name: a # a\n    command: [./a]\n\n  # ours\n  - auto-recover\nfallbacks: [a/b]\n",
			head + "plugins:  # in order\n  " + asBlock + "  # the first\n  - name: a # a\n    command: [./a]\n\n  # ours\n  - auto-recover\nfallbacks: [a/b]\n", "",
		},
		"deep comment": {"plugins:\n      # a deep one\n  - auto-recover\n", "plugins:\n  " + asBlock + "      # a deep one\n  - auto-recover\n", ""},
		"not indented": {"plugins:\n- auto-recover\nmodel: a/b\n", "plugins:\n" + strings.ReplaceAll(asBlock, "\n    ", "\n  ") + "- auto-recover\nmodel: a/b\n", ""},
		"flow":         {head + "plugins: [auto-recover] # ours\n", head + "plugins: [" + asFlow + ", auto-recover] # ours\n", ""},
		"flow, é":      {"plugins:   [{name: a, command: [\"é\"]}, auto-recover]\n", "plugins:   [" + asFlow + ", {name: a, command: [\"é\"]}, auto-recover]\n", ""},
		"none":         {"plugins: []\n", "plugins: [" + asFlow + "]\n", ""},
		"CRLF":         {"model: a/b\r\nplugins:\r\n  - auto-recover\r\n", "model: a/b\r\nplugins:\r\n  " + strings.ReplaceAll(asBlock, "\n", "\r\n") + "  - auto-recover\r\n", ""},
	} {
		got, err := withPlugin([]byte(tt.source), somePlugin)
		if diff := cmp.Diff(tt.with, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
			continue
		}
		if tt.after == "" {
			tt.after = tt.source
		}
		got, err = withoutPlugin(got, "pager")
		if diff := cmp.Diff(tt.after, string(got)); err != nil || diff != "" {
			t.Errorf("%s, removed: %v\n%s", name, err, diff)
		}
	}
}

func TestAnEntryInTheMiddleIsRemoved(t *testing.T) {
	for source, want := range map[string]string{
		"plugins: [auto-recover, {name: pager, command: [x]}]\n": "plugins: [auto-recover]\n",
		"plugins:\n  - auto-recover\n  - name: pager # ours\n    command: [x]\n    config:\n      text: |\n        - a\n\n        b\n  # not ours\n  - {name: b, command: [y]}\n": "plugins:\n  - auto-recover\n  # not ours\n  - {name: b, command: [y]}\n",
		"plugins:\n  - name: pager\n    command: [x]\n\n# the model\nmodel: a/b\n":                                                                                                "plugins: []\n\n# the model\nmodel: a/b\n",
	} {
		got, err := withoutPlugin([]byte(source), "pager")
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

// TestAConfigThatCannotBeKept: a config that cannot be changed safely is refused, and nothing is
// lost.
func TestAConfigThatCannotBeKept(t *testing.T) {
	for name, source := range map[string]string{
		"all in braces": "{model: a/b}\n",
		"an alias":      "plugins: &list [auto-recover]\n",
		"an end":        "model: a/b\n...\n",
	} {
		got, err := withPlugin([]byte(source), somePlugin)
		if !errors.Is(err, errByHand) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := withPlugin([]byte("plugins: [{name: pager, command: [x]}]\n"), somePlugin); err == nil || !strings.Contains(err.Error(), "two plugins are called") {
		t.Error(err)
	}
	if _, err := withPlugin([]byte("modell: a/b\n"), somePlugin); err == nil || !strings.Contains(err.Error(), "modell") {
		t.Error(err)
	}
	if _, err := withoutPlugin([]byte("plugins: []\n"), "pager"); err == nil || !strings.Contains(err.Error(), "no plugin") {
		t.Error(err)
	}
}

func TestAnEntryIsReplaced(t *testing.T) {
	source := "plugins:\n  - {name: b, command: [y]}\n  " + asBlock + "    config: {a: 1} # mine\n"
	after := config.Plugin{Name: "pager", Command: []string{"/x/pager-2/.venv/bin/python", "/x/pager-2/run \"a\".py"}, Folder: "/x/pager-2"}
	got, err := replacedPlugin([]byte(source), somePlugin, after)
	if diff := cmp.Diff(strings.ReplaceAll(source, "pager-1", "pager-2"), string(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	after.Command = []string{"node", "/x/pager-2/main.js", "-v"} // a different plugin
	want := "plugins:\n  - {name: b, command: [y]}\n  - name: pager\n    command: [node, /x/pager-2/main.js, \"-v\"]\n    folder: /x/pager-2\n    config: {a: 1} # mine\n"
	got, err = replacedPlugin([]byte(source), somePlugin, after)
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	byHand := strings.Replace(source, "/x/pager-1/.venv", "/y/.venv", 1)
	if got, err = replacedPlugin([]byte(byHand), somePlugin, after); !errors.Is(err, errByHand) {
		t.Errorf("%v\n%s", err, got)
	}
}

// FuzzSettings: whatever a config looks like, it is changed safely or refused.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{"", "model: a/b\n", "plugins: [auto-recover]\n", "plugins:\n- auto-recover\n", "{}\n", "plugins:\n  # a\n  - {name: a, command: [b]}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		before, err := config.Parse(source)
		if err != nil {
			return
		}
		with, err := withPlugin(source, somePlugin)
		if err != nil {
			return
		}
		after, err := config.Parse(with)
		if err != nil || len(after.Plugins) != len(before.AskedPlugins())+1 || after.Plugins[0].Name != "pager" {
			t.Fatalf("%v\n%s\nbecame\n%s", err, source, with)
		}
	})
}
