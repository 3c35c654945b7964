package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

var benchEvent = hooks.RunError{
	Run: "run_1", Session: "s", Model: "a/b", MaxRetries: 3,
	Failure:      failure.Failure{Kind: failure.KindOverloaded, Code: failure.CodeProviderUnavailable, Title: "The provider is overloaded", Message: "Try again."},
	Alternatives: []recovery.Alternative{{Model: "c/d"}, {Model: "e/f"}},
}

// BenchmarkHookRoundTrip asks a Go plugin in another process through everything that
// a runner goes through and, in turns of a few calls, sends the same message over
// grpc-go alone, with the same TLS over a unix socket to another process (base).
func BenchmarkHookRoundTrip(b *testing.B) {
	h := faultyHost(b, "ok", "")
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	hook := func() error {
		var vote recovery.Vote
		hooks.Dispatch(b.Context(), h.Hooks(), benchEvent, hooks.Deadlines{}, func(v recovery.Vote) { vote = v })
		if vote.Error != "" {
			return errors.New(vote.Error)
		}
		return nil
	}
	client, request := bareClient(b), protoconv.RunErrorToProto(benchEvent)
	base := func() error {
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		defer cancel()
		_, err := client.RunError(ctx, request)
		return err
	}
	const turn = 20
	measure(b, hook, 10*turn) // warm
	measure(b, base, 10*turn)
	var hookTook, baseTook []time.Duration
	for b.Loop() {
		hookTook = append(hookTook, measure(b, hook, turn)...)
		baseTook = append(baseTook, measure(b, base, turn)...)
	}
	p50, p99 := quantiles(hookTook)
	base50, base99 := quantiles(baseTook)
	b.ReportMetric(p50, "p50-us")
	b.ReportMetric(p99, "p99-us")
	b.ReportMetric(base50, "base-p50-us")
	b.ReportMetric(base99, "base-p99-us")
	b.ReportMetric(p50/base50, "ratio-p50")
}

func bareClient(b *testing.B) mulliganv1.RecoveryPluginClient {
	b.Helper()
	authority, tlsConfig, err := newIdentity()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	socket := filepath.Join(dir, "s")
	server := exec.CommandContext(b.Context(), os.Args[0])
	server.Env = append(os.Environ(), "FAULT=bare", "BARE_SOCKET="+socket, "BARE_CA="+authority)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	certificate := make([]byte, 8192)
	n, err := out.Read(certificate)
	if err != nil {
		b.Fatal(err)
	}
	tlsConfig.RootCAs = pool(string(certificate[:n]))
	conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(credentials.NewTLS(tlsConfig)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return mulliganv1.NewRecoveryPluginClient(conn)
}

func measure(b *testing.B, call func() error, times int) []time.Duration {
	b.Helper()
	var took []time.Duration
	for range times {
		began := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	return took
}

func quantiles(took []time.Duration) (p50, p99 float64) {
	slices.Sort(took)
	return float64(took[len(took)/2]) / 1e3, float64(took[len(took)*99/100]) / 1e3
}

func pool(certificate string) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM([]byte(certificate))
	return p
}

// bareServer is the other end of bareClient.
func bareServer() error {
	authority, own, err := newIdentity()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", os.Getenv("BARE_SOCKET"))
	if err != nil {
		return err
	}
	config := &tls.Config{
		Certificates: own.Certificates, ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs: pool(os.Getenv("BARE_CA")), MinVersion: tls.VersionTLS13,
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
	mulliganv1.RegisterRecoveryPluginServer(server, bare{})
	fmt.Print(authority)
	return server.Serve(listener)
}

type bare struct {
	mulliganv1.UnimplementedRecoveryPluginServer
}

func (bare) RunError(context.Context, *mulliganv1.RunErrorRequest) (*mulliganv1.RunErrorResponse, error) {
	return &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY, DelayMs: 1000, Reason: "ok"}, nil
}
