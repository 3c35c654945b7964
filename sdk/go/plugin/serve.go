package plugin

import (
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/mulligan-run/mulligan/internal/protoconv"
)

// Serve answers a host until it goes away. Started by hand, it prints how to use it
// and exits with status 1; if it cannot serve, it exits in the same way with a reason.
func Serve(plugin Plugin, options ...Option) {
	if os.Getenv(protoconv.CookieKey) != protoconv.CookieValue {
		explain(os.Stderr, os.Args[0])
		os.Exit(1)
	}
	if authority := os.Getenv("PLUGIN_CLIENT_CERT"); authority != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(authority)) {
		fmt.Fprintln(os.Stderr, "PLUGIN_CLIENT_CERT holds no certificate") // go-plugin would serve, but refuse every client
		os.Exit(1)
	}
	go followStdin(os.Stdin)
	go followParent(os.Getppid())
	served := false
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: protoconv.ProtocolVersion, MagicCookieKey: protoconv.CookieKey, MagicCookieValue: protoconv.CookieValue,
		},
		Plugins:    goplugin.PluginSet{protoconv.PluginName: newServer(plugin, options)},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server { served = true; return newGRPCServer(options) },
		Logger:     hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
	if !served { // go-plugin has printed why
		os.Exit(1)
	}
}

func newGRPCServer(options []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(protoconv.MaxRequest), grpc.ChainUnaryInterceptor(keepOutput(stderr)))...)
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

// followStdin exits when the host's end of standard input is closed. If standard input
// is neither a pipe nor a socket, it cannot tell and does nothing.
func followStdin(stdin *os.File) {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	_, _ = io.Copy(io.Discard, stdin)
	os.Exit(0)
}

// followParent exits when the process has lost its parent.
func followParent(parent int) {
	for range time.Tick(time.Second) {
		if os.Getppid() != parent {
			os.Exit(0)
		}
	}
}
