package host

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mulligan-run/mulligan/hooks"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

type answer = func(context.Context) (*mulliganv1.RunErrorResponse, error)

// service is a plugin that runs as a service, in this process.
type service struct {
	mulliganv1.UnimplementedRecoveryPluginServer
	healthpb.UnimplementedHealthServer
	configured, calls atomic.Int64
	deaf              atomic.Bool            // answers no health check
	answer            atomic.Pointer[answer] // nil = retry
}

func (s *service) answers(f answer) { s.answer.Store(&f) }

func (s *service) Check(ctx context.Context, _ *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	if s.deaf.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

func (s *service) Describe(context.Context, *mulliganv1.DescribeRequest) (*mulliganv1.DescribeResponse, error) {
	return &mulliganv1.DescribeResponse{Name: "fleet", Version: "2.0.0", ConfigSchema: []byte(`{"type":"object","required":["tenant"]}`)}, nil
}

func (s *service) Configure(context.Context, *mulliganv1.ConfigureRequest) (*mulliganv1.ConfigureResponse, error) {
	s.configured.Add(1)
	return &mulliganv1.ConfigureResponse{}, nil
}

func (s *service) RunError(ctx context.Context, _ *mulliganv1.RunErrorRequest) (*mulliganv1.RunErrorResponse, error) {
	s.calls.Add(1)
	if f := s.answer.Load(); f != nil {
		return (*f)(ctx)
	}
	return retry(ctx)
}

func retry(context.Context) (*mulliganv1.RunErrorResponse, error) {
	return &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY}, nil
}

// serve serves s on an address, which may have port 0, until the test or the server ends.
func (s *service) serve(t *testing.T, network, at string, options ...grpc.ServerOption) (server *grpc.Server, address string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), network, at)
	if err != nil {
		t.Fatal(err)
	}
	server = grpc.NewServer(options...)
	mulliganv1.RegisterRecoveryPluginServer(server, s)
	healthpb.RegisterHealthServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return server, listener.Addr().String()
}

// quick has little patience, so that tests are quick.
func quick(address string) Spec {
	return Spec{
		Name: "fleet", Address: address, Deadline: 2 * time.Second,
		Restart: RestartPolicy{First: 10 * time.Millisecond, Most: 20 * time.Millisecond},
		Breaker: BreakerPolicy{After: 20},
	}
}

func remoteHost(t *testing.T, spec Spec) *Host {
	t.Helper()
	h := New()
	t.Cleanup(func() { _ = h.Close() })
	if err := h.Add(spec); err != nil {
		t.Fatal(err)
	}
	return h
}

// plainService is a service without TLS and a host that knows it.
func plainService(t *testing.T) (*service, *grpc.Server, *Host) {
	t.Helper()
	s := &service{}
	server, at := s.serve(t, "tcp", "127.0.0.1:0")
	return s, server, remoteHost(t, quick("grpc://"+at))
}

func TestAService(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "ALL_PROXY", "grpc_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	ours := newAuthority(t, "fleet CA")
	s := &service{}
	_, at := s.serve(t, "tcp", "127.0.0.1:0", grpc.Creds(credentials.NewTLS(ours.server(t, "policy.test"))))
	spec := quick("grpcs://" + at)
	spec.TLS = ours.files(t)
	spec.TLS.ServerName = "policy.test"
	h := remoteHost(t, spec)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	vote, _ := ask(t, h)
	if vote.Action != recovery.ActionRetry || vote.Version != "2.0.0" || vote.PID != 0 || vote.Hash != "" {
		t.Errorf("%+v", vote)
	}
	st := h.Statuses()[0]
	if st.State != StateReady || st.Address != spec.Address || st.PID != 0 || st.Version != "2.0.0" || st.Breaker != BreakerClosed || st.Language != "" {
		t.Errorf("%+v", st)
	}
	if !st.ServerCertEnds.Equal(ours.ends) || !st.ClientCertEnds.Equal(ours.ends) {
		t.Errorf("the certificates end at %v: %+v", ours.ends, st)
	}
	if s.configured.Load() != 0 {
		t.Error("one tenant configures a service for all")
	}
}

func TestAServiceOnAUnixSocket(t *testing.T) {
	socket := filepath.Join(shortPlace(t), "s")
	s := &service{}
	s.serve(t, "unix", socket)
	h := remoteHost(t, quick("unix://"+socket))
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(socket, 0o777); err != nil {
		t.Fatal(err)
	}
	refused := remoteHost(t, quick("unix://"+socket))
	if vote, _ := ask(t, refused); !strings.Contains(vote.Error, "everyone may write to "+socket) {
		t.Errorf("%+v", vote)
	}
}

// A service that is not there costs a run its deadline at most, and is never given up.
func TestAServiceThatIsDown(t *testing.T) {
	s := &service{}
	server, at := s.serve(t, "tcp", "127.0.0.1:0")
	server.Stop()
	spec := quick("grpc://" + at)
	spec.Restart.Max = 1
	h := remoteHost(t, spec)
	for range 5 {
		if vote, took := ask(t, h); !strings.Contains(vote.Error, "connection refused") || took > spec.Deadline {
			t.Errorf("%+v after %v", vote, took)
		}
	}
	if st := h.Statuses()[0]; st.State != StateBackoff || st.Restarts < 2 {
		t.Errorf("%+v", st)
	}
	s.serve(t, "tcp", at)
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
}

func TestAServiceThatIsRestarted(t *testing.T) {
	s := &service{}
	server, at := s.serve(t, "tcp", "127.0.0.1:0")
	h := remoteHost(t, quick("grpc://"+at))
	ask(t, h)
	server.Stop()
	waitFor(t, "the news", func() bool { return h.Statuses()[0].State == StateBackoff })
	if st := h.Statuses()[0]; !strings.Contains(st.LastError, "the connection was lost") {
		t.Errorf("%+v", st)
	}
	s.serve(t, "tcp", at)
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
	if st := h.Statuses()[0]; st.State != StateReady || st.Restarts != 1 {
		t.Errorf("%+v", st)
	}
}

// A call in the air when the service dies is asked once more where it lives again.
func TestAServiceThatDiesInACall(t *testing.T) {
	s := &service{}
	server, at := s.serve(t, "tcp", "127.0.0.1:0")
	s.answers(func(ctx context.Context) (*mulliganv1.RunErrorResponse, error) {
		s.answers(retry)
		go server.Stop()
		<-ctx.Done()
		s.serve(t, "tcp", at)
		return nil, ctx.Err()
	})
	spec := quick("grpc://" + at)
	spec.Restart.First = 300 * time.Millisecond // enough for the new one
	h := remoteHost(t, spec)
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry || s.calls.Load() != 2 {
		t.Errorf("%+v after %d calls", vote, s.calls.Load())
	}
}

func TestASlowService(t *testing.T) {
	s, _, h := plainService(t)
	s.answers(func(ctx context.Context) (*mulliganv1.RunErrorResponse, error) { <-ctx.Done(); return nil, ctx.Err() })
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := h.plugins[0].Advise(ctx, hooks.RunError{}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer in time") {
		t.Error(err)
	}
	s.answers(retry)
	vote, _ := ask(t, h)
	if st := h.Statuses()[0]; vote.Action != recovery.ActionRetry || st.Restarts != 0 {
		t.Errorf("one late answer costs the connection: %+v %+v", vote, st)
	}
}

// A connection over which not even a health check is answered is replaced.
func TestAHangingService(t *testing.T) {
	s, _, h := plainService(t)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.deaf.Store(true)
	s.answers(func(ctx context.Context) (*mulliganv1.RunErrorResponse, error) { <-ctx.Done(); return nil, ctx.Err() })
	askWithin(t, h, 50*time.Millisecond)
	waitFor(t, "the end of the connection", func() bool { return strings.Contains(h.Statuses()[0].LastError, "it did not answer a ping") })
	s.deaf.Store(false)
	s.answers(retry)
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
}

// Something accepts connections and says nothing, or what is no gRPC.
func TestAServiceThatIsNone(t *testing.T) {
	for name, speak := range map[string]func(net.Conn){
		"silent":  func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"garbage": func(c net.Conn) { _, _ = c.Write([]byte("\x1b[31mWelcome\r\n" + strings.Repeat("\xff", 1000))) },
		"HTTP/1.1": func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 307 Temporary Redirect\r\nLocation: https://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"))
		},
		"closed": func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				for {
					c, err := listener.Accept()
					if err != nil {
						return
					}
					go func() { defer c.Close(); speak(c) }()
				}
			}()
			h := remoteHost(t, quick("grpc://"+listener.Addr().String()))
			vote, took := askWithin(t, h, 300*time.Millisecond)
			if vote.Error == "" || took > busy || strings.Contains(vote.Error, "\x1b") {
				t.Errorf("%+v after %v", vote, took)
			}
			began := time.Now()
			if err := h.Close(); err != nil || time.Since(began) > busy {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		})
	}
}

func TestGarbageAnswersOfAService(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   string
	}{
		"an action that is none": {func(context.Context) (*mulliganv1.RunErrorResponse, error) {
			return &mulliganv1.RunErrorResponse{Action: 99}, nil
		}, "99"},
		"too large": {func(context.Context) (*mulliganv1.RunErrorResponse, error) {
			return &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY, Reason: strings.Repeat("x", 1<<20)}, nil
		}, "larger than max"},
		"no UTF-8": {func(context.Context) (*mulliganv1.RunErrorResponse, error) {
			m := &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY}
			m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), []byte("no\xff")))
			return m, nil
		}, "UTF-8"},
		"a long error": {func(context.Context) (*mulliganv1.RunErrorResponse, error) {
			return nil, status.Error(codes.Unknown, strings.Repeat("\x1bwords ", 1000))
		}, "words"},
		"an endless error": {func(context.Context) (*mulliganv1.RunErrorResponse, error) {
			return nil, status.Error(codes.Unknown, strings.Repeat("words ", 100_000))
		}, ""},
		"said to be unavailable": {func(context.Context) (*mulliganv1.RunErrorResponse, error) {
			return nil, status.Error(codes.Unavailable, "at lunch")
		}, "at lunch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, h := plainService(t)
			s.answers(c.answer)
			vote, _ := ask(t, h)
			if vote.Action != recovery.ActionNone || vote.Error == "" || !strings.Contains(vote.Error, c.want) || len(vote.Error) > hooks.MaxError || strings.Contains(vote.Error, "\x1b") {
				t.Errorf("%+v", vote)
			}
			if s.answers(retry); name != "an endless error" && s.calls.Load() != 1 {
				t.Errorf("%d calls", s.calls.Load())
			}
			if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
				t.Errorf("afterwards: %+v", vote)
			}
		})
	}
}

func TestAFailingServiceIsLeftAlone(t *testing.T) {
	s := &service{}
	_, at := s.serve(t, "tcp", "127.0.0.1:0")
	spec := quick("grpc://" + at)
	spec.Breaker = BreakerPolicy{After: 2, Open: 100 * time.Millisecond}
	h := remoteHost(t, spec)
	s.answers(func(context.Context) (*mulliganv1.RunErrorResponse, error) {
		return nil, status.Error(codes.Unknown, "boom")
	})
	ask(t, h)
	ask(t, h)
	if vote, _ := ask(t, h); !strings.HasPrefix(vote.Error, "not asked for another") || !strings.Contains(vote.Error, "boom") || s.calls.Load() != 2 {
		t.Errorf("%+v after %d calls", vote, s.calls.Load())
	}
	if st := h.Statuses()[0]; st.State != StateTripped || st.Breaker != BreakerOpen {
		t.Errorf("%+v", st)
	}
	s.answers(retry)
	waitFor(t, "the trial", func() bool { vote, _ := ask(t, h); return vote.Action == recovery.ActionRetry })
}

// held answers once open is closed.
func held(open <-chan struct{}) answer {
	return func(ctx context.Context) (*mulliganv1.RunErrorResponse, error) {
		select {
		case <-open:
			return retry(ctx)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// A call in the air ends in order when the service says goodbye, and when the host does.
func TestCallsOfAServiceAreDrained(t *testing.T) {
	for name, leave := range map[string]func(*grpc.Server, *Host){
		"the service leaves": func(server *grpc.Server, _ *Host) { server.GracefulStop() },
		"the host closes":    func(_ *grpc.Server, h *Host) { _ = h.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s, server, h := plainService(t)
			open := make(chan struct{})
			s.answers(held(open))
			votes := make(chan recovery.Vote, 1)
			go func() { vote, _ := h.plugins[0].Advise(t.Context(), hooks.RunError{}); votes <- vote }()
			waitFor(t, "the call", func() bool { return s.calls.Load() == 1 })
			left := make(chan struct{})
			go func() { leave(server, h); close(left) }()
			waitFor(t, "the news", func() bool { return h.Statuses()[0].State != StateReady })
			close(open)
			if vote := <-votes; vote.Action != recovery.ActionRetry {
				t.Errorf("%+v", vote)
			}
			<-left
		})
	}
}

func TestAClosedHostAsksNoService(t *testing.T) {
	s, _, h := plainService(t)
	open := make(chan struct{})
	s.answers(held(open))
	defer close(open)
	go func() { _, _ = h.plugins[0].Advise(t.Context(), hooks.RunError{}) }()
	waitFor(t, "the call", func() bool { return s.calls.Load() == 1 })
	began := time.Now()
	if err := h.Close(); err != nil || time.Since(began) > busy {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if _, err := h.plugins[0].Advise(t.Context(), hooks.RunError{}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

func TestReloadToAnotherAddress(t *testing.T) {
	first, _, h := plainService(t)
	ask(t, h)
	second := &service{}
	_, at := second.serve(t, "tcp", "127.0.0.1:0")
	if err := h.Reload(t.Context(), quick("grpc://"+at)); err != nil {
		t.Fatal(err)
	}
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry || first.calls.Load() != 1 || second.calls.Load() != 1 {
		t.Errorf("%+v, %d and %d calls", vote, first.calls.Load(), second.calls.Load())
	}
	if err := h.Reload(t.Context(), quick("grpc://127.0.0.1:1")); err == nil {
		t.Error("reloaded to nobody")
	}
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry || h.Statuses()[0].Address != "grpc://"+at {
		t.Errorf("%+v %+v", vote, h.Statuses())
	}
}

// Many hosts come and go, the service too: no goroutine and no connection is left.
func TestNothingIsLeftOfConnections(t *testing.T) {
	s := &service{}
	server, at := s.serve(t, "tcp", "127.0.0.1:0")
	cycle := func() {
		h := remoteHost(t, quick("grpc://"+at))
		_, _ = askWithin(t, h, 100*time.Millisecond)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	cycle()
	files, goroutines := settled(openFiles(), runtime.NumGoroutine())
	for range 10 {
		cycle()
		server.Stop()
		cycle()
		server, _ = s.serve(t, "tcp", at)
	}
	if f, g := settled(files, goroutines); f > files+2 || g > goroutines+2 {
		t.Errorf("%d files and %d goroutines, before %d and %d", f, g, files, goroutines)
	}
}
