package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/internal/wire"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// Bounds on the life of a process.
const (
	startTimeout = 10 * time.Second
	pingTimeout  = time.Second
	stopGrace    = time.Second // for an orderly end, before the group is killed
	stopTimeout  = 3 * time.Second
	saidBytes    = 500 // of standard error in an error's text
)

// process is one start of a plugin.
type process struct {
	client  *goplugin.Client
	runner  *processRunner
	conn    *grpc.ClientConn
	service mulliganv1.RecoveryPluginClient
	version string
	hash    string
}

// startProcess returns a process that is healthy, described and configured. When it
// fails or ctx ends first, it gives what was started, if anything, to dispose.
func startProcess(ctx context.Context, spec Spec, sockets string, logger *slog.Logger, dispose func(*process)) (*process, error) {
	path, err := exec.LookPath(spec.Command[0])
	if err != nil {
		return nil, err
	}
	hash, err := hashFile(path)
	if err != nil {
		return nil, err
	}
	authority, tlsConfig, err := newIdentity()
	if err != nil {
		return nil, err
	}
	stderr := &stderrLog{logger: logger}
	made := make(chan *processRunner, 1)
	p := &process{hash: hash}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: wire.ProtocolVersion, MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue,
		},
		Plugins:          goplugin.PluginSet{wire.PluginName: grpcOnly{}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		SkipHostEnv:      true,
		TLSConfig:        tlsConfig,
		StartTimeout:     startTimeout,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Off}),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: sockets},
		GRPCDialOptions:  []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(wire.MaxReply)), grpc.WithIdleTimeout(0)},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			r := newRunner(spec, append(cmd.Env, "PLUGIN_CLIENT_CERT="+authority), dir, stderr)
			made <- r
			return r, nil
		},
	})
	connected := make(chan error, 1)
	go func() { connected <- p.connect() }()
	select {
	case p.runner = <-made:
	case err = <-connected: // not even a runner
		p.client.Kill()
		return nil, err
	}
	select {
	case err = <-connected:
	case <-ctx.Done():
		p.runner.killGroup()
		err = fmt.Errorf("no handshake: %w", ctx.Err())
	}
	if err == nil {
		err = p.greet(ctx, spec)
	}
	if err != nil {
		err = p.explain(err)
		dispose(p)
		return nil, err
	}
	return p, nil
}

// connect takes go-plugin through the handshake.
func (p *process) connect() error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	client, ok := protocol.(*goplugin.GRPCClient)
	if !ok {
		return errors.New("the plugin does not speak gRPC")
	}
	p.conn, p.service = client.Conn, mulliganv1.NewRecoveryPluginClient(client.Conn)
	return nil
}

// greet makes sure that there is a living plugin behind the handshake and gives it
// its configuration.
func (p *process) greet(ctx context.Context, spec Spec) error {
	if err := p.ping(ctx); err != nil {
		return fmt.Errorf("health check: %w", err)
	}
	described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	if err := checkConfig(described.GetConfigSchema(), spec.Config); err != nil {
		return err
	}
	p.version = clip(described.GetVersion(), 100)
	if _, err := p.service.Configure(ctx, &mulliganv1.ConfigureRequest{Config: spec.Config}); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

func (p *process) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	reply, err := healthpb.NewHealthClient(p.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: goplugin.GRPCServiceName})
	if err != nil {
		return err
	}
	if reply.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("the plugin is %s", reply.GetStatus())
	}
	return nil
}

// stop ends the process in order where it can and by force where it cannot, and
// returns within stopTimeout; go-plugin's own Kill may take for ever.
func (p *process) stop() {
	killed := make(chan struct{})
	go func() { p.client.Kill(); close(killed) }()
	select {
	case <-killed:
	case <-time.After(stopGrace):
		p.runner.killGroup()
		select {
		case <-killed:
		case <-time.After(stopTimeout - stopGrace):
		}
	}
	p.runner.killGroup()
	p.dead(pipeGrace)
}

// dead reports whether the process ends within the given time.
func (p *process) dead(within time.Duration) bool {
	select {
	case <-p.runner.exited:
		return true
	default:
	}
	select {
	case <-p.runner.exited:
		return true
	case <-time.After(within):
		return false
	}
}

// explain adds to err how the process ended and what it said last.
func (p *process) explain(err error) error {
	text := err.Error()
	if s, ok := status.FromError(err); ok {
		text = s.Message()
	}
	text = clip(text, saidBytes)
	if p.runner.pid() > 0 && p.dead(pipeGrace/2) {
		text = "the plugin ended (" + p.ending() + "): " + text
	}
	if said := p.runner.stderr.tail(saidBytes); said != "" {
		text += "; it said last: " + said
	}
	return &explained{text, err}
}

func (p *process) ending() string {
	if p.runner.exitErr == nil {
		return "exit status 0"
	}
	return p.runner.exitErr.Error()
}

// explained is an error in better words.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// grpcOnly is go-plugin's idea of a plugin; the connection is used directly.
type grpcOnly struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (grpcOnly) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error {
	return errors.New("a host serves nothing")
}

func (grpcOnly) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("the connection is used directly")
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// clip makes s valid UTF-8 of at most n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}
