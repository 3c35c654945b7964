package pi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// version is a version of Pi; the zero one is not known.
type version struct{ major, minor, patch int }

// The versions from which on something holds.
var (
	settles = version{0, 80, 4} // agent_settled is the end of a run
	honest  = version{0, 76, 0} // no hidden retries, no calls with arguments that were cut
)

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

func (v version) before(w version) bool {
	if v.major != w.major {
		return v.major < w.major
	}
	if v.minor != w.minor {
		return v.minor < w.minor
	}
	return v.patch < w.patch
}

var versionText = regexp.MustCompile(`(?m)^\D{0,16}(\d{1,6})\.(\d{1,6})\.(\d{1,6})`)

func parseVersion(text []byte) (v version, ok bool) {
	m := versionText.FindSubmatch(text)
	if m == nil {
		return v, false
	}
	for i, part := range []*int{&v.major, &v.minor, &v.patch} {
		*part, _ = strconv.Atoi(string(m[i+1])) // at most six digits
	}
	return v, true
}

const (
	versionTime   = 15 * time.Second // for Pi to say its version
	maxVersionOut = 64 << 10         // bytes
)

// askVersion runs pi --version.
func askVersion(ctx context.Context, cmd func(ctx context.Context, args ...string) *exec.Cmd) (version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	c := cmd(ctx, "--version")
	out := &head{}
	c.Stdout, c.Stderr, c.WaitDelay = out, out, pipeTime // old versions print it on stderr
	if err := procgroup.Start(c); err != nil {
		return version{}, err
	}
	err := c.Wait()
	if v, ok := parseVersion(out.Bytes()); ok {
		return v, nil
	}
	return version{}, errors.Join(fmt.Errorf("%s --version does not say which version it is: %q", c.Path, bytes.TrimSpace(out.Bytes()[:min(out.Len(), 200)])), err)
}

// head keeps the beginning of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(b []byte) (int, error) {
	_, _ = h.Buffer.Write(b[:min(len(b), max(0, maxVersionOut-h.Len()))]) // never fails
	return len(b), nil
}
