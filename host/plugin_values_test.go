package host

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// valuesClient reaches the values of a plugin of h as the plugin would.
func valuesClient(t *testing.T, h *Host, plugin string) mulliganv1.ValueServiceClient {
	t.Helper()
	socket, err := h.folders.valuesOf(t.Context(), plugin)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return mulliganv1.NewValueServiceClient(conn)
}

// TestValuesOfPlugins: each plugin has its own, hosts with the same folder share them, and they outlive
// the host; without a folder they end with it.
func TestValuesOfPlugins(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	hostIn := func(options ...Option) *Host {
		h := New(options...)
		if err := h.Add(faultySpec("ok", "")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	one, two, alone := hostIn(WithStateDir(dir)), hostIn(WithStateDir(dir)), hostIn()
	for i, c := range []struct {
		h      *Host
		plugin string
		want   int64
	}{{one, "p", 1}, {one, "p", 2}, {two, "p", 3}, {two, "q", 1}, {alone, "p", 1}} {
		m, err := valuesClient(t, c.h, c.plugin).AddValue(ctx, &mulliganv1.AddValueRequest{Key: "n", Amount: 1})
		if err != nil || m.GetSum() != c.want {
			t.Errorf("%d: %v, %v", i, m, err)
		}
	}
	late := valuesClient(t, one, "p")
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if _, err := late.AddValue(ctx, &mulliganv1.AddValueRequest{Key: "n", Amount: 1}); status.Code(err) != codes.Unavailable {
		t.Errorf("after the host's end: %v", err)
	}
	m, err := valuesClient(t, hostIn(WithStateDir(dir)), "p").GetValue(ctx, &mulliganv1.GetValueRequest{Key: "n"})
	if err != nil || string(m.GetValue()) != "3" {
		t.Errorf("%v, %v", m, err)
	}
}

// TestValuesSayWhatIsWrong in codes that a plugin can tell apart.
func TestValuesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	ctx, h := t.Context(), New()
	t.Cleanup(func() { _ = h.Close() })
	client := valuesClient(t, h, "p")
	if _, err := client.SetValue(ctx, &mulliganv1.SetValueRequest{Key: "word", Value: []byte("word")}); err != nil {
		t.Fatal(err)
	}
	_, number := client.AddValue(ctx, &mulliganv1.AddValueRequest{Key: "word", Amount: 1})
	_, key := client.GetValue(ctx, &mulliganv1.GetValueRequest{})
	_, big := client.SetValue(ctx, &mulliganv1.SetValueRequest{Key: "big", Value: make([]byte, 1<<20)})
	for err, want := range map[error]codes.Code{number: codes.FailedPrecondition, key: codes.InvalidArgument, big: codes.ResourceExhausted} {
		if status.Code(err) != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if m, err := client.SetValue(ctx, &mulliganv1.SetValueRequest{Key: "word", Expected: new(int64)}); err != nil || m.GetDone() || m.GetVersion() == 0 {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := client.ListValues(ctx, &mulliganv1.ListValuesRequest{Prefix: "w"}); err != nil || len(m.GetKeys()) != 1 || m.GetMore() {
		t.Errorf("%v, %v", m, err)
	}
}
