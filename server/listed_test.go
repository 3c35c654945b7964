package server

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/host"
)

// TestAPluginIsListedWithHowItIs: what the host knows of it is what the API says.
func TestAPluginIsListedWithHowItIs(t *testing.T) {
	got := listedPlugin(host.Status{
		Name: "rules", Version: "1.2.0", State: "ready", Restarts: 3, Pinned: true, P50: 4, P99: 90,
		LastError: strings.Repeat("x", 600), Labels: map[string]string{LabelShadow: "true"},
	})
	if len(got.LastError) > 510 || !strings.HasPrefix(got.LastError, "xxx") {
		t.Errorf("its last error has %d bytes", len(got.LastError))
	}
	got.LastError = ""
	if want := (gateway.Plugin{Name: "rules", Version: "1.2.0", State: "ready", Shadow: true, Pinned: true, Restarts: 3, P50: 4, P99: 90}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
