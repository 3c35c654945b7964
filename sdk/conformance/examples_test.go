package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/conformance/plugins"
)

const examplePlugins = "plugins/examples/"

// example is a plugin of plugins/examples, and one question whose answer shows that it
// is that one. Its policy has tests of its own, in its language.
type example struct {
	language
	config  string
	refused string // a configuration that its schema does not allow
	event   hooks.RunError
	want    recovery.Vote // action, model and reason count
	page    string        // what it posts meanwhile to PAGER_WEBHOOK contains; "" = nothing
}

var examples = []example{
	{
		language: language{
			name: "go-cost-cap", sources: sources("go", examplePlugins+"go-cost-cap"), needs: []string{"go"},
			prepare: goCostCap,
		},
		config:  `{"dollars": 2, "prices": {"a/plain": 10, "b/dear": 25}}`,
		refused: `{"prices": {}}`,
		event:   hooks.RunError{Model: "a/plain", Failure: failure.Failure{Kind: failure.KindBudget}, Remaining: recovery.Budget{Microdollars: -1}},
		want:    recovery.Vote{Action: recovery.ActionFail, Reason: "The run's budget is used up: $2.00 of $2.00 spent"},
	},
	{
		language: language{
			name: "python-pager", sources: sources("python", examplePlugins+"python-pager/pager.py"), needs: []string{"python3"},
			prepare: pythonPager,
		},
		refused: `{"failures": 0}`,
		event: hooks.RunError{Model: "a/b", Failure: failure.Failure{
			Kind: failure.KindAuth, Origin: failure.OriginModel, Provider: "a", Title: "The key was refused",
		}},
		page: `"a: auth. The key was refused"`,
	},
	{
		language: language{
			name: "typescript-sibling-account", sources: sources("typescript", siblingSources...), needs: []string{"node", "npm"},
			prepare: typescriptSiblingAccount,
		},
		refused: `{"siblings": [["alone"]]}`,
		event: hooks.RunError{
			Model: "a-work/m", Failure: failure.Failure{Kind: failure.KindQuota},
			Alternatives: []recovery.Alternative{{Model: "b/m"}, {Model: "a-home/m"}},
		},
		want: recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "a-home/m", Reason: "a-work: quota. a-home has the same model"},
	},
	{
		language: language{
			name: "rust-patience", sources: sources("rust", patienceSources...), needs: []string{"cargo"},
			prepare: rustPatience,
		},
		config:  `{"least_seconds": 80}`,
		refused: `{"share": 2}`,
		event:   hooks.RunError{Model: "a/b", MaxRetries: 3, Failure: failure.Failure{Kind: failure.KindOverloaded}},
		want:    recovery.Vote{Action: recovery.ActionRetry, Delay: 10_000, Reason: "0 of 80 s of patience are used"},
	},
	{
		language: language{
			name: "java-business-hours", sources: sources("java"), needs: []string{"java", "mvn"}, prepare: javaBusinessHours,
		},
		config:  `{"timezone": "Europe/Oslo", "cheap": ["b/cheap"]}`,
		refused: `{"from": "25:00"}`,
		event: hooks.RunError{
			Model: "a/dear", Failure: failure.Failure{Kind: failure.KindOverloaded}, Time: time.Date(2026, 5, 4, 16, 30, 0, 0, time.UTC),
			Alternatives: []recovery.Alternative{{Model: "a/other"}, {Model: "b/cheap"}},
		},
		want: recovery.Vote{Action: recovery.ActionSwitchModel, NewModel: "b/cheap", Reason: "it is outside business hours: b/cheap is cheaper"},
	},
}

var (
	siblingSources = []string{
		examplePlugins + "typescript-sibling-account/package.json", examplePlugins + "typescript-sibling-account/tsconfig.json",
		examplePlugins + "typescript-sibling-account/src",
	}
	patienceSources = []string{
		examplePlugins + "rust-patience/Cargo.toml", examplePlugins + "rust-patience/src",
	}
)

// The host starts every example, and asks it.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			command := e.command(t)
			pages := webhook(t, &command)
			e.refuses(t, command)
			got := e.ask(t, command)
			if got.Action != e.want.Action || got.NewModel != e.want.NewModel || got.Delay != e.want.Delay ||
				got.Reason != e.want.Reason || got.Error != "" {
				t.Errorf("%+v, want %+v", got, e.want)
			}
			if e.page == "" {
				return
			}
			select {
			case page := <-pages:
				if !strings.Contains(page, e.page) {
					t.Errorf("the page is %s, want %s", page, e.page)
				}
			case <-time.After(10 * time.Second):
				t.Error("no page within 10 s")
			}
		})
	}
}

// refuses sees that the host does not start it with a configuration that its schema does not allow.
func (e example) refuses(t *testing.T, c Command) {
	h := host.New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(host.Spec{Name: e.name, Command: c.Args, Env: c.Env, Config: []byte(e.refused)}); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err == nil {
		t.Errorf("it starts with %s", e.refused)
	}
}

func (e example) ask(t *testing.T, c Command) recovery.Vote {
	h := host.New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(host.Spec{Name: e.name, Command: c.Args, Env: c.Env, Config: []byte(e.config)}); err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var vote recovery.Vote
	hooks.Dispatch(t.Context(), h.Hooks(), e.event, hooks.Deadlines{}, func(got recovery.Vote) { vote = got })
	return vote
}

// webhook grants the plugin PAGER_WEBHOOK, and gives what is posted there.
func webhook(t *testing.T, c *Command) <-chan string {
	pages := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		pages <- string(body)
	}))
	t.Cleanup(server.Close)
	c.Env = append(c.Env, "PAGER_WEBHOOK="+server.URL)
	return pages
}

func goCostCap(t *testing.T, dir string) Command {
	program := filepath.Join(dir, "go-cost-cap")
	build(t, "go", "build", "-o", program, top+examplePlugins+"go-cost-cap")
	return Command{Args: []string{program}}
}

func pythonPager(t *testing.T, dir string) Command {
	made, p := sdk(t, "python", dir), place(t, dir)
	return Command{Args: []string{made.Args[0], p.Path(examplePlugins + "python-pager/pager.py")}, Env: made.Env}
}

// typescriptSiblingAccount compiles inside the folder of the compiled SDK, where what
// both depend on is found, and whose name changes with the SDK.
func typescriptSiblingAccount(t *testing.T, dir string) Command {
	sdk := filepath.Join(filepath.Dir(sdk(t, "typescript", dir).Args[1]), "../../..")
	compiled, err := place(t, dir).Once(t.Context(), sdk, siblingSources, func(dir string) error {
		modules := filepath.Join(dir, "node_modules/@mulligan-run")
		if err := os.MkdirAll(modules, 0o755); err != nil {
			return err
		}
		if err := os.Symlink(sdk, filepath.Join(modules, "plugin")); err != nil {
			return err
		}
		build(t, filepath.Join(sdk, "../node_modules/.bin/tsc"), "--project", dir)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{"node", filepath.Join(compiled, "dist/main.js")}}
}

func rustPatience(t *testing.T, dir string) Command {
	p := place(t, dir)
	target := p.Path(".cache/rust")
	build(t, "cargo", "build", "--quiet", "--manifest-path", p.Path(examplePlugins+"rust-patience/Cargo.toml"), "--target-dir", target)
	return Command{Args: []string{filepath.Join(target, "debug/rust-patience")}}
}

func javaBusinessHours(t *testing.T, dir string) Command {
	program, err := place(t, dir).JavaExample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{program}}
}

// sdk makes the conformance plugin of an SDK, and with it what an example needs.
func sdk(t *testing.T, name, dir string) plugins.Made {
	t.Helper()
	i := slices.IndexFunc(plugins.Languages, func(l plugins.Language) bool { return l.Name == name })
	made, err := plugins.Languages[i].Make(t.Context(), place(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// sources are those of an example: of its SDK, and its own.
func sources(sdk string, own ...string) []string {
	i := slices.IndexFunc(plugins.Languages, func(l plugins.Language) bool { return l.Name == sdk })
	return slices.Concat(plugins.Languages[i].Sources, own)
}

func build(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
