package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// named finds the event types and their names in JSON.
var named = regexp.MustCompile(`func \((\w+)\) eventType\(\) string +\{ return "(\w+)" \}`)

// eventsPage has every event of a run, as it is stored and sent, and the structures of its fields.
func eventsPage(top string) (string, error) {
	all, err := structures(filepath.Join(top, "recovery"), "json")
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(top, "recovery", "event.go"))
	if err != nil {
		return "", err
	}
	events := named.FindAllStringSubmatch(string(source), -1)
	if len(events) == 0 {
		return "", errors.New("no events were found")
	}
	var b strings.Builder
	b.WriteString("# Events\n\nWhat happens to a run, as `GET /v1/runs/{id}/events`, `mulligan runs events` and webhooks send it: " +
		"`{\"v\": 1, \"run\": …, \"seq\": 1, \"time\": …, \"type\": \"began\", \"text\": …, \"data\": {…}}`. `text` is the line for people; " +
		"`data` has the fields below. Made from the code: do not edit it here. [What may change](compatibility.md) says what is promised.\n")
	seen := map[string]bool{}
	var parts []structure
	for _, e := range events {
		s := all[e[1]]
		b.WriteString("\n## " + e[2] + "\n\n" + s.doc + "\n")
		if len(s.fields) > 0 {
			b.WriteString("\n" + table(s, all, "field"))
		}
		for _, part := range reached(all, e[1])[1:] {
			if !seen[part.name] {
				seen[part.name] = true
				parts = append(parts, part)
			}
		}
	}
	for _, s := range parts {
		b.WriteString("\n## " + s.name + "\n\n" + s.doc + "\n")
		if len(s.fields) > 0 {
			b.WriteString("\n" + table(s, all, "field"))
		}
	}
	return b.String(), nil
}
