package mcp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// playEnv makes the test binary a server that behaves as its value says.
const playEnv = "MULLIGAN_TEST_MCP"

func TestMain(m *testing.M) {
	if play := os.Getenv(playEnv); play != "" {
		playServer(play)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func playServer(play string) {
	switch play {
	case "dead":
		fmt.Fprintln(os.Stderr, "cannot read\x1b[31m my configuration")
		os.Exit(3)
	case "mute":
		_, _ = bufio.NewReader(os.Stdin).WriteTo(discard{})
		return
	case "noisy":
		fmt.Println("Welcome to the server!")
		fmt.Println(`{"level":"info","msg":"listening"}`)
		fmt.Println(strings.Repeat("x", 1<<20))
		fmt.Println(`[1,2,3]`)
	case "endless":
		_, _ = bufio.NewReader(os.Stdin).ReadBytes('\n')
		piece := []byte(strings.Repeat("x", 1<<20))
		for {
			if _, err := os.Stdout.Write(piece); err != nil {
				return
			}
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		defer func() { select {} }()
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "helper", Version: "1"}, nil)
	for _, t := range helperTools() {
		server.AddTool(t.tool, t.run)
	}
	_ = server.Run(context.Background(), &sdk.StdioTransport{})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

type helperTool struct {
	tool *sdk.Tool
	run  handler
}

func helperTools() []helperTool {
	forever := func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return []helperTool{
		{declared("pid", readOnly), says(strconv.Itoa(os.Getpid()))},
		{declared("environment", readOnly), says(strings.Join(os.Environ(), "\n"))},
		{declared("huge", readOnly), says(strings.Repeat("y", 2<<20))},
		{declared("too_huge", readOnly), says(strings.Repeat("y", maxMessage))},
		{declared("work", nil), forever},
		{declared("look", readOnly), forever},
		{declared("stop", nil), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return nil, syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}},
		{declared("flood", readOnly), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for range 20_000 {
				fmt.Println("this is not for you")
				fmt.Fprintln(os.Stderr, "nor is this")
			}
			return says("done")(context.Background(), nil)
		}},
		{declared("child", nil), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			child := exec.Command("sleep", "1000") // what it leaves behind is the point
			if err := child.Start(); err != nil {
				return nil, err
			}
			return says(strconv.Itoa(child.Process.Pid))(context.Background(), nil)
		}},
		{declared("progress", readOnly), func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for i := range 3 {
				_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: req.Params.GetProgressToken(), Message: "counting", Progress: float64(i + 1), Total: 3,
				})
			}
			_ = req.Session.Ping(ctx, nil) // once it is answered, the notes were read
			return says("counted")(ctx, req)
		}},
	}
}

// eventually polls.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 20 s: " + what)
		}
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
