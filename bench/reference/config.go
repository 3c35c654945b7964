package main

import (
	"path/filepath"
	"strings"
)

// configPage has every key of mulligan.yaml, beginning with the top level.
func configPage(top string) (string, error) {
	all, err := structures(filepath.Join(top, "config"), "yaml")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# mulligan.yaml\n\nEvery key of the configuration, and what it holds. Made from the code: do not edit it here. " +
		"`mulligan doctor` says which file is read, and what is wrong in it; a key that there is not is an error with its line.\n")
	for _, s := range reached(all, "Config") {
		heading := s.name
		if s.name == "Config" {
			heading = "The file"
		}
		b.WriteString("\n## " + heading + "\n\n" + s.doc + "\n\n" + table(s, all, "key"))
	}
	return strings.ReplaceAll(b.String(), "| Timeouts |", "| durations by name, see [time](time.md) |"), nil
}

// reached are the structure of that name and the structures of its fields, in their order.
func reached(all map[string]structure, first string) (list []structure) {
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		list = append(list, all[name])
		for _, f := range all[name].fields {
			if _, of := inWords(f.holds, all); of != "" {
				add(of)
			}
		}
	}
	add(first)
	return list
}
