package conformance

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const pythonSDK = "../python/"

var pythonSources = []string{
	pythonSDK + "pyproject.toml", pythonSDK + "README.md", pythonSDK + "requirements.lock", pythonSDK + "src",
	pythonSDK + "tests/conformance_plugin.py",
}

// pythonPlugin installs the SDK as pip would for anybody, into dir. What it depends on
// is installed once for each version of the lock and of Python.
func pythonPlugin(t *testing.T, dir string) Command {
	version, err := exec.Command("python3", "-c", "import platform; print(platform.python_version())").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := filepath.Abs("../../.cache/python/" + strings.TrimSpace(string(version)))
	if err != nil {
		t.Fatal(err)
	}
	installed := once(t, cache, []string{pythonSDK + "requirements.lock"}, func(dir string) {
		run(t, "python3", "-m", "venv", filepath.Join(dir, "venv"))
		run(t, filepath.Join(dir, "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--no-deps", "--require-hashes", "-r", filepath.Join(dir, "requirements.lock"))
	})
	python := filepath.Join(installed, "venv/bin/python")
	run(t, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
		"--target", dir, pythonSDK)
	plugin, err := filepath.Abs(pythonSDK + "tests/conformance_plugin.py")
	if err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{python, plugin}, Env: []string{"PYTHONPATH=" + dir}}
}
