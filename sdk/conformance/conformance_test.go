package conformance

import (
	"context"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

var modes = map[string]bool{"mutual TLS": true, "plaintext": false}

func TestLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			command := l.command(t)
			t.Run("host", func(t *testing.T) { underHost(t, command) })
			for mode, mutualTLS := range modes {
				t.Run(mode, func(t *testing.T) {
					t.Run("talks", func(t *testing.T) { playAll(t, command, mutualTLS) })
					for _, check := range Checks {
						if check.TLS && !mutualTLS {
							continue
						}
						t.Run(check.Name, func(t *testing.T) {
							if err := check.Run(t.Context(), command, mutualTLS); err != nil {
								t.Error(err)
							}
						})
					}
				})
			}
		})
	}
}

func playAll(t *testing.T, c Command, mutualTLS bool) {
	talks, err := Talks()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(t.Context(), c, mutualTLS)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if err := p.Configure(t.Context(), []byte(`{"greeting":"hello, 世界"}`)); err != nil {
		t.Fatal(err)
	}
	for _, talk := range talks {
		t.Run(talk.Name, func(t *testing.T) {
			if err := p.Play(t.Context(), talk); err != nil {
				t.Error(err)
			}
		})
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// underHost asks the plugin through the real host.
func underHost(t *testing.T, c Command) {
	h := host.New()
	t.Cleanup(func() { _ = h.Close() })
	err := h.Add(host.Spec{Name: "p", Command: c.Args, Dir: c.Dir, Env: c.Env, Config: []byte(`{"greeting":"hi"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for detail, want := range map[string]recovery.Vote{
		"retry 2.5 because slow": {Action: recovery.ActionRetry, Delay: 2500, Reason: "slow"},
		"config":                 {Action: recovery.ActionFail, Reason: "hi"},
		"raise boom":             {Error: "boom"},
	} {
		event := hooks.RunError{Run: "r", Failure: failure.Failure{Kind: failure.KindTimeout, Detail: detail}}
		hooks.Dispatch(context.Background(), h.Hooks(), event, hooks.Deadlines{}, func(got recovery.Vote) {
			if got.Action != want.Action || got.Delay != want.Delay || got.Reason != want.Reason || !strings.Contains(got.Error, want.Error) {
				t.Errorf("%s: %+v", detail, got)
			}
		})
	}
}

// Every value of every enum that an event has, every field and every action is in
// some talk, so that what is added to the protocol is added to the talks.
func TestTalksCoverTheProtocol(t *testing.T) {
	talks, err := Talks()
	if err != nil {
		t.Fatal(err)
	}
	seen := coverage{}
	for _, talk := range talks {
		event, err := talk.request(0)
		if err != nil {
			t.Fatalf("%s: %v", talk.Name, err)
		}
		seen.message(event.ProtoReflect())
		given := 0
		if talk.Reply != nil {
			given++
			reply := &mulliganv1.RunErrorResponse{}
			if err := protojson.Unmarshal(talk.numbered(talk.Reply, 0), reply); err != nil {
				t.Fatalf("%s: %v", talk.Name, err)
			}
			if _, err := protoconv.Reply(reply); err != nil {
				t.Errorf("%s: the host refuses the reply: %v", talk.Name, err)
			}
			seen.message(reply.ProtoReflect())
		}
		if talk.Error != nil {
			given++
		}
		if talk.NoOpinion {
			given++
		}
		if given != 1 {
			t.Errorf("%s: %d of reply, error and noOpinion", talk.Name, given)
		}
	}
	seen.demand(t, (&mulliganv1.RunErrorRequest{}).ProtoReflect().Descriptor())
	seen.demand(t, (&mulliganv1.RunErrorResponse{}).ProtoReflect().Descriptor())
}

// coverage has the full names of the fields and enum values that were seen.
type coverage map[protoreflect.FullName]bool

func (c coverage) message(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		c[f.FullName()] = true
		switch {
		case f.IsMap(): // of texts
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			for i := range v.List().Len() {
				c.message(v.List().Get(i).Message())
			}
		case f.Kind() == protoreflect.MessageKind:
			c.message(v.Message())
		case f.Kind() == protoreflect.EnumKind:
			if value := f.Enum().Values().ByNumber(v.Enum()); value != nil {
				c[value.FullName()] = true
			}
		}
		return true
	})
}

func (c coverage) demand(t *testing.T, m protoreflect.MessageDescriptor) {
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if f.FullName() != "mulligan.v1.Button.id" && !c[f.FullName()] && m.ParentFile().Package() == "mulligan.v1" {
			t.Errorf("no talk has %s", f.FullName())
		}
		if f.Kind() == protoreflect.MessageKind && !f.IsMap() {
			c.demand(t, f.Message())
		}
		if f.Kind() == protoreflect.EnumKind {
			for j := 1; j < f.Enum().Values().Len(); j++ {
				if value := f.Enum().Values().Get(j).FullName(); !c[value] {
					t.Errorf("no talk has %s", value)
				}
			}
		}
	}
}

// The page says what the code does, where that is a constant.
func TestThePageHasTheConstants(t *testing.T) {
	page, err := os.ReadFile("../../docs/plugin-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	if cookie != protoconv.CookieKey+"="+protoconv.CookieValue || protoconv.ProtocolVersion != 1 || protoconv.MaxRequest != 64<<20 || protoconv.MaxReply != 1<<20 || failure.MaxDelay != 604800000 {
		t.Error("a constant of the protocol has changed: change the page and this test")
	}
	for _, want := range []string{protoconv.CookieKey, protoconv.CookieValue, "64 MiB", "604800000"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
