package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// Check is one thing that is demanded of a plugin process. Run starts its own.
type Check struct {
	Name   string
	Demand string // what is expected, for people
	Advice string // what to do if it fails; an SDK does it already
	Run    func(ctx context.Context, c Command, mutualTLS bool) error

	Obeys    bool // only of a conformance plugin: it has to obey commands
	TLS      bool // only with mutual TLS
	Survival bool // about what a plugin must survive, rather than what it must do
}

// Advice that several checks give.
const (
	exitOnShutdown = "answer plugin.GRPCController/Shutdown by ending the process with status 0, whatever is still running; a wrapper has to exec the plugin"
	exitOnStdin    = "read standard input to its end and exit with status 0 then; it belongs to the protocol, so let nothing else read it or put it elsewhere"
	demandClients  = "require and verify a client certificate, with PLUGIN_CLIENT_CERT as the only root; \"optional\" or \"request\" is not enough"
	stayUp         = "a call must not end the process or block the others: catch everything that a call can throw"
)

// Checks lists all of them. Those of the protocol come first, and what a plugin must
// survive comes last.
var Checks = []Check{
	{
		Name: "describe", Run: describes,
		Demand: "a handshake line, TLS, health SERVING, and a version and a schema within their limits",
		Advice: "docs/plugin-protocol.md, \"The life of a plugin\"; print nothing on standard output before the SDK serves",
	},
	{
		Name: "configuration", Run: takesConfig,
		Demand: "a JSON Schema that can be read, and a configuration that it and the plugin accept",
		Advice: "hand over a configuration that the plugin accepts, or correct its schema or what it does with the configuration",
	},
	{Name: "a configuration is refused", Obeys: true, Run: refusesConfig},
	{Name: "occasions beside run_error", Obeys: true, Run: takesOccasions},
	{
		Name: "shutdown", Run: endsByShutdown,
		Demand: "an end with status 0 within 1 s of Shutdown, and nothing on standard output but the handshake line", Advice: exitOnShutdown,
	},
	{Name: "shutdown during a call", Obeys: true, Run: endsByShutdownBusy},
	{
		Name: "end of standard input", Run: endsWithStdin,
		Demand: "an end with status 0 within 2 s of the end of standard input", Advice: exitOnStdin,
	},
	{Name: "end of standard input during a call", Obeys: true, Run: endsWithStdinBusy},
	{
		Name: "another parent", Run: endsWithParent,
		Demand: "an end within 3 s of the parent's death", Advice: "compare the parent's process id with the one at the start, once a second, and exit if it changed",
	},
	{
		Name: "SIGINT is ignored", Run: ignoresInterrupt,
		Demand: "no end by SIGINT, which a terminal sends to whole groups", Advice: "ignore SIGINT; the host ends the plugin",
	},
	{
		Name: "unknown method", Run: unknownMethod,
		Demand: "UNIMPLEMENTED for a method of a newer protocol", Advice: "serve only the services of the protocol, and let the gRPC library answer for all else",
	},
	{
		Name: "highest common version", Run: versions,
		Demand: "version 1 where 7, 1 and 2000000000 are offered", Advice: "choose the highest of PLUGIN_PROTOCOL_VERSIONS that the plugin speaks",
	},
	{
		Name: "no common version", Run: noVersion,
		Demand: "version 1 in the handshake line where only 7 is offered", Advice: "print the lowest version that the plugin speaks; the host then names both",
	},
	{
		Name: "started by hand", Run: byHand,
		Demand: "status 1, an explanation on standard error and nothing on standard output, without MULLIGAN_PLUGIN",
		Advice: "look for the magic cookie in MULLIGAN_PLUGIN before anything else is done",
	},
	{
		Name: "no folder for the socket", Run: noFolder,
		Demand: "a reason on standard error, no handshake line, and a status other than 0", Advice: "say on standard error why the socket cannot be made, and exit",
	},
	{
		Name: "no client certificate is refused", TLS: true, Run: refusesNone,
		Demand: "no answer to a client without a certificate", Advice: demandClients,
	},
	{
		Name: "another authority's client is refused", TLS: true, Run: refusesForeign,
		Demand: "no answer to a client of another authority", Advice: demandClients,
	},
	{
		Name: "a self-signed client is refused", TLS: true, Run: refusesSelfSigned,
		Demand: "no answer to a client that has signed its own certificate", Advice: demandClients,
	},
	{
		Name: "plaintext is refused", TLS: true, Run: refusesPlaintext,
		Demand: "no answer to a client without TLS", Advice: demandClients,
	},
	{
		Name: "an unreadable authority", TLS: true, Run: unreadableAuthority,
		Demand: "a reason on standard error, no handshake line, and a status other than 0",
		Advice: "if PLUGIN_CLIENT_CERT is set and is no certificate, exit; never fall back to plaintext",
	},
	{
		Name: "cancelled calls", Survival: true, Run: survivesCancels,
		Demand: "health, and an answer to the next call, after 16 calls were cancelled", Advice: stayUp,
	},
	{
		Name: "expired deadlines", Survival: true, Run: survivesDeadlines,
		Demand: "health, and an answer to the next call, after 20 deadlines of a few milliseconds", Advice: stayUp,
	},
	{
		Name: "garbage for an event", Survival: true, Run: survivesGarbage,
		Demand: "a status other than OK for bytes that are no message, and an answer to the next call", Advice: stayUp,
	},
	{
		Name: "shutdown with 32 calls under way", Survival: true, Run: endsUnderLoad,
		Demand: "an end with status 0 within 1 s of Shutdown, though calls are not finished", Advice: exitOnShutdown,
	},
}

// with starts a plugin for f, and ends it.
func with(ctx context.Context, c Command, mutualTLS bool, f func(*Plugin) error) error {
	p, err := Start(ctx, c, mutualTLS)
	if err != nil {
		return err
	}
	defer p.Kill()
	return f(p)
}

func describes(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
		if err != nil {
			return fmt.Errorf("describe: %w", err)
		}
		if len(described.GetVersion()) > 100 || len(described.GetConfigSchema()) > 256<<10 {
			return fmt.Errorf("version of %d bytes, schema of %d", len(described.GetVersion()), len(described.GetConfigSchema()))
		}
		return p.Close()
	})
}

func refusesConfig(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
		if err != nil {
			return err
		}
		if described.GetName() != "conformance" || described.GetVersion() != "1.2.3" || !strings.Contains(string(described.GetConfigSchema()), `"refuse"`) {
			return fmt.Errorf("it describes itself as %v", described)
		}
		err = p.Configure(ctx, []byte(`{"refuse":"no such region: Nürnberg"}`))
		if s := status.Convert(err); s.Code() != codes.InvalidArgument || !strings.Contains(s.Message(), "no such region: Nürnberg") {
			return fmt.Errorf("a configuration that is to be refused: %v %q, want InvalidArgument and the reason", s.Code(), s.Message())
		}
		return p.Configure(ctx, nil)
	})
}

func endsByShutdown(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, (*Plugin).Close)
}

func endsByShutdownBusy(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		if err := p.occupy(ctx); err != nil {
			return err
		}
		return p.Close()
	})
}

func endsWithStdin(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		_ = p.process.stdin.Close()
		return p.gone(slack*lifeWithin, "the end of standard input")
	})
}

func endsWithStdinBusy(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		if err := p.occupy(ctx); err != nil {
			return err
		}
		_ = p.process.stdin.Close()
		return p.gone(slack*lifeWithin, "the end of standard input")
	})
}

// occupy leaves the plugin with a call that takes a minute.
func (p *Plugin) occupy(ctx context.Context) error {
	asked := &mulliganv1.RunErrorRequest{Failure: &mulliganv1.Failure{Detail: "sleep 60s"}}
	go func() { _, _ = p.service.RunError(ctx, asked) }()
	time.Sleep(200 * time.Millisecond) // until it is there; nothing tells
	return p.healthy(ctx, p.conn)
}

// endsWithParent has a shell between the plugin and us, kills it and keeps the
// plugin's standard input open.
func endsWithParent(ctx context.Context, c Command, mutualTLS bool) error {
	c.Args = append([]string{"sh", "-c", `exec 3<&0; "$@" <&3 3<&- & wait`, "sh"}, c.Args...)
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		if err := p.process.cmd.Process.Kill(); err != nil {
			return err
		}
		if !p.process.over(slack * parentWithin) {
			return fmt.Errorf("alive %v after its parent", slack*parentWithin)
		}
		return nil
	})
}

func ignoresInterrupt(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		if err := syscall.Kill(-p.process.cmd.Process.Pid, syscall.SIGINT); err != nil {
			return err
		}
		if p.process.over(500 * time.Millisecond) {
			return errors.New("it ended")
		}
		return errors.Join(p.healthy(ctx, p.conn), p.Close())
	})
}

func unknownMethod(ctx context.Context, c Command, mutualTLS bool) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		err := p.conn.Invoke(ctx, "/mulligan.v1.RecoveryPlugin/Tomorrow", &emptypb.Empty{}, &emptypb.Empty{})
		if status.Code(err) != codes.Unimplemented {
			return fmt.Errorf("an unknown method: %v, want Unimplemented", status.Code(err))
		}
		return p.Close()
	})
}

func versions(ctx context.Context, c Command, mutualTLS bool) error {
	return speaks(ctx, c, mutualTLS, "7,1,2000000000")
}

func noVersion(ctx context.Context, c Command, mutualTLS bool) error {
	return speaks(ctx, c, mutualTLS, "7")
}

func speaks(ctx context.Context, c Command, mutualTLS bool, offered string) error {
	p, err := start(ctx, c, mutualTLS, cookie, "PLUGIN_PROTOCOL_VERSIONS="+offered)
	if err != nil {
		return err
	}
	defer p.Kill()
	if p.handshake.version != "1" {
		return fmt.Errorf("offered %s, it chose %q", offered, p.handshake.version)
	}
	return nil
}

func byHand(ctx context.Context, c Command, _ bool) error {
	return refusesToStart(ctx, c, func(code int) bool { return code == 1 })
}

func noFolder(ctx context.Context, c Command, _ bool) error {
	missing := filepath.Join(os.TempDir(), "conformance-missing", "folder")
	return refusesToStart(ctx, c, func(code int) bool { return code > 0 }, cookie, "PLUGIN_UNIX_SOCKET_DIR="+missing)
}

func unreadableAuthority(ctx context.Context, c Command, _ bool) error {
	return refusesToStart(ctx, c, func(code int) bool { return code > 0 }, cookie, "PLUGIN_CLIENT_CERT=garbage")
}

// refusesToStart fails unless the plugin ends at once, with a reason on standard
// error and nothing on standard output.
func refusesToStart(ctx context.Context, c Command, wanted func(code int) bool, env ...string) error {
	p, err := launch(c, env...)
	if err != nil {
		return err
	}
	defer p.end()
	line, err := p.firstLine(ctx)
	if err != nil {
		return err
	}
	if line != "" {
		return fmt.Errorf("on standard output: %.200q", line)
	}
	if code := p.status(); !wanted(code) {
		return fmt.Errorf("exit status %d", code)
	}
	if p.stderr.String() == "" {
		return errors.New("nothing on standard error")
	}
	return nil
}

func refusesNone(ctx context.Context, c Command, _ bool) error {
	return refuses(ctx, c, func(p *Plugin) (credentials.TransportCredentials, error) {
		return credentials.NewTLS(trusting(p.handshake.server)), nil
	})
}

func refusesForeign(ctx context.Context, c Command, _ bool) error {
	return refuses(ctx, c, func(p *Plugin) (credentials.TransportCredentials, error) {
		other, err := newAuthority()
		if err != nil {
			return nil, err
		}
		mine, err := other.client()
		return credentials.NewTLS(trusting(p.handshake.server, mine)), err
	})
}

func refusesSelfSigned(ctx context.Context, c Command, _ bool) error {
	return refuses(ctx, c, func(p *Plugin) (credentials.TransportCredentials, error) {
		mine, err := selfSigned()
		return credentials.NewTLS(trusting(p.handshake.server, mine)), err
	})
}

func refusesPlaintext(ctx context.Context, c Command, _ bool) error {
	return refuses(ctx, c, func(*Plugin) (credentials.TransportCredentials, error) { return insecure.NewCredentials(), nil })
}

// refuses fails if a client with the given credentials is answered, or if the plugin
// is worse off for it.
func refuses(ctx context.Context, c Command, creds func(*Plugin) (credentials.TransportCredentials, error)) error {
	return with(ctx, c, true, func(p *Plugin) error {
		offered, err := creds(p)
		if err != nil {
			return err
		}
		conn, err := p.dial(offered)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if err := p.healthy(ctx, conn); err == nil {
			return errors.New("its call was answered")
		}
		return errors.Join(p.healthy(ctx, p.conn), p.Close())
	})
}
