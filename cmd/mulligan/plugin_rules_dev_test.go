package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is what a verb that goes on has printed so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) shows(t *testing.T, what string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		text := s.text.String()
		s.mu.Unlock()
		if strings.Contains(text, what) {
			return
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("it does not show %q:\n%s", what, text)
		}
	}
}

// TestRulesDev: a file is checked again whenever it is saved, also while it is wrong or missing in
// between.
func TestRulesDev(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recovery.yaml")
	save := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("rules: [{when: true, retry: {after: 2s, jitter: false}}]\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &screen{}
	cmd := newPluginRulesDev()
	cmd.SetArgs([]string{file, "--kind", "timeout"})
	cmd.SetOut(out)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	out.shows(t, "retry after 2s")
	save("rules: [{when: attempt, retry: }]\n")
	out.shows(t, "a condition is true or false, this is int")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * lookEvery)
	save("rules: [{when: true, fail: }]\n")
	out.shows(t, "timeout at attempt 0 of example/model: fail")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
