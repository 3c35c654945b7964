package plugins

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
)

const pythonSDK = "sdk/python/"

var pythonSources = []string{
	pythonSDK + "pyproject.toml", pythonSDK + "README.md", pythonSDK + "requirements.lock", pythonSDK + "src",
	pythonSDK + "tests/conformance_plugin.py",
}

// makePython installs the SDK as pip would for anybody, into the place's folder.
func makePython(ctx context.Context, p Place) (Made, error) {
	python, err := p.Python(ctx)
	if err != nil {
		return Made{}, err
	}
	err = p.Run(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation",
		"--target", p.Dir, p.Path(pythonSDK))
	plugin := p.Path(pythonSDK + "tests/conformance_plugin.py")
	return Made{Args: []string{python, plugin}, Env: []string{"PYTHONPATH=" + p.Dir}}, err
}

// Python is an interpreter that finds what the SDK depends on, which is installed once
// for each version of the lock and of Python.
func (p Place) Python(ctx context.Context) (string, error) {
	version, err := exec.CommandContext(ctx, "python3", "-c", "import platform; print(platform.python_version())").Output()
	if err != nil {
		return "", err
	}
	parent := p.Path(".cache/python/" + strings.TrimSpace(string(version)))
	installed, err := p.Once(ctx, parent, []string{pythonSDK + "requirements.lock"}, func(dir string) error {
		if err := p.Run(ctx, "python3", "-m", "venv", filepath.Join(dir, "venv")); err != nil {
			return err
		}
		return p.Run(ctx, filepath.Join(dir, "venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--no-deps", "--require-hashes", "-r", filepath.Join(dir, "requirements.lock"))
	})
	return filepath.Join(installed, "venv/bin/python"), err
}
