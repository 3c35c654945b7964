package yamlfile

import (
	"regexp"
	"strings"
)

// rewordings turn what the decoder says about a value of a wrong type, in Go's words, into
// what belongs there. Each matches the message behind the position, such as "[2:1] ".
var rewordings = []struct {
	said *regexp.Regexp
	say  func(found []string) string
}{
	{regexp.MustCompile(`^(\[\d+:\d+\] )cannot unmarshal \S+(?: {})? into Go (?:struct field \S+|value) of type (\S+)`), func(m []string) string {
		return m[1] + belongs(m[2])
	}},
	{regexp.MustCompile(`^(\[\d+:\d+\] )\w+ was used where (\w+) is expected`), func(m []string) string {
		return m[1] + belongs(m[2])
	}},
	{regexp.MustCompile(`^(\[\d+:\d+\] )found character '\t' that cannot start any token`), func(m []string) string {
		return m[1] + "a tab cannot indent a line: write spaces"
	}},
}

// reworded is what the decoder says, in the words of people who write YAML.
func reworded(text string) string {
	for _, r := range rewordings {
		if found := r.said.FindStringSubmatch(text); found != nil {
			return r.say(found) + strings.TrimPrefix(text, found[0])
		}
	}
	return text
}

// belongs names what a type of Go, or of a YAML node, is written as.
func belongs(kind string) string {
	switch {
	case kind == "mapping", strings.HasPrefix(kind, "map["):
		return "fields belong here, each as name: value"
	case kind == "sequence", strings.HasPrefix(kind, "[]"):
		return "a list belongs here, such as [one, two]"
	case kind == "string":
		return "a text belongs here"
	case kind == "bool", kind == "boolean":
		return "true or false belongs here"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number belongs here"
	case strings.HasPrefix(kind, "float"):
		return "a number belongs here"
	default:
		return "fields belong here, each as name: value"
	}
}
