package pi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider/internal/observe"
)

// Retries says which program retries a failed request.
type Retries string

// The programs that retry.
const (
	RetriesMulligan Retries = "mulligan" // the runner, on its plugins' advice; Pi's own retries are off
	RetriesPi       Retries = "pi"       // Pi, after 8, 16 and 32 s; advice may choose another model before that
)

// Config says which Pi to drive, and how. Every field but Folder may be zero, and its comment names
// the default; without Folder, Pi is not started.
type Config struct {
	Name      string   // the entry's name; "pi"
	Command   []string // how Pi is started, before its arguments; "pi"
	Retries   Retries  // RetriesMulligan
	Env       []string // names of variables that Pi gets besides the usual ones; nil = the well-known keys
	ConfigDir string   // where the person's own Pi keeps auth.json and models.json; its usual folder
	Folder    string   // an absolute path: our private folder; created when it is needed
	Dir       string   // where Pi works; "" = here
	Observe   bool     // Pi's requests pass a proxy on this machine, which sees how they go
	Decoders  Decoders // understands the answers there
	Proxy     Proxy    // gives the proxy to ask a provider through; nil = none
	Logger    *slog.Logger
	Classify  failure.Classifier // names what goes wrong at a provider; failure.Classify
}

// Proxy gives the address of the proxy on the way to a base URL, and where people have set it; "" =
// there is none.
type Proxy func(base string) (address, setting string, err error)

// install says how Pi is installed.
const install = "install it with: npm install -g @earendil-works/pi-coding-agent"

// idleTime is how long a Pi is kept that has nothing to do and that nobody asks.
const idleTime = 60 * time.Second

// Engine is Pi as an llm.Engine. It is safe for concurrent use.
type Engine struct {
	cfg    Config
	folder folder

	mu       sync.Mutex
	sessions map[string]*session
	closed   bool
	version  *version        // nil until Pi was asked for it
	proxy    *proxy          // nil until a Pi that is observed was started
	warned   map[string]bool // the providers of Pi's about which it has warned that they are not observed
	owner    string          // the mark of everything that this engine starts; "" = nothing was started
}

var _ llm.Engine = (*Engine)(nil)

var errClosed = errors.New("the engine is closed")

// New makes an Engine, and does not start Pi. It ends processes that an engine left behind in the
// private folder because its own process was killed. An error says what is wrong with the
// configuration.
func New(cfg Config) (*Engine, error) {
	cfg.Name = cmp.Or(cfg.Name, "pi")
	cfg.Retries = cmp.Or(cfg.Retries, RetriesMulligan)
	if len(cfg.Command) == 0 {
		cfg.Command = []string{"pi"}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Classify == nil {
		cfg.Classify = failure.Classify
	}
	if cfg.ConfigDir == "" {
		cfg.ConfigDir = usualFolder()
	}
	switch {
	case cfg.Folder != "" && !filepath.IsAbs(cfg.Folder):
		return nil, fmt.Errorf("the private folder needs an absolute path, not %q", cfg.Folder)
	case cfg.Command[0] == "":
		return nil, errors.New("the command has no name")
	case cfg.Retries != RetriesMulligan && cfg.Retries != RetriesPi:
		return nil, fmt.Errorf("retries are %q or %q, not %q", RetriesMulligan, RetriesPi, cfg.Retries)
	}
	private := folder{path: cfg.Folder, from: cfg.ConfigDir, retries: cfg.Retries}
	if cfg.Folder != "" {
		private.sweep()
	}
	return &Engine{
		cfg: cfg, folder: private,
		sessions: map[string]*session{}, warned: map[string]bool{},
	}, nil
}

// usualFolder is the usual configuration folder of the person's own Pi.
func usualFolder() string {
	if dir := os.Getenv("PI_CODING_AGENT_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".pi", "agent")
}

// Loopback reports that Pi's models are not on this machine, as far as is known.
func (e *Engine) Loopback() bool { return false }

// Installed reports whether there is a program of the command's name.
func (e *Engine) Installed() bool {
	_, err := procgroup.LookUp(e.cfg.Command[0], e.cfg.Dir)
	return err == nil
}

// Warning says what is wrong with the Pi that is installed, and what to do about it; "" if nothing
// is. It asks Pi for its version, once.
func (e *Engine) Warning(ctx context.Context) string {
	if !e.Installed() {
		return fmt.Sprintf("there is no %s: %s", e.cfg.Command[0], install)
	}
	v, err := e.ask(ctx)
	switch {
	case err != nil:
		return err.Error()
	case v.before(honest):
		return fmt.Sprintf("Pi %s retries where nobody sees it, carries out tool calls that were cut off, and may hang in mid-stream: update to %s or later (npm install -g @earendil-works/pi-coding-agent)", v, honest)
	}
	return ""
}

// ask finds out Pi's version, and warns of an old one, once.
func (e *Engine) ask(ctx context.Context) (version, error) {
	e.mu.Lock()
	known := e.version
	e.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	program, _, err := e.command("--version")
	if err != nil {
		return version{}, err
	}
	v, err := askVersion(ctx, program)
	if err != nil {
		return v, err
	}
	e.mu.Lock()
	first := e.version == nil
	e.version = &v
	e.mu.Unlock()
	if warning := e.Warning(ctx); first && warning != "" {
		e.cfg.Logger.Warn(warning)
	}
	return v, nil
}

// own returns the mark of what is started here, and ends what killed processes have left behind
// since.
func (e *Engine) own() (mark string, err error) {
	e.folder.sweep()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.owner == "" {
		e.owner, err = e.folder.own()
	}
	return e.owner, err
}

// command is Pi with these arguments, and the values in its environment that must not be shown.
func (e *Engine) command(args ...string) (program procgroup.Program, secrets []string, err error) {
	program = procgroup.Program{Args: slices.Concat(e.cfg.Command, args), Dir: e.cfg.Dir}
	program.Env, secrets = e.cfg.environment()
	program.Path, err = procgroup.LookUp(e.cfg.Command[0], e.cfg.Dir)
	return program, secrets, err
}

// Stream implements llm.Model. A request without a session is a session of its own.
func (e *Engine) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		name, passing := request.Session, request.Session == ""
		if passing {
			name = "passing-" + rand.Text()
			defer e.Release(name)
		}
		s, err := e.session(name)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		s.passing = passing // nobody else has its name
		s.stream(ctx, request, yield)
	}
}

// Result implements llm.Engine.
func (e *Engine) Result(ctx context.Context, session string, call llm.ToolCall, said func(string)) (llm.ToolResult, error) {
	s, err := e.session(session)
	if err != nil {
		return llm.ToolResult{}, err
	}
	return s.result(ctx, call, said)
}

// Release implements llm.Engine: it ends the session's process.
func (e *Engine) Release(session string) {
	e.mu.Lock()
	s := e.sessions[session]
	e.mu.Unlock()
	if s == nil {
		return
	}
	s.release()
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.users == 0 && e.sessions[session] == s {
		delete(e.sessions, session)
	}
}

// Forget ends the session and removes what Pi stores of it. A later turn with that name begins with
// what its request contains.
func (e *Engine) Forget(session string) error {
	e.Release(session)
	if err := os.Remove(e.folder.session(session)); e.cfg.Folder != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("what Pi keeps of it: %w", err)
	}
	return nil
}

// Close ends every process, in parallel, within 2 s. The engine cannot be used afterwards.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	var all sync.WaitGroup
	for _, s := range e.sessions {
		all.Go(s.release)
	}
	e.mu.Unlock()
	all.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.proxy != nil {
		e.proxy.close()
	}
	if e.owner != "" && killAll(e.owner) {
		e.folder.disown(e.owner)
	}
}

// session gives the session of that name to a caller, who must call leave.
func (e *Engine) session(name string) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	s := e.sessions[name]
	if s == nil {
		s = newSession(e, name)
		e.sessions[name] = s
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	s.users++
	return s, nil
}

// asked is the provider and the model that Pi asks, as Pi names them.
type asked struct{ provider, model string }

func (e *Engine) split(full string) (asked, error) {
	provider, model, ok := strings.Cut(strings.TrimPrefix(full, e.cfg.Name+"/"), "/")
	if !ok || provider == "" || model == "" || strings.HasPrefix(provider, "-") {
		return asked{}, observe.PromptFailure(e.cfg.Name, full, fmt.Errorf("a model of Pi needs the form %s/PROVIDER/MODEL, not %q", e.cfg.Name, full))
	}
	return asked{provider, model}, nil
}
