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

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/internal/wire"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

var benchEvent = hooks.RunError{
	Run: "run_1", Session: "s", Model: "a/b", MaxRetries: 3,
	Failure:      recovery.Failure{Kind: recovery.KindOverloaded, Code: recovery.CodeProviderUnavailable, Title: "The provider is overloaded", Message: "Try again."},
	Alternatives: []recovery.Alternative{{Model: "c/d"}, {Model: "e/f"}},
}

// BenchmarkHookRoundTrip asks a Go plugin in another process through everything that
// a runner goes through.
func BenchmarkHookRoundTrip(b *testing.B) {
	h := faultyHost(b, "ok", "")
	if err := h.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	measure(b, func() error {
		var vote recovery.Vote
		hooks.Dispatch(b.Context(), h.Hooks(), benchEvent, hooks.Deadlines{}, func(v recovery.Vote) { vote = v })
		if vote.Error != "" {
			return errors.New(vote.Error)
		}
		return nil
	})
}

// BenchmarkBareGRPC sends the same message over grpc-go alone, with the same TLS over
// a unix socket to another process.
func BenchmarkBareGRPC(b *testing.B) {
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
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
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
	defer func() { _ = conn.Close() }()
	client := mulliganv1.NewRecoveryPluginClient(conn)
	request := wire.RunErrorToProto(benchEvent)
	measure(b, func() error {
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		defer cancel()
		_, err := client.RunError(ctx, request)
		return err
	})
}

func measure(b *testing.B, call func() error) {
	for range 200 { // warm
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-µs")
}

func pool(certificate string) *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM([]byte(certificate))
	return p
}

// bareServer is the other end of BenchmarkBareGRPC.
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
