package conformance

import (
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/sdk/conformance/plugins"
)

// top is the top of the repository, from here.
const top = "../../"

// language is how the plugin of one is made and started: the program itself, or with
// an exec in every wrapper around it.
type language struct {
	name    string
	sources []string                               // files and folders that the plugin is made of, from the top
	needs   []string                               // on the PATH
	prepare func(t *testing.T, dir string) Command // dir is empty, and removed afterwards
}

// languages are those with an SDK.
func languages() []language {
	var all []language
	for _, l := range plugins.Languages {
		prepare := func(t *testing.T, dir string) Command {
			made, err := l.Make(t.Context(), place(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			return Command{Args: made.Args, Env: made.Env}
		}
		all = append(all, language{name: l.Name, sources: l.Sources, needs: l.Needs, prepare: prepare})
	}
	return all
}

func place(t *testing.T, dir string) plugins.Place {
	t.Helper()
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	return plugins.Place{Root: root, Dir: dir}
}

// command makes the language's plugin. Without its toolchain the test is skipped,
// loudly, and fails in the continuous integration.
func (l language) command(t *testing.T) Command {
	t.Helper()
	needs.Programs(t, "the "+l.name+" SDK", l.needs...)
	if err := place(t, "").Look(l.sources); err != nil {
		t.Fatal(err)
	}
	return l.prepare(t, t.TempDir())
}
