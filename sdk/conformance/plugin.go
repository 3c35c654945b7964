package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// Plugin is a running plugin, connected and greeted.
type Plugin struct {
	process   *process
	handshake handshake
	conn      *grpc.ClientConn
	service   mulliganv1.RecoveryPluginClient
	stdio     chan error // how the stream of GRPCStdio ended
}

// Start starts a plugin with mutual TLS or without, as a host would, up to the
// point where it can be configured.
func Start(ctx context.Context, c Command, mutualTLS bool) (*Plugin, error) {
	return start(ctx, c, mutualTLS, cookie, "PLUGIN_PROTOCOL_VERSIONS=1")
}

func start(ctx context.Context, c Command, mutualTLS bool, env ...string) (*Plugin, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	mine, err := ca.client()
	if err != nil {
		return nil, err
	}
	if mutualTLS {
		env = append(env, "PLUGIN_CLIENT_CERT="+ca.pem())
	}
	process, err := launch(c, env...)
	if err != nil {
		return nil, err
	}
	p := &Plugin{process: process, stdio: make(chan error, 1)}
	line, err := process.firstLine(ctx)
	if err == nil {
		p.handshake, err = parseHandshake(line, process.folder, mutualTLS)
	}
	if err == nil {
		creds := insecure.NewCredentials()
		if mutualTLS {
			creds = credentials.NewTLS(trusting(p.handshake.server, mine))
		}
		err = p.connect(ctx, creds)
	}
	if err != nil {
		err = fmt.Errorf("%w; standard error: %s", err, process.stderr.tail())
		p.Kill()
		return nil, err
	}
	return p, nil
}

func (p *Plugin) connect(ctx context.Context, creds credentials.TransportCredentials) error {
	var err error
	if p.conn, err = p.dial(creds); err != nil {
		return err
	}
	p.service = mulliganv1.NewRecoveryPluginClient(p.conn)
	if err := p.holdStdio(); err != nil {
		return err
	}
	return p.healthy(ctx, p.conn)
}

func (p *Plugin) dial(creds credentials.TransportCredentials) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix:"+p.handshake.socket, grpc.WithTransportCredentials(creds), grpc.WithAuthority("localhost"),
		grpc.WithIdleTimeout(0), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<20)))
}

// holdStdio opens the stream that go-plugin's hosts open, and drops what it brings.
func (p *Plugin) holdStdio() error {
	stream, err := p.conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/plugin.GRPCStdio/StreamStdio")
	if err != nil {
		return fmt.Errorf("StreamStdio: %w", err)
	}
	if err := errors.Join(stream.SendMsg(&emptypb.Empty{}), stream.CloseSend()); err != nil {
		return fmt.Errorf("StreamStdio: %w", err)
	}
	go func() {
		for err == nil {
			err = stream.RecvMsg(&emptypb.Empty{})
		}
		p.stdio <- err
	}()
	return nil
}

// healthy is a health check with a host's deadline.
func (p *Plugin) healthy(ctx context.Context, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, slack*time.Second)
	defer cancel()
	reply, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "plugin"})
	if err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	if reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("health check: the plugin is %s", reply.GetStatus())
	}
	return nil
}

// Configure hands a configuration over; nil is none.
func (p *Plugin) Configure(ctx context.Context, config []byte) error {
	_, err := p.service.Configure(ctx, &mulliganv1.ConfigureRequest{Config: config})
	return err
}

// Close ends the plugin by Shutdown. It fails if the plugin is not gone in time, does
// not exit with status 0, or has written to standard output since the handshake.
func (p *Plugin) Close() error {
	defer p.Kill()
	select {
	case err := <-p.stdio:
		return fmt.Errorf("the plugin did not hold the stream of GRPCStdio open: %w", err)
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), slack*shutdownWithin)
	defer cancel()
	_ = p.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{}) // need not be answered
	return p.gone(slack*shutdownWithin, "Shutdown")
}

// gone fails unless the process ends in order within the given time.
func (p *Plugin) gone(within time.Duration, after string) error {
	if !p.process.over(within) {
		return fmt.Errorf("alive %v after %s", within, after)
	}
	var errs []error
	if code := p.process.status(); code != 0 {
		errs = append(errs, fmt.Errorf("exit status %d after %s; standard error: %s", code, after, p.process.stderr.tail()))
	}
	if p.process.rest != "" {
		errs = append(errs, fmt.Errorf("on standard output after the handshake line: %.200q", p.process.rest))
	}
	return errors.Join(errs...)
}

// Kill ends the plugin by force.
func (p *Plugin) Kill() {
	if p.conn != nil {
		_ = p.conn.Close()
	}
	p.process.end()
}

// stderr gives what the plugin wrote to standard error so far, at most 1 MiB.
func (p *Plugin) stderr() string { return p.process.stderr.String() }
