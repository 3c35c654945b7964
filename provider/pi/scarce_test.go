package pi

import (
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup/scarce"
)

// TestWaitsForDescriptors: a Pi that this machine cannot start at the moment is asked a little
// later, and its version as well.
func TestWaitsForDescriptors(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("Hello.")+ended("Hello.", "stop")+done+quietly)
	e.version = nil
	time.AfterFunc(300*time.Millisecond, scarce.Descriptors(t))
	a, f := hear(t.Context(), t, e, ask())
	if f != nil || a.Message("").Text() != "Hello." || e.version == nil {
		t.Errorf("%+v, %v, version %v", a, f, e.version)
	}
}
