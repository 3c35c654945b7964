package bench

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

const (
	rolePlugin = "plugin"
	roleGRPC   = "grpc"
)

func init() {
	roles[rolePlugin] = func([]string) error {
		plugin.Serve(plugin.Func(func(context.Context, plugin.Event) (plugin.Decision, error) {
			return plugin.Decision{Action: recovery.ActionRetry, Reason: "it may pass"}, nil
		}))
		return nil
	}
	roles[roleGRPC] = func(args []string) error {
		config, err := readIdentity(args[0])
		if err != nil {
			return err
		}
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", filepath.Join(args[0], "sock"))
		if err != nil {
			return err
		}
		server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
		mulliganv1.RegisterRecoveryPluginServer(server, bareServer{})
		go func() { _ = server.Serve(listener) }()
		defer server.Stop()
		return serveUntilEOF("ready")
	}
}

// bareServer returns the plugin's answer without a plugin.
type bareServer struct {
	mulliganv1.UnimplementedRecoveryPluginServer
}

func (bareServer) RunError(context.Context, *mulliganv1.RunErrorRequest) (*mulliganv1.RunErrorResponse, error) {
	return &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY, Reason: "it may pass"}, nil
}

// BenchmarkHook asks a Go plugin through its host: another process, mutual TLS 1.3, a unix socket,
// and the conversion between domain and wire at both ends. The baseline is a unary call of plain
// grpc-go with the same message, the same TLS and another process.
func BenchmarkHook(b *testing.B) {
	hook := pluginHook(b)
	client := bareClient(b)
	event := aFailure()
	message := protoconv.RunErrorToProto(event)
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour) // a deadline is sent along, as the dispatch does
	defer cancel()
	var asked, called spans
	for b.Loop() {
		asked.time(func() {
			if vote, err := hook.Advise(ctx, event); err != nil || vote.Action != recovery.ActionRetry {
				b.Fatalf("got %+v, %v", vote, err)
			}
		})
		called.time(func() {
			if _, err := client.RunError(ctx, message); err != nil {
				b.Fatal(err)
			}
		})
	}
	asked.report(b, "")
	called.report(b, base)
}

// pluginHook starts this binary as a plugin, and asks it once.
func pluginHook(b *testing.B) hooks.Hook {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	h := host.New()
	b.Cleanup(func() { _ = h.Close() })
	if err := h.Add(host.Spec{Name: "bench", Command: []string{exe, rolePlugin}}); err != nil {
		b.Fatal(err)
	}
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	return h.Hooks()[0].Hook
}

func bareClient(b *testing.B) mulliganv1.RecoveryPluginClient {
	b.Helper()
	client, _, stop := startBare(b)
	b.Cleanup(stop)
	return client
}

// startBare starts a bare server and connects to it.
func startBare(b *testing.B) (client mulliganv1.RecoveryPluginClient, pid int, stop func()) {
	b.Helper()
	dir, err := os.MkdirTemp(b.TempDir(), "")
	if err != nil {
		b.Fatal(err)
	}
	if err := writeIdentity(dir); err != nil {
		b.Fatal(err)
	}
	config, err := readIdentity(dir)
	if err != nil {
		b.Fatal(err)
	}
	pid, _, end := launch(b, roleGRPC, dir)
	conn, err := grpc.NewClient("unix:"+filepath.Join(dir, "sock"), grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		end()
		b.Fatal(err)
	}
	return mulliganv1.NewRecoveryPluginClient(conn), pid, func() { _ = conn.Close(); end() }
}

// aFailure is a 503 in the form in which a plugin is asked about it.
func aFailure() hooks.RunError {
	failure := failure.Classify(failure.Evidence{
		Status: 503, Phase: failure.PhaseBeforeFirstEvent, Provider: "lab", Model: "lab/one",
		Body: []byte(`{"error":{"type":"server_error","message":"The server is currently overloaded."}}`),
	})
	return hooks.RunError{
		Run: "r01kab2c3d4e5f6g7h8j9kmnpqrs", Session: "s1", Failure: *failure, Model: "lab/one", MaxRetries: 3, AutoRecover: true,
		Elapsed: 1200, Remaining: recovery.Budget{Tokens: 100_000}, RemainingAttempts: 5, RemainingTime: 172_800_000,
		Tried:        []recovery.Tried{{Model: "lab/one"}},
		Alternatives: []recovery.Alternative{{Model: "lab/two", ContextTokens: 200_000}}, ReplaySafety: hooks.ReplaySafe,
	}
}
