package host

// PluginFolder returns the folder that HashFolder hashes. It fails if spec is invalid, or if its
// command does not show which folder that is.
func PluginFolder(spec Spec) (string, error) {
	if err := checkSpec(spec); err != nil {
		return "", err
	}
	_, folder, err := home(spec)
	return folder, err
}
