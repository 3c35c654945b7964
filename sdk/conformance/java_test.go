package conformance

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const javaPlugin = "plugins/examples/java-business-hours/"

// The protocol's files are sources too: the messages are generated from them.
var javaSources = []string{javaPlugin + "pom.xml", javaPlugin + "src", "proto"}

// javaSessions are those of an ordinary plugin, made from the protocol's page alone.
// What it says depends on the time of the day: it is six hours from any border.
func javaSessions() []session {
	hours := func(from, to time.Duration) string {
		now := time.Now().UTC()
		config, _ := json.Marshal(map[string]any{
			"from": now.Add(from).Format("15:04"), "to": now.Add(to).Format("15:04"), "cheap": []string{"b/cheap"},
		})
		return string(config)
	}
	ask := func(name, event, reply string) Talk {
		return Talk{Name: name, Event: json.RawMessage(event), Reply: json.RawMessage(reply)}
	}
	overloaded := `{"failure":{"kind":"KIND_OVERLOADED"},"alternatives":[{"model":"a/dear"},{"model":"b/cheap"}]}`
	again := `{"action":"ACTION_RETRY","delayMs":"2000","reason":"it is business hours: the same model again"}`
	large, many := ask("60 MiB", overloaded, again), ask("32 at once", overloaded, again)
	large.Padding, many.Times = 60<<20, 32
	return []session{
		{name: "no configuration"},
		{name: "a configuration is refused", config: `{"timezone":"Europe/Atlantis"}`, refused: true},
		{name: "business hours", config: hours(-6*time.Hour, 6*time.Hour), talks: []Talk{
			large, many, ask("another kind", `{"failure":{"kind":"KIND_AUTH"}}`, `{}`),
			ask("a kind of tomorrow", `{"failure":{"kind":77}}`, `{}`),
		}},
		{name: "other hours", config: hours(6*time.Hour, -6*time.Hour), talks: []Talk{
			ask("cheap", overloaded, `{"action":"ACTION_SWITCH_MODEL","newModel":"b/cheap","reason":"it is outside business hours: b/cheap is cheaper"}`),
			ask("none cheap", strings.ReplaceAll(overloaded, "b/cheap", "b/dearer"), `{}`),
		}},
	}
}

// javaBusinessHours builds away from the sources, once for each version of them.
func javaBusinessHours(t *testing.T, _ string) Command {
	p := place(t, "")
	built, err := p.Once(t.Context(), p.Path(".cache/java"), javaSources, func(dir string) error {
		out, err := exec.CommandContext(t.Context(), "mvn", "--quiet", "--batch-mode", "--file", dir,
			"-Dprotocol="+filepath.Join(dir, "proto"), "package").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{filepath.Join(built, "target/java-business-hours/java-business-hours")}}
}
