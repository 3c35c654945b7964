package plugininstall

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/internal/terminal"
)

// Limits on a package manager.
const (
	runFor      = 15 * time.Minute
	runGrace    = 5 * time.Second
	reportEvery = 10 * time.Second
	maxOutput   = 4 << 20 // bytes of its output
	maxLastWord = 600     // bytes of its error
)

// settings are the prefixes of package managers' variables, with which people configure
// registries. No provider's key begins like them.
var settings = []string{
	"PIP_", "npm_config_", "NPM_CONFIG_", "GO", "CARGO_", "RUSTUP_",
	"HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=", "http_proxy=", "https_proxy=", "no_proxy=", "SSL_CERT_", "NODE_EXTRA_CA_CERTS=",
}

// tool is a package manager to run.
type tool struct {
	program string
	name    string // for people; "" = the program's
	args    []string
	dir     string
	env     []string // in addition to what every program gets, as NAME=value
	needs   string   // what a person must install if it is missing
}

// run runs a package manager, without a terminal or a shell, and returns its output.
func (in *Installer) run(ctx context.Context, t tool) ([]byte, error) {
	path, err := procgroup.LookUp(t.program, "")
	if err != nil {
		return nil, fmt.Errorf("this needs %s, and %s is not on the PATH", t.needs, t.program)
	}
	ctx, cancel := context.WithTimeout(ctx, runFor)
	defer cancel()
	said, complained := procgroup.NewTail(maxOutput), procgroup.NewTail(maxOutput)
	name := cmp.Or(t.name, filepath.Base(t.program))
	p, err := procgroup.Start(procgroup.Program{
		Path: path, Args: append([]string{t.program}, t.args...), Dir: t.dir, Env: environment(t.env),
		Stdin: strings.NewReader(""), Stdout: said, Stderr: complained,
	})
	if err != nil {
		return nil, err
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		in.report(name, p, complained)
	}()
	how := p.Wait(ctx, runGrace)
	<-watched
	switch {
	case context.Cause(ctx) == context.DeadlineExceeded: //nolint:errorlint // it is our own
		return nil, fmt.Errorf("%s did not finish within %s, and was ended", name, runFor)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case how != procgroup.Ended || p.Err() != nil:
		return nil, fmt.Errorf("%s failed: %s", name, lastWords(complained.Bytes(), said.Bytes()))
	}
	return said.Bytes(), nil
}

// report says from time to time that a program is still running.
func (in *Installer) report(name string, p *procgroup.Process, complained *procgroup.Tail) {
	began := time.Now()
	for !procgroup.Within(p.Exited(), reportEvery) {
		line := fmt.Sprintf("  %s is at it, for %s", name, time.Since(began).Round(time.Second))
		if last := lastWords(complained.Bytes(), nil); last != "" {
			line += ": " + last
		}
		in.Tell(line)
	}
}

// environment is what every program gets, and the variables that configure registries.
func environment(more []string) []string {
	var also []string
	for _, variable := range os.Environ() {
		for _, lead := range settings {
			if strings.HasPrefix(variable, lead) {
				also = append(also, variable)
				break
			}
		}
	}
	return procgroup.Environment(append(also, more...)...)
}

// logins matches logins in addresses, which a package manager may print.
var logins = regexp.MustCompile(`://[^\s/@]+@`)

// lastWords are the last lines of the first output that has any, as one line.
func lastWords(outputs ...[]byte) string {
	for _, output := range outputs {
		output = bytes.TrimSpace(output)
		if len(output) == 0 {
			continue
		}
		if over := len(output) - maxLastWord; over > 0 {
			output = output[over:]
			if at := bytes.IndexByte(output, '\n'); at >= 0 {
				output = output[at+1:]
			}
		}
		return logins.ReplaceAllString(terminal.OneLine(string(output)), "://…@")
	}
	return ""
}
