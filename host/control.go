package host

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoPlugin says that a host has no plugin with that name.
var ErrNoPlugin = errors.New("there is no such plugin")

// Disabled says who disabled a plugin, and when.
type Disabled struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

func (d *Disabled) err() error {
	return fmt.Errorf("disabled by %s since %s", d.By, d.At.UTC().Format(time.RFC3339))
}

// plugin finds a plugin by name; its error wraps ErrNoPlugin.
func (h *Host) plugin(name string) (*supervised, error) {
	for _, p := range h.all() {
		if p.name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrNoPlugin, printable(name, maxName))
}

// Restart replaces a plugin's process with a new one, as Reload does; its restarts and failures are
// counted from zero again. by says who asked for it, for the plugin's log. An unknown name is
// ErrNoPlugin; any other error says why the old process stays.
func (h *Host) Restart(ctx context.Context, name, by string) error {
	p, err := h.plugin(name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	spec := p.spec
	p.mu.Unlock()
	p.logger.Info("plugin is restarted by a person", "by", by)
	return p.reload(ctx, spec)
}

// Disable stops asking a plugin until Enable, or until the host is closed. Calls in flight may finish,
// for up to 5 s; then its process ends. Later questions are answered with no opinion and the reason:
// disabled by whom. A plugin without whose answer no model call may begin (FailClosed) cannot be
// disabled: that is an error. Disabling twice changes nothing. An unknown name is ErrNoPlugin.
func (h *Host) Disable(name, by string) error {
	p, err := h.plugin(name)
	if err != nil {
		return err
	}
	return p.disable(by)
}

// Enable undoes Disable and starts the plugin. ctx ends the wait for the start, but not the start;
// the plugin's status says how it went. Its restarts and failures are counted from zero again.
// Enabling a plugin that is not disabled changes nothing. An unknown name is ErrNoPlugin.
func (h *Host) Enable(ctx context.Context, name, by string) error {
	p, err := h.plugin(name)
	if err != nil {
		return err
	}
	if p.enable(by) {
		_, _ = p.running(ctx) // its status reports an error
	}
	return nil
}

func (s *supervised) off() *Disabled {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disabled
}

func (s *supervised) disable(by string) error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	s.mu.Lock()
	switch {
	case s.life.Err() != nil:
		s.mu.Unlock()
		return errClosed
	case s.spec.FailClosed:
		s.mu.Unlock()
		return named(s.name, errors.New("no model call begins without its answer (fail_closed), so that it cannot be disabled here: change its entry in the configuration"))
	case s.disabled != nil:
		s.mu.Unlock()
		return nil
	}
	s.disabled = &Disabled{By: by, At: time.Now()} // after this no start can begin
	s.mu.Unlock()
	s.logger.Warn("plugin is disabled by a person", "by", by)
	s.lockStarted()
	defer s.mu.Unlock()
	s.retire()
	s.peer = nil
	s.changed()
	return nil
}

// enable reports whether the plugin was disabled.
func (s *supervised) enable(by string) bool {
	s.reloading.Lock() // a Disable may still be under way
	defer s.reloading.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disabled == nil {
		return false
	}
	total := s.restarts.total
	s.disabled, s.begun, s.lastError = nil, false, ""
	s.restarts, s.breaker = newRestarts(s.spec), newBreaker(s.spec.Breaker)
	s.restarts.total = total
	s.logger.Info("plugin is enabled by a person", "by", by)
	s.changed()
	return true
}
