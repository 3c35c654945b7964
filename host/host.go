package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const maxName = 100 // bytes

// Host owns plugin processes. It is safe for concurrent use.
type Host struct {
	logger   *slog.Logger
	stateDir string // "" = nothing is written for other processes
	redact   func(string) string
	folders  *folders

	mu      sync.Mutex
	plugins []*supervised
	logs    []*logFile
	state   *stateFile // nil without a state folder, and before the first plugin
	closed  bool
}

// Option configures a Host.
type Option func(*Host)

// WithLogger sends to logger what plugins write to standard error and what happens to
// them. Without it nothing is logged.
func WithLogger(logger *slog.Logger) Option { return func(h *Host) { h.logger = logger } }

// WithRedact has secrets taken out of all that plugins say, before it is kept, logged or part of an
// error. A plugin may have been given a key, and print it.
func WithRedact(redact func(string) string) Option { return func(h *Host) { h.redact = redact } }

func unchanged(text string) string { return text }

// New returns a Host without plugins.
func New(options ...Option) *Host {
	h := &Host{logger: slog.New(slog.DiscardHandler), redact: unchanged, folders: newFolders()}
	for _, option := range options {
		option(h)
	}
	return h
}

// Add adds a plugin without starting it. A command that cannot be found is an error that
// names it, unless spec.Late is set.
func (h *Host) Add(spec Spec) error {
	if err := checkSpec(spec); err != nil {
		return err
	}
	if spec.Address == "" && !spec.Late {
		if _, err := procgroup.LookUp(spec.Command[0], spec.Dir); err != nil {
			return fmt.Errorf("plugin %s: its command cannot be run: %w", spec.Name, err)
		}
	}
	sweepOnce()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errClosed
	}
	if slices.ContainsFunc(h.plugins, func(p *supervised) bool { return p.name == spec.Name }) {
		return fmt.Errorf("there is already a plugin %s", spec.Name)
	}
	if h.stateDir != "" && h.state == nil {
		h.openState()
	}
	h.plugins = append(h.plugins, supervise(spec, h.folders, h.loggerOf(spec.Name), h.redact, h.state.touch))
	h.state.touch()
	return nil
}

// checkSpec checks a spec by itself, without looking at files.
func checkSpec(spec Spec) error {
	switch {
	case spec.Name == "" || spec.Address == "" && (len(spec.Command) == 0 || spec.Command[0] == ""):
		return errors.New("a plugin needs a name, and a command or an address")
	case len(spec.Name) > maxName || printable(spec.Name, maxName) != spec.Name:
		return fmt.Errorf("a plugin's name has at most %d bytes and no control characters: %s", maxName, quote(spec.Name))
	case spec.Pin != "" && (len(spec.Pin) != 64 || strings.Trim(spec.Pin, "0123456789abcdefABCDEF") != ""):
		return fmt.Errorf("plugin %s: the pin %s is not a SHA-256 in hex", spec.Name, quote(spec.Pin))
	case spec.Address == "" && spec.TLS != nil:
		return fmt.Errorf("plugin %s: certificates are for a plugin with an address", spec.Name)
	case spec.Address != "":
		if err := checkRemote(spec); err != nil {
			return fmt.Errorf("plugin %s: %w", spec.Name, err)
		}
	}
	return nil
}

// checkRemote refuses fields that only make sense for a process.
func checkRemote(spec Spec) error {
	config := strings.TrimSpace(string(spec.Config))
	switch {
	case len(spec.Command) > 0:
		return errors.New("it has either a command or an address")
	case config != "" && config != "{}" && config != "null":
		return errors.New("a service is configured where it runs: others use it, too, so no configuration is sent to it")
	case len(spec.Env) > 0 || spec.Dir != "" || spec.Folder != "" || spec.Pin != "" || spec.PlainText || spec.Limits != (Limits{}):
		return errors.New("a service takes no environment, folder, pin or limits: its address is all that is known of it")
	}
	return CheckAddress(spec.Address, spec.TLS)
}

// openState creates the state files before the first plugin is added. The caller holds
// mu.
func (h *Host) openState() {
	state, err := newStateFile(h.stateDir, h.logger, h.Statuses)
	if err != nil {
		h.logger.Warn("the state of plugins is not written", "error", err)
		h.stateDir = ""
		return
	}
	h.state = state
	if h.folders.state, err = filepath.Abs(filepath.Join(h.stateDir, "state")); err != nil {
		h.logger.Warn("plugins have no state folders", "error", err)
	}
}

// loggerOf returns the logger of one plugin. The caller holds mu.
func (h *Host) loggerOf(name string) *slog.Logger {
	logger := h.logger.With("plugin", name)
	if h.state == nil {
		return logger
	}
	file := &logFile{path: LogFile(h.stateDir, name)}
	h.logs = append(h.logs, file)
	own := slog.NewJSONHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug})
	return slog.New(slog.NewMultiHandler(logger.Handler(), own))
}

// Hooks lists the plugins as hooks, in the order in which they were added.
func (h *Host) Hooks() []hooks.Named {
	var named []hooks.Named
	for _, p := range h.all() {
		named = append(named, p.named())
	}
	return named
}

// Statuses lists the plugins' statuses, in the order in which they were added.
func (h *Host) Statuses() []Status {
	var statuses []Status
	for _, p := range h.all() {
		statuses = append(statuses, p.status())
	}
	return statuses
}

// Start starts all plugins that are not running, at the same time, and returns when
// each is ready or has failed; the errors are joined. A plugin that failed is started
// again when it is next asked.
func (h *Host) Start(ctx context.Context) error {
	plugins := h.all()
	errs := make([]error, len(plugins))
	var wg sync.WaitGroup
	for i, p := range plugins {
		wg.Go(func() {
			if _, err := p.running(ctx); err != nil {
				errs[i] = named(p.name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// named adds the plugin's name to an error that does not contain it yet.
func named(name string, err error) error {
	var crash *crashError
	if errors.As(err, &crash) {
		return err
	}
	return fmt.Errorf("plugin %s: %w", name, err)
}

// Close stops every plugin and returns when their process groups are gone, after at
// most 5 s. From then on hooks fail.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	plugins, logs := h.plugins, h.logs
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range plugins {
		wg.Go(p.close)
	}
	wg.Wait()
	h.state.close()
	for _, l := range logs {
		l.close()
	}
	return errors.Join(h.folders.values.close(), h.folders.remove())
}

func (h *Host) all() []*supervised {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.plugins)
}
