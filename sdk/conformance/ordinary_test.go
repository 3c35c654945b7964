package conformance

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/host"
)

// session is what one process of an ordinary plugin is asked.
type session struct {
	name    string
	config  string // "" = none
	refused bool   // that configuration; nothing is asked then
	talks   []Talk
}

// hold starts the plugin for the session, and ends it.
func (s session) hold(t *testing.T, c Command, mutualTLS bool) {
	p, err := Start(t.Context(), c, mutualTLS)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	err = p.Configure(t.Context(), []byte(s.config))
	if got := status.Convert(err); s.refused && (got.Code() != codes.InvalidArgument || got.Message() == "") {
		t.Errorf("a configuration that is to be refused: %v %q, want InvalidArgument and a reason", got.Code(), got.Message())
	} else if !s.refused && err != nil {
		t.Error(err)
	}
	for _, talk := range s.talks {
		if err := p.Play(t.Context(), talk); err != nil {
			t.Errorf("%s: %v", talk.Name, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// startsUnderHost has the real host start an ordinary plugin with the configuration
// of every session.
func startsUnderHost(t *testing.T, c Command, sessions []session) {
	for _, s := range sessions {
		h := host.New()
		t.Cleanup(func() { _ = h.Close() })
		err := h.Add(host.Spec{Name: "p", Command: c.Args, Dir: c.Dir, Env: c.Env, Config: []byte(s.config)})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if err := h.Start(t.Context()); (err != nil) != s.refused {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}
