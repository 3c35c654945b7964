package host

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup/scarce"
	"github.com/mulligan-run/mulligan/recovery"
)

// soon is when a machine without descriptors has some again.
const soon = 300 * time.Millisecond

// TestPluginsWaitForDescriptors: a plugin that this machine cannot start or reach at the
// moment is waited for, and is asked.
func TestPluginsWaitForDescriptors(t *testing.T) {
	s := &service{}
	_, at := s.serve(t, "tcp", "127.0.0.1:0")
	for name, spec := range map[string]Spec{
		"process": faultySpec("ok", ""),
		"service": quick("grpc://" + at),
	} {
		t.Run(name, func(t *testing.T) {
			h := New()
			defer func() { _ = h.Close() }()
			if err := h.Add(spec); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(soon, scarce.Descriptors(t))
			if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
				t.Errorf("%+v, %+v", vote, h.Statuses())
			}
		})
	}
}
