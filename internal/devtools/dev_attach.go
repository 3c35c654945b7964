package devtools

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/protoconv"
	"github.com/mulligan-run/mulligan/show"
)

// maxHandshake bounds the first line that a plugin prints, in bytes.
const maxHandshake = 4 << 10

// attach prints the environment with which a person starts the plugin, and uses the
// latest plugin that has written its first line into the watched file.
func (d *Session) attach(ctx context.Context, sockets string) error {
	line, environment := filepath.Join(d.Dir, "dev", d.Entry.Name+".line"), filepath.Join(d.Dir, "dev", d.Entry.Name+".env")
	variables := fmt.Sprintf("%s=%s\nPLUGIN_PROTOCOL_VERSIONS=%d\nPLUGIN_UNIX_SOCKET_DIR=%s\n",
		protoconv.CookieKey, protoconv.CookieValue, protoconv.ProtocolVersion, show.ShellQuote(sockets))
	if err := os.WriteFile(environment, []byte(variables), 0o600); err != nil {
		return err
	}
	defer func() {
		_ = os.Remove(environment)
		_ = os.Remove(line)
	}()
	_ = os.Remove(line) // from an earlier session
	d.Screen.Line("Start the plugin, for example under a debugger, with this environment and its output in that file.")
	d.Screen.Line("Calls have " + d.Entry.AnswerWithin().String() + " each: what stands at a breakpoint for longer is an answer that is missed.")
	d.Screen.Line("  set -a; . " + show.ShellQuote(environment) + "; set +a")
	d.Screen.Line("  YOUR-PLUGIN > " + show.ShellQuote(line))
	for last := ""; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(devPoll):
		}
		first := firstLine(line)
		if first == "" || first == last {
			continue
		}
		last = first
		address, err := attachedAddress(first, sockets)
		if err != nil {
			d.trouble(err)
			continue
		}
		d.meet(ctx, address)
	}
}

// meet makes the plugin at that address the one that is asked.
func (d *Session) meet(ctx context.Context, address string) {
	d.spec.Address = (&url.URL{Scheme: "unix", Path: address}).String()
	var err error
	if len(d.Plugins.Statuses()) > 0 {
		err = d.Plugins.Reload(ctx, d.spec)
	} else if err = d.Plugins.Add(d.spec); err == nil {
		err = d.Plugins.Start(ctx)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		d.trouble(err)
	default:
		d.started("is attached")
	}
}

// firstLine is the first line of the file, "" until it is complete.
func firstLine(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	text, _ := io.ReadAll(io.LimitReader(file, maxHandshake))
	line, _, whole := bytes.Cut(text, []byte{'\n'})
	if !whole {
		return ""
	}
	return strings.TrimSpace(string(line))
}

// attachedAddress is the address of the plugin that printed this line.
func attachedAddress(line, sockets string) (string, error) {
	fields := strings.Split(line, "|")
	switch {
	case len(fields) < 5 || fields[0] != "1" || fields[4] != "grpc": //nolint:mnd // core version, version, network, address, protocol
		return "", fmt.Errorf("the first line of its output is not a handshake: %s", show.Excerpt(line))
	case fields[1] != strconv.Itoa(protoconv.ProtocolVersion):
		return "", fmt.Errorf("the plugin speaks version %s of the plugin service, this program version %d", show.Excerpt(fields[1]), protoconv.ProtocolVersion)
	case fields[2] != "unix" || filepath.Dir(fields[3]) != sockets:
		return "", fmt.Errorf("the plugin listens at %s, not in the folder %s: was it started with the environment above?", show.Excerpt(fields[2]+" "+fields[3]), sockets)
	}
	return fields[3], nil
}
