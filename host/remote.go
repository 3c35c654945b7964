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

// Bounds on a connection to a service.
const (
	dialTimeout = 5 * time.Second // TLS and HTTP/2 included
	remoteGrace = 2 * time.Second // for calls in flight when the connection is given up
	maxHeaders  = 64 << 10        // bytes of an answer's headers, which hold its error
)

// Keepalive is TCP's: unlike HTTP/2's pings no server has to allow it. A connection
// whose other end has vanished is given up after 30 s.
var tcpKeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

var errLost = errors.New("the connection was lost")

// remote is one connection to a plugin that runs as a service. gRPC would make others
// when it is lost; here a new one is a new peer, with files that are read again.
type remote struct {
	connection
	address   string
	occasions []string // that the service must offer
	dialled   atomic.Bool
	lost      chan struct{}
	cause     atomic.Pointer[error] // why the host gave it up
}

// reach returns a connection over which a healthy plugin has said who it is.
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

// authority is the name by which the server is called.
func authority(a address, files *RemoteTLS) string {
	switch {
	case a.network == "unix":
		return "localhost"
	case files != nil:
		return cmp.Or(files.ServerName, a.at)
	}
	return a.at
}

// dial makes the one connection.
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

// dialPatiently waits for a descriptor: gRPC only tells in words why it has no connection.
func dialPatiently(ctx context.Context, dialer *net.Dialer, network, at string) (conn net.Conn, err error) {
	err = procgroup.Patiently(ctx, func() (err error) {
		conn, err = dialer.DialContext(ctx, network, at)
		return err
	})
	return conn, err
}

// connect waits for the connection and for the plugin's word. A configuration is never
// sent: the service is others', too.
func (r *remote) connect(ctx context.Context) error {
	for state := r.conn.GetState(); state != connectivity.Ready && state != connectivity.TransientFailure; state = r.conn.GetState() {
		if state == connectivity.Idle {
			r.conn.Connect()
		}
		if !r.conn.WaitForStateChange(ctx, state) {
			return fmt.Errorf("no connection: %w", ctx.Err())
		}
	}
	described, err := r.describe(ctx) // fails at once, and says why, without a connection
	if err != nil {
		return err
	}
	return checkOccasions(r.occasions, described.GetOccasions())
}

// follow sees the connection end.
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

// explain waits a moment for the news that the connection is lost, which may come
// after the error of a call.
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

// plainly is an error's text without what gRPC puts around one of the connection.
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

// stop lets calls in flight end, for up to 2 s.
func (r *remote) stop() {
	r.calls.drain(context.Background(), remoteGrace)
	_ = r.conn.Close()
}
