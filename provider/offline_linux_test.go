package provider_test

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/provider"
)

const withoutNetwork = "MULLIGAN_TEST_WITHOUT_NETWORK"

// TestOffline runs itself where the kernel has no network to offer.
func TestOffline(t *testing.T) {
	if os.Getenv(withoutNetwork) != "" {
		offlineHere(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOffline$", "-test.v")
	cmd.Env = append(os.Environ(), withoutNetwork+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("a network namespace:", err)
		}
		t.Skip("NOT TESTED: no network namespaces here:", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.Bytes())
	}
}

func offlineHere(t *testing.T) {
	s, err := provider.New(append(provider.Defaults(),
		provider.Entry{Name: "private", Type: provider.TypeOpenAI, BaseURL: "http://10.1.2.3/v1", AllowPrivate: true},
		provider.Entry{Name: "proxied", Type: provider.TypeOpenAI, Proxy: "http://192.0.2.8:3128"},
	), provider.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"anthropic/m", "gemini/m", "private/m", "proxied/m"} {
		begun := time.Now()
		if !s.Offline(t.Context(), []string{model, "openai/m"}) {
			t.Errorf("%s: online, without a network", model)
		}
		t.Logf("%s: offline, known after %s", model, time.Since(begun))
	}
	if s.Offline(t.Context(), []string{"anthropic/m", "ollama/m"}) {
		t.Error("a model of this machine is offline")
	}
}
