package pluginpublish

import (
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
)

// languages are those whose packages are known, by the file that tells.
var languages = []struct {
	file, title string
	check       func(*Report, *folder)
	publish     []string
}{
	{"pyproject.toml", "Python", (*Report).python, []string{"python3 -m build", "python3 -m twine upload dist/*"}},
	{"requirements.txt", "Python", (*Report).python, nil},
	{"package.json", "TypeScript", (*Report).node, []string{"npm run build", "npm publish --access public"}},
	{"go.mod", "Go", (*Report).golang, []string{"git tag vVERSION", "git push origin vVERSION"}},
	{"Cargo.toml", "Rust", (*Report).rust, []string{"cargo publish"}},
	{"pom.xml", "Java", (*Report).java, []string{"mvn -B package", "tar czf NAME-VERSION.tar.gz -C target NAME"}},
}

// pack looks at what the registry of the plugin's language asks for.
func (r *Report) pack(f *folder) {
	for _, l := range languages {
		if !f.has(l.file) {
			continue
		}
		r.Language = l.title
		l.check(r, f)
		for _, line := range l.publish {
			r.Publish = append(r.Publish, strings.NewReplacer("VERSION", f.manifest.Version, "NAME", f.manifest.Name).Replace(line))
		}
		return
	}
	r.add("a package", true, "there is no pyproject.toml, package.json, go.mod, Cargo.toml or pom.xml: it can be installed as a folder or an archive only")
}

// sameVersion demands that the package and the manifest agree.
func (r *Report) sameVersion(f *folder, file, version string) {
	r.add("one version", f.manifest.Version != "" && version != f.manifest.Version,
		"%s says %q, %s %q", file, version, trust.ManifestName, f.manifest.Version)
}
