package host

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// Limits on the life of a process.
const (
	startTimeout = 10 * time.Second
	pingTimeout  = time.Second
	stopGrace    = time.Second // to end on its own, before the group is killed
	stopTimeout  = 3 * time.Second
	maxVersion   = 100 // bytes
)

// process is one start of a plugin.
type process struct {
	connection
	name   string
	client *goplugin.Client
	runner *processRunner
	free   func() // removes the files it ran from
}

// launch is what one start needs.
type launch struct {
	spec    Spec
	folders *folders
	logger  *slog.Logger
	said    *lastLines
	redact  func(string) string
	dispose func(peer) // stops what was started but is not used

	path string   // of the executable
	args []string // without the executable
	dir  string   // the working directory
	hash string
	copy string // the folder of the copy, if the plugin is pinned
}

// start returns a process that is healthy, described and configured. If it fails or
// ctx ends first, what was started is disposed of.
func (l *launch) start(ctx context.Context) (peer, error) {
	env, tlsConfig, err := l.identity()
	if err != nil {
		return nil, err
	}
	sockets, err := l.folders.sockets()
	if err != nil {
		return nil, err
	}
	if err := l.prepare(ctx); err != nil {
		l.removeCopy()
		return nil, err
	}
	var started *processRunner
	made := make(chan *processRunner, 1)
	p := &process{connection: newConnection(), name: l.spec.Name, free: l.removeCopy}
	p.hash = l.hash
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: protoconv.ProtocolVersion, MagicCookieKey: protoconv.CookieKey, MagicCookieValue: protoconv.CookieValue,
		},
		Plugins:          goplugin.PluginSet{protoconv.PluginName: grpcOnly{}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		SkipHostEnv:      true,
		TLSConfig:        tlsConfig,
		StartTimeout:     startTimeout,
		Logger:           hclog.New(&hclog.LoggerOptions{Level: hclog.Off}),
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: sockets},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(protoconv.MaxReply)), grpc.WithIdleTimeout(0),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return started.dial(ctx) }),
		},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, dir string) (runner.Runner, error) {
			started = newRunner(l, slices.Concat(cmd.Env, l.stateEnv(), l.valuesEnv(ctx), env), dir)
			made <- started
			return started, nil
		},
	})
	connected := make(chan error, 1)
	go func() { connected <- p.connect() }()
	select {
	case p.runner = <-made:
	case err = <-connected: // there is no process at all
		p.client.Kill()
		l.removeCopy()
		return nil, err
	}
	if err := l.meet(ctx, p, connected); err != nil {
		err = p.explain(err)
		l.dispose(p)
		return nil, err
	}
	return p, nil
}

// meet waits for the handshake and asks the plugin what it is.
func (l *launch) meet(ctx context.Context, p *process, connected <-chan error) error {
	select {
	case err := <-connected:
		if refused := p.runner.refused.Load(); refused != nil {
			err = *refused
		}
		if err != nil {
			return err
		}
	case <-ctx.Done():
		p.runner.killGroup()
		return fmt.Errorf("no handshake: %w", ctx.Err())
	}
	return p.greet(ctx, l.spec)
}

// prepare finds the executable and, for a pinned plugin, makes the copy that runs.
func (l *launch) prepare(ctx context.Context) (err error) {
	if l.spec.Pin != "" {
		return l.preparePinned(ctx)
	}
	l.args, l.dir = l.spec.Command[1:], l.spec.Dir
	l.path, err = procgroup.LookUp(l.spec.Command[0], l.spec.Dir)
	if err != nil {
		return err
	}
	if err := l.checkOwners(); err != nil {
		return err
	}
	l.hash, err = hashFile(l.path)
	return err
}

// checkOwners checks the executable and the files passed to an interpreter. A pinned
// plugin does not need this: nobody can replace what was hashed.
func (l *launch) checkOwners() error {
	paths := []string{l.path}
	if interpreted(l.spec.Command[0]) != "" {
		for _, argument := range l.args {
			at, err := absolute(argument, l.dir)
			if info, statErr := os.Stat(at); err == nil && statErr == nil && info.Mode().IsRegular() {
				paths = append(paths, at)
			}
		}
	}
	for _, path := range paths {
		err := checkOwners(path)
		var foreign ownerError
		if errors.As(err, &foreign) {
			return fmt.Errorf("%w: it is run only if it is pinned", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// argv0 is the program's name as it sees it: the name from the command, or the path of
// the copy, which a virtual environment uses to find itself.
func (l *launch) argv0() string {
	if l.copy != "" {
		return l.path
	}
	return l.spec.Command[0]
}

func (l *launch) removeCopy() {
	if l.copy != "" {
		_ = os.RemoveAll(l.copy)
	}
}

// identity sets up mutual TLS: environment variables for the plugin and a client
// config for us.
func (l *launch) identity() (env []string, client *tls.Config, err error) {
	if l.spec.PlainText {
		return nil, nil, nil
	}
	authority, client, err := newIdentity()
	return []string{"PLUGIN_CLIENT_CERT=" + authority}, client, err
}

// connect completes go-plugin's handshake.
func (p *process) connect() error {
	protocol, err := p.client.Client()
	if err != nil {
		return err
	}
	client, ok := protocol.(*goplugin.GRPCClient)
	if !ok {
		return errors.New("the plugin does not speak gRPC")
	}
	p.use(client.Conn)
	return nil
}

// greet checks that there is a healthy plugin behind the handshake and sends its
// configuration.
func (p *process) greet(ctx context.Context, spec Spec) error {
	described, err := p.describe(ctx)
	if err != nil {
		return err
	}
	if err := checkOccasions(spec.Occasions, described.GetOccasions()); err != nil {
		return err
	}
	if err := checkConfig(ctx, described.GetConfigSchema(), spec.Config); err != nil {
		return err
	}
	if _, err := p.service.Configure(ctx, &mulliganv1.ConfigureRequest{Config: spec.Config}); err != nil {
		return fmt.Errorf("configure: %w", err)
	}
	return nil
}

// stop ends the process gracefully if possible, else by force, and returns within
// stopTimeout; go-plugin's own Kill may block forever.
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
	if p.dead(pipeGrace) {
		p.runner.over()
	}
	p.free()
}

func (p *process) pid() int { return p.runner.pid() }

func (p *process) gone() <-chan struct{} { return p.runner.exited }

func (p *process) end(cause error) { p.runner.killFor(cause) }

// dead reports whether the process ends within the given time.
func (p *process) dead(within time.Duration) bool { return p.runner.within(within) }

// grpcOnly is the plugin type that go-plugin requires; the connection is used
// directly.
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
