package pluginpublish

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/mulligan-run/mulligan/host/trust"
)

// pyproject is what is read of pyproject.toml.
type pyproject struct {
	Build   map[string]any `toml:"build-system"`
	Project struct {
		Name        string            `toml:"name"`
		Version     string            `toml:"version"`
		Description string            `toml:"description"`
		Readme      any               `toml:"readme"`
		License     any               `toml:"license"`
		Python      string            `toml:"requires-python"`
		Scripts     map[string]string `toml:"scripts"`
		Dynamic     []string          `toml:"dynamic"`
		Classifiers []string          `toml:"classifiers"`
	} `toml:"project"`
}

func (r *Report) python(f *folder) {
	const file = "pyproject.toml"
	if !f.has(file) {
		r.add(file, true, "it is not there: a wheel is made of it, and `plugin install pypi:` takes wheels")
		return
	}
	var p pyproject
	if _, err := toml.Decode(f.read(file), &p); err != nil {
		r.add(file, true, "it cannot be read: %v", err)
		return
	}
	private := slices.ContainsFunc(p.Project.Classifiers, func(c string) bool { return strings.HasPrefix(c, "Private ::") })
	r.add("it is public", private, `take "Private :: …" out of the classifiers in %s`, file)
	r.add("[build-system]", p.Build == nil, "%s does not say what builds it", file)
	for _, field := range []struct {
		name  string
		there bool
	}{
		{"name", p.Project.Name != ""},
		{"description", p.Project.Description != ""},
		{"readme", p.Project.Readme != nil},
		{"license", p.Project.License != nil},
		{"requires-python", p.Project.Python != ""},
	} {
		r.add("project."+field.name, !field.there && !slices.Contains(p.Project.Dynamic, field.name), "it is not in %s", file)
	}
	if !slices.Contains(p.Project.Dynamic, "version") {
		r.sameVersion(f, file, p.Project.Version)
	}
	_, own := p.Project.Scripts[p.Project.Name]
	r.add("a script that starts it", len(p.Project.Scripts) != 1 && !own,
		"[project.scripts] in %s has one line, such as %s = \"my_rules:main\"; of several, one is called like the package", file, p.Project.Name)
	r.add("the manifest in the package", f.asks() && !f.manifestInPackage(),
		"what it asks for is read from the wheel: put %s beside the package's __init__.py, too", trust.ManifestName)
}

// manifestInPackage reports whether a manifest lies in a package of Python's.
func (f *folder) manifestInPackage() bool {
	for _, pattern := range []string{"*", "src/*"} {
		folders, _ := fs.Glob(f.FS(), pattern)
		for _, folder := range folders {
			if f.has(path.Join(folder, "__init__.py")) && f.has(path.Join(folder, trust.ManifestName)) {
				return true
			}
		}
	}
	return false
}
