// Package yamlfile reads small YAML files that people write, strictly: what is wrong is shown
// in its line, without the log-ins that stand there.
package yamlfile
