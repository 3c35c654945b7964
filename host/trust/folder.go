package trust

import "github.com/mulligan-run/mulligan/host"

// Folder is the present content of a plugin's folder.
type Folder struct {
	Folder, Sha256 string
	Files          int
}

// Examine hashes the folder of a plugin.
func Examine(spec host.Spec) (now Folder, err error) {
	if now.Folder, err = host.PluginFolder(spec); err != nil {
		return now, err
	}
	now.Sha256, now.Files, err = host.HashFolder(spec)
	return now, err
}

// ManifestOf reads what the plugin asks for.
func ManifestOf(spec host.Spec) (Manifest, error) {
	folder, err := host.PluginFolder(spec)
	if err != nil {
		return Manifest{}, err
	}
	return ReadManifest(folder)
}
