package plugin

import (
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

func TestAService(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := NewService(Func(func(_ context.Context, e Event) (Decision, error) {
		if e.Attempt > 0 {
			panic("boom")
		}
		return Retry(time.Second), nil
	}), nil, WithVersion("1.2.3"), WithConfigSchema(`{}`), WithConfig(func(p json.RawMessage) error { t.Errorf("configured with %s", p); return nil }))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, name := range []string{"", "plugin"} {
		if m, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{Service: name}); err != nil || m.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v %v", name, m, err)
		}
	}
	client := mulliganv1.NewRecoveryPluginClient(conn)
	if m, err := client.Describe(t.Context(), &mulliganv1.DescribeRequest{}); err != nil || m.GetVersion() != "1.2.3" || len(m.GetConfigSchema()) > 0 {
		t.Errorf("%v %v", m, err)
	}
	if _, err := client.Configure(t.Context(), &mulliganv1.ConfigureRequest{Config: []byte(`{}`)}); status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
	if m, err := client.RunError(t.Context(), &mulliganv1.RunErrorRequest{}); err != nil || m.GetAction() != mulliganv1.Action_ACTION_RETRY || m.GetDelayMs() != 1000 {
		t.Errorf("%v %v", m, err)
	}
	if _, err := client.RunError(t.Context(), &mulliganv1.RunErrorRequest{Attempt: 1}); status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "panic: boom") {
		t.Error(err)
	}
}
