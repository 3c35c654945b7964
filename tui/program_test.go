package tui

import (
	"bytes"
	"os/signal"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestASignalEndsAProgram: whoever ends a program's context by a signal is not kept waiting.
func TestASignalEndsAProgram(t *testing.T) {
	for n := range 30 {
		ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
		begun, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			var out bytes.Buffer
			ended <- show(ctx, announced{begun}, true, tea.WithInput(nil), tea.WithOutput(&out))
		}()
		<-begun
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("start %d has not ended", n)
		}
		stop()
	}
}

// announced is a program that says when it runs.
type announced struct{ begun chan struct{} }

func (a announced) Init() tea.Cmd                       { close(a.begun); return nil }
func (a announced) Update(tea.Msg) (tea.Model, tea.Cmd) { return a, nil }
func (announced) View() tea.View                        { return tea.NewView("") }
