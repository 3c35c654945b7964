package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// TestMain lets the test binary play the plugin.
func TestMain(m *testing.M) {
	switch os.Getenv("FAULT") {
	case "":
		os.Exit(m.Run())
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
		fmt.Println("1|1|unix|/tmp/x|grpc")
		time.Sleep(time.Hour)
	case "exit at start":
		os.Exit(3)
	}
	plugin.Serve(plugin.Func(faulty), plugin.WithVersion("1.2.3"),
		plugin.WithConfigSchema(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`))
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
	case "environment":
		answer.Reason = strings.Join(os.Environ(), " ")
	}
	return answer, nil
}
