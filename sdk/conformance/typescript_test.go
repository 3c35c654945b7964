package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const typescriptSDK = "../typescript/plugin/"

// What the dependencies of the TypeScript SDK depend on, and the rest of its sources.
var (
	typescriptLock    = []string{typescriptSDK + "package.json", typescriptSDK + "package-lock.json", typescriptSDK + ".npmrc"}
	typescriptSources = []string{typescriptSDK + "tsconfig.json", typescriptSDK + "src", typescriptSDK + "test"}
)

// typescriptPlugin installs and compiles away from the sources, once for each version
// of them: the dependencies into a folder named after the lock, and what is compiled
// into one named after the sources inside it, where Node finds the dependencies.
func typescriptPlugin(t *testing.T, _ string) Command {
	cache, err := filepath.Abs("../../.cache/typescript")
	if err != nil {
		t.Fatal(err)
	}
	installed := once(t, cache, typescriptLock, func(dir string) {
		run(t, "npm", "ci", "--ignore-scripts", "--prefix", dir)
	})
	compiled := once(t, installed, slices.Concat(typescriptSources, typescriptLock), func(dir string) {
		run(t, filepath.Join(installed, "node_modules/.bin/tsc"), "--project", dir)
	})
	return Command{Args: []string{"node", filepath.Join(compiled, "dist/test/conformance/main.js")}}
}

// once makes a folder below parent out of copies of the sources, unless there is one
// that was made of the same.
func once(t *testing.T, parent string, sources []string, build func(dir string)) string {
	t.Helper()
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	half, err := os.MkdirTemp(parent, "half-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(half) }()
	for _, source := range sources {
		run(t, "cp", "-R", source, half)
	}
	whole := filepath.Join(parent, digest(t, half))
	if _, err := os.Stat(whole); err == nil {
		return whole
	}
	build(half)
	if err := os.Rename(half, whole); err != nil && !os.IsExist(err) { // another test may have been faster
		t.Fatal(err)
	}
	return whole
}

// digest names a folder after its content.
func digest(t *testing.T, dir string) string {
	t.Helper()
	hash := sha256.New()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		fmt.Fprintf(hash, "%s %d\n%s", strings.TrimPrefix(name, dir), len(content), content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}
