package faultlab_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mulligan-run/mulligan/faultlab"
)

// TestDemoFaults has each fault play its steps before the model answers, and "" none of them.
func TestDemoFaults(t *testing.T) {
	want := map[string]string{
		"": "answer answer answer", "529": "529 529 answer", "cut": "cut answer answer", "stall": "stall answer answer", "quota": "400 answer answer",
		"429": "429 answer answer", "silence": "hang answer answer", "401": "401 answer answer", "html": "html502 answer answer", "demo": "tool cut 503",
	}
	names := []string{""}
	for _, f := range faultlab.DemoFaults() {
		names = append(names, f.Name)
		if f.Title == "" || f.Does == "" || f.Prompt == "" {
			t.Errorf("%+v", f)
		}
	}
	if len(names) != len(want) {
		t.Errorf("%q are known, %d are looked at", names, len(want))
	}
	for _, name := range names {
		if got := demoSteps(t, name); got != want[name] {
			t.Errorf("%q plays %s, want %s", name, got, want[name])
		}
	}
	if err := faultlab.Demo().FailAs("nothing"); err == nil {
		t.Error("a fault that is none was taken")
	}
}

// demoSteps are the first three steps of the demo's model that fails so; one that hangs or stalls
// is waited for no longer than a client would.
func demoSteps(t *testing.T, fault string) string {
	t.Helper()
	var names []string
	synctest.Test(t, func(t *testing.T) {
		lab, ln := faultlab.Demo(), faultlab.NewMemListener()
		if err := lab.FailAs(fault); err != nil {
			t.Fatal(err)
		}
		server, client := lab.Serve(ln), ln.Client()
		client.Timeout = 60e9
		for range 3 {
			sides[0].hear(t.Context(), client, server.URL(), strings.Replace(sides[0].ask, `"m"`, `"fable-1"`, 1))
		}
		for _, r := range lab.Requests() {
			names = append(names, r.Step)
		}
		client.CloseIdleConnections()
		server.Close()
	})
	return strings.Join(names, " ")
}

// TestNothingIsMadeUp: the demo's model does not say that something went wrong where nothing did: the
// same words answer a question after which nothing fails.
func TestNothingIsMadeUp(t *testing.T) {
	lab, ln := faultlab.Demo(), faultlab.NewMemListener()
	if err := lab.FailAs(""); err != nil {
		t.Fatal(err)
	}
	server, client := lab.Serve(ln), ln.Client()
	defer server.Close()
	said := sides[0].hear(t.Context(), client, server.URL(), strings.Replace(sides[0].ask, `"m"`, `"fable-1"`, 1)).text
	if !strings.Contains(said, "computer") || strings.Contains(said, "went wrong") {
		t.Errorf("it says %q", said)
	}
}
