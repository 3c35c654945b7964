package host

// PluginFolder returns the folder that HashFolder hashes.
func PluginFolder(spec Spec) (string, error) {
	if err := checkSpec(spec); err != nil {
		return "", err
	}
	_, folder, err := home(spec)
	return folder, err
}
