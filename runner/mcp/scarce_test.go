package mcp

import (
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/internal/procgroup/scarce"
)

// TestServersWaitForDescriptors: a server that this machine cannot start or reach at the
// moment has not died.
func TestServersWaitForDescriptors(t *testing.T) {
	t.Setenv(tokenEnv, "let-me-in")
	server := httptest.NewServer(elsewhere(func(s *sdk.Server) { s.AddTool(declared("look", readOnly), says("far away")) }))
	defer server.Close()
	for name, spec := range map[string]Spec{"process": helper(t, "well"), "elsewhere": authorizedSpec(server.URL)} {
		t.Run(name, func(t *testing.T) {
			time.AfterFunc(300*time.Millisecond, scarce.Descriptors(t))
			set := opened(t, spec, usualPace, quiet)
			defer set.Close()
			if s := state(set); s.Status != StatusRunning || s.LastError != "" || s.Restarts != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}
