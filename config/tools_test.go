package config

import (
	"strings"
	"testing"
)

func TestToolProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{name: a b, command: [x]}":                        `"a b" is not a name for a tool`,
		"{name: none, command: [x]}":                       `the name "none" is taken`,
		"{name: a, command: [x]}, {name: a, command: [y]}": `the name "a" is taken`,
		"{name: a}":                "tool a needs a command",
		`{name: a, command: [""]}`: "tool a needs a command",
		"{name: a, command: [x], schema: {type: array}}":                      `"type": "object"`,
		"{name: a, command: [x], schema: {type: object, maximum: .nan}}":      "NaN",
		"{name: a, command: [x], env: [OK, 'not ok']}":                        `env[1]: "not ok" is not an environment variable`,
		"{name: a, command: [x], safety: mostly}":                             `"mostly" is not known`,
		"{name: a, command: [x], timeout: 1ms}":                               "not a duration between 100ms and 24h",
		"{name: a, command: [x], grace: 11s}":                                 "not a duration between 100ms and 10s",
		"{name: a, command: [x], max_output: 1023}":                           "1023 is not between 1024 and 262144 bytes",
		"{name: a, command: x}":                                               "a list belongs here",
		"{name: a, command: [x], shell: true}":                                "shell",
		"{name: a, command: [x], env: [A, B=c], timeout: 1m, safety: unsafe}": "",
	} {
		_, err := Parse([]byte("tools: [" + text + "]\n"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %q", text, err, want)
		}
	}
}
