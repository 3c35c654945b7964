package pi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// version is a version of Pi; the zero one is unknown.
type version struct{ major, minor, patch int }

// The first versions in which something holds.
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
	versionTime   = 15 * time.Second // for Pi to print its version
	maxVersionOut = 64 << 10         // bytes
)

// askVersion runs pi --version.
func askVersion(ctx context.Context, program procgroup.Program) (version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	out, errs := &head{}, &head{}
	program.Stdin, program.Stdout, program.Stderr = strings.NewReader(""), out, errs
	p, err := procgroup.Start(program)
	if err != nil {
		return version{}, err
	}
	how := p.Wait(ctx, 0)
	said := slices.Concat(out.Bytes(), errs.Bytes()) // old versions print it on stderr
	if v, ok := parseVersion(said); ok {
		return v, nil
	}
	err = fmt.Errorf("%s --version does not say which version it is: %q", program.Path, bytes.TrimSpace(said[:min(len(said), 200)]))
	if how == procgroup.Ended {
		return version{}, errors.Join(err, p.Err())
	}
	return version{}, errors.Join(err, context.Cause(ctx))
}

// head keeps the beginning of what is written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(b []byte) (int, error) {
	_, _ = h.Buffer.Write(b[:min(len(b), max(0, maxVersionOut-h.Len()))]) // never fails
	return len(b), nil
}
