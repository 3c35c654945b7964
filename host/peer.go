package host

import (
	"context"
	"errors"
	"fmt"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// peer is what answers for a plugin: a process that the host started, or a connection
// to a service. Once gone it stays gone, and another takes its place.
type peer interface {
	connected() *connection
	pid() int                // 0 = it is not a process of this host
	gone() <-chan struct{}   // closed once it answers no new calls
	lastWords() error        // why it is gone; valid only once it is
	explain(err error) error // adds to a call's error what is known about its cause
	end(cause error)         // by force; lastWords reports cause
	stop()                   // gracefully if possible, within stopTimeout
}

// isGone does not block.
func isGone(p peer) bool {
	select {
	case <-p.gone():
		return true
	default:
		return false
	}
}

// connection is a connection to a plugin and what was learnt over it.
type connection struct {
	conn    *grpc.ClientConn
	service mulliganv1.RecoveryPluginClient
	version string
	hash    string        // of what runs; "" if unknown
	noted   chan struct{} // closed once its owner knows of its end
	calls   calls

	certificates certificates // of a service's connection
}

func newConnection() connection { return connection{noted: make(chan struct{}), calls: newCalls()} }

func (t *connection) connected() *connection { return t }

func (t *connection) use(conn *grpc.ClientConn) {
	t.conn, t.service = conn, mulliganv1.NewRecoveryPluginClient(conn)
}

// describe checks that the plugin is healthy and asks what it is.
func (t *connection) describe(ctx context.Context) (*mulliganv1.DescribeResponse, error) {
	if err := t.ping(ctx); err != nil {
		return nil, fmt.Errorf("health check: %w", err)
	}
	described, err := t.service.Describe(ctx, &mulliganv1.DescribeRequest{})
	if err != nil {
		return nil, fmt.Errorf("describe: %w", err)
	}
	t.version = printable(described.GetVersion(), maxVersion)
	return described, nil
}

func (t *connection) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	reply, err := healthpb.NewHealthClient(t.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	if err != nil {
		return err
	}
	if reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("the plugin is %s", reply.GetStatus())
	}
	return nil
}

// lostCall reports whether a call failed because the peer went away before it answered:
// the connection broke, or was closed because the process had ended.
func lostCall(err error) bool {
	if code := status.Code(err); code != codes.Unavailable && code != codes.Canceled {
		return false
	}
	var crash *crashError
	if errors.As(err, &crash) {
		return true
	}
	var said *explained
	return errors.As(err, &said) && said.lost
}
