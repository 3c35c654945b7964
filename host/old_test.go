package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// writeOld writes the protocol down as it is, for the version that is to be released. What a
// release has had is never written again:
//
//	go test ./host -run TestOldPlugins -write-protocol 0.1.0
var writeOld = flag.String("write-protocol", "", "write the plugin protocol of this version into testdata/protocol")

// TestOldPlugins: a plugin that was built for an earlier version is asked by this one, and
// understood, though it knows no field that came later.
func TestOldPlugins(t *testing.T) {
	if *writeOld != "" {
		writeProtocol(t, filepath.Join("testdata", "protocol", *writeOld+".binpb"))
	}
	released, err := filepath.Glob(filepath.Join("testdata", "protocol", "*.binpb"))
	if err != nil || len(released) == 0 {
		t.Fatalf("no protocol of any version: %v", err)
	}
	for _, protocol := range released {
		t.Run(filepath.Base(protocol), func(t *testing.T) {
			h := faultyHost(t, "old", "", "PROTOCOL="+protocol)
			var vote recovery.Vote
			e := hooks.RunError{
				Run: "r1", Model: "lab/one", Attempt: 2, AutoRecover: true, Elapsed: failure.InMillis(time.Minute), ReplaySafety: hooks.ReplaySafe,
				Failure:      failure.Failure{Kind: failure.KindRateLimit, Code: "MODEL_PROVIDER_RATE_LIMITED", HTTPStatus: 429, RetryAfter: failure.InMillis(3 * time.Second)},
				Alternatives: []recovery.Alternative{{Model: "lab/two"}},
			}
			hooks.Dispatch(t.Context(), h.Hooks(), e, hooks.Deadlines{Each: patience, All: patience}, func(v recovery.Vote) { vote = v })
			want := recovery.Vote{
				Action: recovery.ActionSwitchModel, NewModel: "lab/two", Delay: failure.InMillis(3 * time.Second), Version: "old",
				Reason:  "r1 lab/one 2 true 60000 1 KIND_RATE_LIMIT MODEL_PROVIDER_RATE_LIMITED 429",
				Actions: []recovery.Button{{Kind: "page", Label: "Page", Effect: recovery.EffectClient, URL: "https://example.com/"}},
				Adjust:  recovery.Adjust{MaxOutputTokens: 512, Compact: true},
			}
			got := recovery.Vote{
				Action: vote.Action, NewModel: vote.NewModel, Delay: vote.Delay, Version: vote.Version, Reason: vote.Reason, Actions: vote.Actions, Adjust: vote.Adjust,
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || vote.Error != "" {
				t.Errorf("it voted %+v\nnot %+v", vote, want)
			}
		})
	}
}

func writeProtocol(t *testing.T, file string) {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
	}
	add(mulliganv1.File_mulligan_v1_plugin_proto)
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o644) //nolint:gosec // there is nothing secret in it
	}
	if err != nil {
		t.Fatal(err)
	}
}

// oldPlugin knows of the protocol what a released version had, and shares no generated code with
// the host.
type oldPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	service protoreflect.ServiceDescriptor
}

func serveOld() {
	data, err := os.ReadFile(os.Getenv("PROTOCOL"))
	set := &descriptorpb.FileDescriptorSet{}
	if err == nil {
		err = proto.Unmarshal(data, set)
	}
	var files *protoregistry.Files
	if err == nil {
		files, err = protodesc.NewFiles(set)
	}
	var found protoreflect.Descriptor
	if err == nil {
		found, err = files.FindDescriptorByName("mulligan.v1.RecoveryPlugin")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: 1, MagicCookieKey: protoconv.CookieKey, MagicCookieValue: protoconv.CookieValue,
		},
		Plugins:    goplugin.PluginSet{protoconv.PluginName: &oldPlugin{service: found.(protoreflect.ServiceDescriptor)}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}

func (p *oldPlugin) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	d := grpc.ServiceDesc{ServiceName: string(p.service.FullName()), HandlerType: (*any)(nil)}
	for _, answer := range []struct {
		method string
		text   func(request *dynamicpb.Message) string
	}{
		{"Describe", func(*dynamicpb.Message) string { return `name: "old" version: "old"` }},
		{"Configure", func(*dynamicpb.Message) string { return "" }},
		{"RunError", oldAnswer},
	} {
		m := p.service.Methods().ByName(protoreflect.Name(answer.method))
		d.Methods = append(d.Methods, grpc.MethodDesc{
			MethodName: answer.method,
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				request := dynamicpb.NewMessage(m.Input())
				if err := decode(request); err != nil {
					return nil, err
				}
				return said(m.Output(), answer.text(request))
			},
		})
	}
	g.RegisterService(&d, struct{}{})
	return nil
}

func (*oldPlugin) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("not a host")
}

// oldAnswer shows what the plugin read, and uses every kind of field that an answer has.
func oldAnswer(request *dynamicpb.Message) string {
	f := field(request, "failure").Message()
	reason := fmt.Sprintf("%v %v %v %v %v %v %v %v %v",
		field(request, "run"), field(request, "model"), field(request, "attempt"), field(request, "auto_recover"), field(request, "elapsed_ms"),
		field(request, "replay_safety"), enumName(f, "kind"), field(f, "code"), field(f, "http_status"))
	return fmt.Sprintf(`action: ACTION_SWITCH_MODEL new_model: %q delay_ms: %v reason: %q
		actions { kind: "page" label: "Page" effect: "client" url: "https://example.com/" }
		adjust { max_output_tokens: 512 compact: true }`,
		field(field(request, "alternatives").List().Get(0).Message(), "model"), field(f, "retry_after_ms"), reason)
}

func field(m protoreflect.Message, name protoreflect.Name) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(name))
}

func enumName(m protoreflect.Message, name protoreflect.Name) protoreflect.Name {
	d := m.Descriptor().Fields().ByName(name)
	return d.Enum().Values().ByNumber(m.Get(d).Enum()).Name()
}

func said(d protoreflect.MessageDescriptor, text string) (*dynamicpb.Message, error) {
	m := dynamicpb.NewMessage(d)
	return m, prototext.Unmarshal([]byte(text), m)
}
