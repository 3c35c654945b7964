package pluginpublish

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
)

// packageJSON is what is read of package.json.
type packageJSON struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Private      bool              `json:"private"`
	Main         string            `json:"main"`
	Bin          any               `json:"bin"`
	Files        []string          `json:"files"`
	Dependencies map[string]string `json:"dependencies"`
}

func (r *Report) node(f *folder) {
	const file = "package.json"
	var p packageJSON
	if err := json.Unmarshal([]byte(f.read(file)), &p); err != nil {
		r.add(file, true, "it cannot be read: %v", err)
		return
	}
	r.add("it is public", p.Private, "%s says \"private\": true, so that npm does not publish it", file)
	for _, field := range [][2]string{{"name", p.Name}, {"description", p.Description}, {"license", p.License}} {
		r.add(field[0]+" in "+file, field[1] == "", "it is not there")
	}
	r.sameVersion(f, file, p.Version)
	program := p.program()
	if program == "" {
		r.add("a program", true, "bin in %s names what starts it, such as {%q: \"dist/main.js\"}", file, path.Base(p.Name))
	} else {
		r.add("a program", !f.has(path.Clean(program)), "%s is not there: build it", program)
	}
	top, _, _ := strings.Cut(path.Clean(program), "/")
	r.add("its files", p.Files != nil && program != "" && !slices.ContainsFunc(p.Files, func(name string) bool { return strings.HasPrefix(path.Clean(name), top) }),
		"files in %s leaves %s out", file, program)
	r.add("the manifest in the package", f.asks() && p.Files != nil && !slices.Contains(p.Files, trust.ManifestName),
		"what it asks for is read from the package: add %s to files in %s", trust.ManifestName, file)
	for name, version := range p.Dependencies {
		if strings.HasPrefix(version, "file:") || strings.HasPrefix(version, "link:") {
			r.add("dependency "+name, true, "%s is on your machine only: name a version of the registry", version)
		}
	}
}

// program is what starts the package: its bin or, if it has several, the one with its name; else its
// main.
func (p packageJSON) program() string {
	switch bin := p.Bin.(type) {
	case string:
		return bin
	case map[string]any:
		for name, file := range bin {
			if text, ok := file.(string); ok && (len(bin) == 1 || name == path.Base(p.Name)) {
				return text
			}
		}
	}
	return p.Main
}
