package plugin

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/mulligan-run/mulligan/internal/wire"
)

// Serve answers a host until it goes away. Started by hand, it says how it is used
// and exits with status 1.
func Serve(plugin Plugin, options ...Option) {
	if os.Getenv(wire.CookieKey) != wire.CookieValue {
		explain(os.Stderr, os.Args[0])
		os.Exit(1)
	}
	go followStdin(os.Stdin)
	go followParent(os.Getppid())
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: wire.ProtocolVersion, MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue,
		},
		Plugins:    goplugin.PluginSet{wire.PluginName: newServer(plugin, options)},
		GRPCServer: newGRPCServer,
		Logger:     hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
}

func newGRPCServer(options []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(wire.MaxRequest))...)
}

func explain(w io.Writer, program string) {
	name := filepath.Base(program)
	fmt.Fprintf(w, `%s is a Mulligan recovery plugin: it is not run by hand, a host starts it.
Name it in mulligan.yaml

    plugins:
      - name: %s
        command: [%s]

and see with "mulligan plugin list" whether it starts.
`, name, name, program)
}

// followStdin exits when the host's end of the life line is closed. Where standard
// input is no pipe there is no life line.
func followStdin(stdin *os.File) {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	_, _ = io.Copy(io.Discard, stdin)
	os.Exit(0)
}

// followParent exits when the process was left to another parent.
func followParent(parent int) {
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			os.Exit(0)
		}
	}
}
