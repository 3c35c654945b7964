package bench

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// litellm is where bench/clients/install puts LiteLLM's proxy.
const litellm = "../.cache/clients/litellm/bin/litellm"

// BenchmarkProxyLiteLLM measures the call of BenchmarkProxy through LiteLLM's proxy, which stores
// nothing here, in turns with the same call made directly.
func BenchmarkProxyLiteLLM(b *testing.B) {
	if _, err := os.Stat(litellm); err != nil {
		b.Skipf("NOT MEASURED: LiteLLM is not installed: bench/clients/install litellm (%v)", err)
	}
	url := process(b, "proxied")
	dial := (&net.Dialer{}).DialContext
	through, direct := newBare(startLiteLLM(b, url), dial), newBare(url, dial)
	var proxied, bare calls
	check := func(text string, err error) {
		if err != nil || text != longText {
			b.Fatalf("got %q, %v", text, err)
		}
	}
	for b.Loop() {
		proxied.time(b, func() { check(through.ask(b.Context(), long, "hi")) })
		bare.time(b, func() { check(direct.ask(b.Context(), long, "hi")) })
	}
	proxied.spans.report(b, "")
	bare.spans.report(b, base)
}

// startLiteLLM starts the proxy in front of the provider at url and returns the proxy's address.
func startLiteLLM(b *testing.B, url string) string {
	b.Helper()
	dir := b.TempDir()
	models := "model_list: [{model_name: " + long + ", litellm_params: {model: openai/" + long + ", api_base: \"" + url + "/v1\", api_key: sk-bench}}]\n"
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(models), 0o600); err != nil {
		b.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	ctx, stop := context.WithCancel(b.Context())
	cmd := exec.CommandContext(ctx, litellm, "--config", file, "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--telemetry", "False")
	cmd.Env = append(os.Environ(), "LITELLM_LOCAL_MODEL_COST_MAP=True", "LITELLM_LOG=ERROR", "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true", "HOME="+dir)
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stop()
		_ = cmd.Wait()
	})
	own := "http://127.0.0.1:" + strconv.Itoa(port)
	if err := answers(b.Context(), own+"/health/liveliness", 2*time.Minute); err != nil {
		b.Fatal("LiteLLM does not answer: ", err)
	}
	return own
}

// answers waits until a GET returns 200.
func answers(ctx context.Context, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			err = errors.New(resp.Status)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
