package trust

import "github.com/mulligan-run/mulligan/host"

// Folder is a plugin's folder as it is now.
type Folder struct {
	Folder, Sha256 string
	Files          int
}

// Examine looks at the folder of a plugin.
func Examine(spec host.Spec) (now Folder, err error) {
	if now.Folder, err = host.PluginFolder(spec); err != nil {
		return now, err
	}
	now.Sha256, now.Files, err = host.HashFolder(spec)
	return now, err
}

// ManifestOf is what the plugin asks for.
func ManifestOf(spec host.Spec) (Manifest, error) {
	folder, err := host.PluginFolder(spec)
	if err != nil {
		return Manifest{}, err
	}
	return ReadManifest(folder)
}
