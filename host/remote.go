package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/internal/protoconv"
)

// Limits on a connection to a service.
const (
	dialTimeout = 5 * time.Second // TLS and HTTP/2 included
	remoteGrace = 2 * time.Second // for calls in flight when the connection is given up
	maxHeaders  = 64 << 10        // bytes of a response's headers, which hold its error
)

// The keepalive is TCP's because, unlike HTTP/2's pings, it needs no server's consent.
// A connection whose other end has vanished is given up after 30 s.
var tcpKeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

var errLost = errors.New("the connection was lost")

// remote is one connection to a plugin that runs as a service. When it is lost, gRPC
// would reconnect; here a new connection is a new peer, which reads the certificate
// files again.
type remote struct {
	connection
	address   string
	occasions []string // that the service must offer
	dialled   atomic.Bool
	lost      chan struct{}
	cause     atomic.Pointer[error] // why the host closed it
}

// reach connects to a service and returns the connection once the plugin is healthy
// and described.
func reach(ctx context.Context, spec Spec) (peer, error) {
	a, err := parseAddress(spec.Address)
	if err != nil {
		return nil, err
	}
	r := &remote{connection: newConnection(), address: spec.Address, occasions: spec.Occasions, lost: make(chan struct{})}
	secured, err := r.credentials(a, spec.TLS)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithTransportCredentials(secured),
		grpc.WithAuthority(authority(a, spec.TLS)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return r.dial(ctx, a) }),
		grpc.WithNoProxy(),
		grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: dialTimeout}),
		grpc.WithMaxHeaderListSize(maxHeaders),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(protoconv.MaxReply)),
	)
	if err != nil {
		return nil, err
	}
	r.use(conn)
	if err := r.connect(ctx); err != nil {
		_ = conn.Close()
		return nil, r.said(err, false)
	}
	go r.follow()
	return r, nil
}

// authority is the name under which the server is addressed.
func authority(a address, files *RemoteTLS) string {
	switch {
	case a.network == "unix":
		return "localhost"
	case files != nil:
		return cmp.Or(files.ServerName, a.at)
	}
	return a.at
}

// dial makes the only connection.
func (r *remote) dial(ctx context.Context, a address) (net.Conn, error) {
	if r.dialled.Swap(true) {
		return nil, errLost
	}
	dialer := net.Dialer{Timeout: dialTimeout, KeepAliveConfig: tcpKeepAlive}
	switch {
	case a.network == "unix":
		if err := checkServiceSocket(a.at); err != nil {
			return nil, err
		}
	case !a.secure:
		dialer.Control = onlyHere
	}
	return dialPatiently(ctx, &dialer, a.network, a.at)
}

// dialPatiently retries when descriptors run out, because gRPC reports why a dial failed
// only as text.
func dialPatiently(ctx context.Context, dialer *net.Dialer, network, at string) (conn net.Conn, err error) {
	err = procgroup.Patiently(ctx, func() (err error) {
		conn, err = dialer.DialContext(ctx, network, at)
		return err
	})
	return conn, err
}

// connect waits for the connection and the plugin's description. It sends no
// configuration, because others use the service, too.
func (r *remote) connect(ctx context.Context) error {
	for state := r.conn.GetState(); state != connectivity.Ready && state != connectivity.TransientFailure; state = r.conn.GetState() {
		if state == connectivity.Idle {
			r.conn.Connect()
		}
		if !r.conn.WaitForStateChange(ctx, state) {
			return fmt.Errorf("no connection: %w", ctx.Err())
		}
	}
	described, err := r.describe(ctx) // without a connection it fails at once and says why
	if err != nil {
		return err
	}
	return checkOccasions(r.occasions, described.GetOccasions())
}

// follow waits for the end of the connection.
func (r *remote) follow() {
	r.conn.WaitForStateChange(context.Background(), connectivity.Ready)
	close(r.lost)
}

func (r *remote) pid() int { return 0 }

func (r *remote) gone() <-chan struct{} { return r.lost }

func (r *remote) lastWords() error {
	if cause := r.cause.Load(); cause != nil {
		return r.said(*cause, true)
	}
	return r.said(errLost, true)
}

// explain waits a moment for the news that the connection is lost, which may arrive
// after a call's error.
func (r *remote) explain(err error) error {
	if status.Code(err) != codes.Unavailable {
		return r.said(err, false)
	}
	select {
	case <-r.lost:
		return r.said(err, r.cause.Load() == nil)
	case <-time.After(pipeGrace / 2):
		return r.said(err, false)
	}
}

func (r *remote) said(err error, lost bool) error {
	return &explained{text: r.address + ": " + printable(plainly(err), saidBytes), err: err, lost: lost}
}

// plainly is the text of a connection error without gRPC's prefixes.
func plainly(err error) string {
	text := plain(err)
	before, quoted, ok := strings.Cut(text, `connection error: desc = `)
	if inner, unquoteErr := strconv.Unquote(quoted); ok && unquoteErr == nil {
		return before + strings.TrimPrefix(inner, "transport: ")
	}
	return text
}

func (r *remote) end(cause error) {
	r.cause.CompareAndSwap(nil, &cause)
	_ = r.conn.Close()
}

// stop lets calls in flight finish, for up to 2 s.
func (r *remote) stop() {
	r.calls.drain(context.Background(), remoteGrace)
	_ = r.conn.Close()
}
