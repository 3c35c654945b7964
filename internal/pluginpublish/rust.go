package pluginpublish

import (
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/mulligan-run/mulligan/host/trust"
)

// cargoToml is what is read of Cargo.toml.
type cargoToml struct {
	Package struct {
		Name        string   `toml:"name"`
		Version     string   `toml:"version"`
		Description string   `toml:"description"`
		License     string   `toml:"license"`
		LicenseFile string   `toml:"license-file"`
		Publish     any      `toml:"publish"`
		Include     []string `toml:"include"`
	} `toml:"package"`
	Bin          []map[string]any `toml:"bin"`
	Dependencies map[string]any   `toml:"dependencies"`
}

func (r *Report) rust(f *folder) {
	const file = "Cargo.toml"
	var c cargoToml
	if _, err := toml.Decode(f.read(file), &c); err != nil {
		r.add(file, true, "it cannot be read: %v", err)
		return
	}
	r.add("it is public", c.Package.Publish == false, "%s says publish = false", file)
	r.add("name in "+file, c.Package.Name == "", "it is not there")
	r.add("description in "+file, c.Package.Description == "", "it is not there, and `cargo publish` demands it")
	r.add("license in "+file, c.Package.License == "" && c.Package.LicenseFile == "", "it is not there, and `cargo publish` demands it: license = \"…\"")
	r.sameVersion(f, file, c.Package.Version)
	r.add("a program", !f.has("src/main.rs") && len(c.Bin) != 1, "there is no src/main.rs: `plugin install cargo:` compiles one program")
	r.add("Cargo.lock", !f.has("Cargo.lock"), "it is not there, and `plugin install cargo:` takes the versions that you have tested: cargo build makes it")
	r.add("the manifest in the package", f.asks() && c.Package.Include != nil && !slices.Contains(c.Package.Include, trust.ManifestName),
		"what it asks for is read from the crate: add %s to include in %s", trust.ManifestName, file)
	for name, dependency := range c.Dependencies {
		fields, _ := dependency.(map[string]any)
		r.dependency(name, fields["path"] != nil && fields["version"] == nil)
	}
}

func (r *Report) dependency(name string, local bool) {
	if local {
		r.add("dependency "+name, true, "its path is on your machine only: name a version, too")
	}
}
