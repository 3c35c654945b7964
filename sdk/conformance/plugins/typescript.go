package plugins

import (
	"context"
	"path/filepath"
	"slices"
)

const typescriptSDK = "sdk/typescript/plugin/"

// What the dependencies of the TypeScript SDK depend on, and the rest of its sources.
var (
	typescriptLock    = []string{typescriptSDK + "package.json", typescriptSDK + "package-lock.json", typescriptSDK + ".npmrc"}
	typescriptSources = []string{typescriptSDK + "tsconfig.json", typescriptSDK + "src", typescriptSDK + "test"}
)

func makeTypeScript(ctx context.Context, p Place) (Made, error) {
	compiled, err := p.TypeScript(ctx)
	return Made{Args: []string{"node", filepath.Join(compiled, "dist/test/conformance/main.js")}}, err
}

// TypeScript is the folder of the compiled SDK. It is installed and compiled away from
// the sources, once for each version of them: the dependencies into a folder named
// after the lock, and what is compiled into one named after the sources inside it,
// where Node finds the dependencies.
func (p Place) TypeScript(ctx context.Context) (string, error) {
	installed, err := p.Once(ctx, p.Path(".cache/typescript"), typescriptLock, func(dir string) error {
		return p.Run(ctx, "npm", "ci", "--ignore-scripts", "--prefix", dir)
	})
	if err != nil {
		return "", err
	}
	return p.Once(ctx, installed, slices.Concat(typescriptSources, typescriptLock), func(dir string) error {
		return p.Run(ctx, filepath.Join(installed, "node_modules/.bin/tsc"), "--project", dir)
	})
}
