package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"

	"github.com/mulligan-run/mulligan/hooks"
)

// Host owns plugin processes. Its methods may be called by several goroutines.
type Host struct {
	logger  *slog.Logger
	mu      sync.Mutex
	plugins []*supervised
	sockets string // the private folder, "" before the first plugin
	closed  bool
}

// Option changes a Host.
type Option func(*Host)

// WithLogger sends what plugins write to standard error, and what happens to them,
// to logger. Without it nothing is logged.
func WithLogger(logger *slog.Logger) Option { return func(h *Host) { h.logger = logger } }

// New makes a Host without plugins.
func New(options ...Option) *Host {
	h := &Host{logger: slog.New(slog.DiscardHandler)}
	for _, option := range options {
		option(h)
	}
	return h
}

// Add adds a plugin without starting it.
func (h *Host) Add(spec Spec) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errClosed
	}
	if spec.Name == "" || len(spec.Command) == 0 {
		return errors.New("a plugin needs a name and a command")
	}
	if slices.ContainsFunc(h.plugins, func(p *supervised) bool { return p.spec.Name == spec.Name }) {
		return fmt.Errorf("plugin %s is there already", spec.Name)
	}
	if h.sockets == "" {
		dir, err := socketFolder()
		if err != nil {
			return err
		}
		h.sockets = dir
	}
	h.plugins = append(h.plugins, supervise(spec, h.sockets, h.logger.With("plugin", spec.Name)))
	return nil
}

// Hooks lists the plugins as hooks, in the order in which they were added.
func (h *Host) Hooks() []hooks.Named {
	var named []hooks.Named
	for _, p := range h.all() {
		named = append(named, hooks.Named{Name: p.spec.Name, Hook: p})
	}
	return named
}

// Statuses lists how the plugins are, in the order in which they were added.
func (h *Host) Statuses() []Status {
	var statuses []Status
	for _, p := range h.all() {
		statuses = append(statuses, p.status())
	}
	return statuses
}

// Start starts every plugin that is not running, side by side, and returns when
// each is ready or has failed; the errors are joined. A plugin that failed is
// started again when it is asked.
func (h *Host) Start(ctx context.Context) error {
	plugins := h.all()
	errs := make([]error, len(plugins))
	var wg sync.WaitGroup
	for i, p := range plugins {
		wg.Go(func() {
			if _, err := p.running(ctx); err != nil {
				errs[i] = fmt.Errorf("plugin %s: %w", p.spec.Name, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close stops every plugin and returns when their process groups are gone, after at
// most 5 s. Hooks fail from now on.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	plugins, sockets := h.plugins, h.sockets
	h.sockets = ""
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range plugins {
		wg.Go(p.close)
	}
	wg.Wait()
	if sockets == "" {
		return nil
	}
	return os.RemoveAll(sockets)
}

func (h *Host) all() []*supervised {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.plugins)
}
