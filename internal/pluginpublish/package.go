package pluginpublish

import (
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
)

// languages are the languages whose packages are known, by the file that identifies
// them.
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

// pack checks what the registry of the plugin's language asks for.
func (r *Report) pack(f *folder) {
	publish := []string{"tar czf NAME-VERSION.tar.gz -C .. " + filepath.Base(f.Name())} // which needs no registry
	for _, l := range languages {
		if f.has(l.file) {
			r.Language, publish = l.title, l.publish
			l.check(r, f)
			break
		}
	}
	for _, line := range publish {
		r.Publish = append(r.Publish, strings.NewReplacer("VERSION", string(f.manifest.Version), "NAME", f.manifest.Name).Replace(line))
	}
}

// sameVersion checks that the package and the manifest have the same version.
func (r *Report) sameVersion(f *folder, file, version string) {
	r.add("one version", f.manifest.Version != "" && version != string(f.manifest.Version),
		"%s says %q, %s %q", file, version, trust.ManifestName, f.manifest.Version)
}
