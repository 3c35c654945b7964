package plugins

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/mulligan-run/mulligan/internal/needs"
)

// Language is an SDK: what it takes to make its conformance plugin.
type Language struct {
	Name    string
	Sources []string // files and folders that the plugin is made of, from the top of the repository
	Needs   []string // programs on the PATH

	make func(ctx context.Context, p Place) (Made, error)
}

// Made is how a plugin is started.
type Made struct {
	Args []string // the program and its arguments
	Env  []string // KEY=VALUE
}

// Languages are all SDKs.
var Languages = []Language{
	{Name: "go", Sources: []string{goPlugin, "sdk/go/plugin"}, Needs: []string{"go"}, make: makeGo},
	{Name: "python", Sources: pythonSources, Needs: []string{"python3"}, make: makePython},
	{Name: "typescript", Sources: slices.Concat(typescriptSources, typescriptLock), Needs: []string{"node", "npm"}, make: makeTypeScript},
	{Name: "rust", Sources: rustSources, Needs: []string{"cargo"}, make: makeRust},
	{Name: "java", Sources: javaSources, Needs: []string{"java", "mvn"}, make: makeJava},
}

// Missing names a program that is needed and does not run, or is not there; "" if all are well.
func (l Language) Missing() string {
	for _, tool := range l.Needs {
		if needs.Runs(tool) != nil {
			return tool
		}
	}
	return ""
}

// Make makes the plugin; an error holds what the tool that failed has said.
func (l Language) Make(ctx context.Context, p Place) (Made, error) { return l.make(ctx, p) }

const goPlugin = "sdk/conformance/goplugin"

func makeGo(ctx context.Context, p Place) (Made, error) {
	program := filepath.Join(p.Dir, "goplugin")
	return Made{Args: []string{program}}, p.Run(ctx, "go", "build", "-o", program, "./"+goPlugin)
}
