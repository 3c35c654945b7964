package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mulligan-run/mulligan/internal/wire"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// TestMain lets the test binary play the plugin.
func TestMain(m *testing.M) {
	fault := os.Getenv("FAULT")
	if fault == "" {
		os.Exit(m.Run())
	}
	leaveTrace()
	switch fault {
	case "a host":
		hostProcess()
	case "raw":
		serveRaw()
	case "bare":
		fmt.Fprintln(os.Stderr, bareServer())
		os.Exit(1)
	case "garbage":
		fmt.Println("Welcome to my plugin!")
	case "silent":
		time.Sleep(time.Hour)
	case "tcp":
		fmt.Println("1|1|tcp|192.0.2.1:80|grpc|" + strings.Repeat("A", 60))
		time.Sleep(time.Hour)
	case "uncertified":
		fmt.Println("1|1|unix|" + os.Getenv("PLUGIN_UNIX_SOCKET_DIR") + "/s|grpc")
		time.Sleep(time.Hour)
	case "exit at start":
		os.Exit(3)
	}
	plugin.Serve(plugin.Func(faulty), plugin.WithVersion("1.2.3"),
		plugin.WithConfigSchema(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`))
}

// leaveTrace writes a file named after the process into the folder TRACE: its
// environment and its open files.
func leaveTrace() {
	dir := os.Getenv("TRACE")
	if dir == "" {
		return
	}
	trace := os.Environ()
	files, _ := os.ReadDir("/proc/self/fd")
	for _, f := range files {
		if target, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil {
			trace = append(trace, "fd "+f.Name()+" "+target)
		}
	}
	_ = os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), []byte(strings.Join(trace, "\n")), 0o600)
}

// hostProcess is a host that starts the plugin PLUGIN and says so.
func hostProcess() {
	h := New()
	err := h.Add(Spec{Name: "p", Command: []string{os.Args[0]}, Env: []string{"FAULT=" + os.Getenv("PLUGIN")}})
	if err == nil {
		err = h.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(h.Statuses()[0].PID)
	time.Sleep(time.Hour)
}

// raw is a server without our SDK: it neither follows its parent nor makes its
// answers valid.
type raw struct {
	goplugin.NetRPCUnsupportedPlugin
	mulliganv1.UnimplementedRecoveryPluginServer
}

func serveRaw() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: wire.ProtocolVersion, MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue,
		},
		Plugins:    goplugin.PluginSet{wire.PluginName: &raw{}},
		GRPCServer: goplugin.DefaultGRPCServer,
	})
}

func (r *raw) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	mulliganv1.RegisterRecoveryPluginServer(g, r)
	return nil
}

func (*raw) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("not a host")
}

func (*raw) Describe(context.Context, *mulliganv1.DescribeRequest) (*mulliganv1.DescribeResponse, error) {
	return &mulliganv1.DescribeResponse{}, nil
}

func (*raw) Configure(context.Context, *mulliganv1.ConfigureRequest) (*mulliganv1.ConfigureResponse, error) {
	return &mulliganv1.ConfigureResponse{}, nil
}

// RunError sends a reason that is not UTF-8, past all checks of the encoder.
func (*raw) RunError(context.Context, *mulliganv1.RunErrorRequest) (*mulliganv1.RunErrorResponse, error) {
	m := &mulliganv1.RunErrorResponse{Action: mulliganv1.Action_ACTION_RETRY}
	field := m.ProtoReflect().Descriptor().Fields().ByName("reason").Number()
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, field, protowire.BytesType), []byte("no\xff")))
	return m, nil
}

var inside, most atomic.Int64

// gate waits for the file GATE and tells how many waited with it at most.
func gate() string {
	n := inside.Add(1)
	defer inside.Add(-1)
	for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
	}
	for {
		if _, err := os.Stat(os.Getenv("GATE")); err == nil {
			return strconv.FormatInt(most.Load(), 10)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func faulty(ctx context.Context, e plugin.Event) (plugin.Decision, error) {
	answer := plugin.Retry(time.Second).Because("ok")
	switch os.Getenv("FAULT") {
	case "panic":
		panic("boom")
	case "crash":
		go func() { panic("boom") }()
		time.Sleep(time.Hour)
	case "exit":
		fmt.Fprintln(os.NewFile(2, "stderr"), "last words")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	case "big":
		answer.Reason = strings.Repeat("x", 8<<20)
	case "utf-8":
		answer.Actions = []recovery.Button{{Kind: "\xff", Label: "\xff"}}
	case "enum":
		answer.Action = "dance"
	case "negative":
		answer.Delay = -time.Second
	case "flood":
		stderr := os.NewFile(2, "stderr")
		for range 20_000 {
			fmt.Fprintln(stderr, `{"@message": 42}`)
		}
	case "grandchild":
		child := exec.Command("sleep", "300")
		child.Stdout, child.Stderr = os.NewFile(1, "stdout"), os.NewFile(2, "stderr")
		if err := child.Start(); err != nil {
			return answer, err
		}
		os.Exit(4)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour) // the signal may take effect a little later
	case "gate":
		answer.Reason = gate()
	}
	return answer, nil
}
