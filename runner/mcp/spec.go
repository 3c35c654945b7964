package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// Spec is the configuration of a server. It has either a Command or a URL.
type Spec struct {
	// Name begins the names of its tools: a letter, then letters, digits, '_' and '-',
	// at most 32 characters, without "__" and without '_' at the end.
	Name string
	// Command is the program and its arguments.
	Command []string
	// Dir is where it runs; "" = the working directory of this process. A relative path of a
	// program begins there; a bare name is looked up in PATH.
	Dir string
	// Env is what its process gets in addition to PATH, HOME, LANG and TMPDIR: NAME, from this
	// process's environment, or NAME=value.
	Env []string
	// URL is where a server speaks streamable HTTP: https, or http on the loopback interface.
	URL string
	// Headers are sent with every request. A value contains at least one ${NAME}, which stands for
	// an environment variable, so that a configuration contains no secrets.
	Headers map[string]string
	// Timeout is how long one call may take; 0 = as the run's policy says.
	Timeout time.Duration
	// Safety says, by the server's own tool names, whether calls may be repeated; it overrides what
	// the server says.
	Safety map[string]recovery.Safety
	// Approval lists the tools of which a person has to approve each call, by the server's own
	// names; "*" stands for all.
	Approval []string
	// Needs are labels of the machine that it runs on. Runs with its tools need them: see
	// runner.WithMachine.
	Needs recovery.Labels
	// Include lists the only tools that are offered, by the server's own names; empty = all.
	// Exclude lists tools that are never offered.
	Include, Exclude []string
}

const maxTimeout = 31 * 24 * time.Hour

var (
	serverName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	variable   = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}`)
	setting    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}(=|$)`)
)

// CheckName says what is wrong with the name of a server; nil if nothing is.
func CheckName(name string) error {
	if !serverName.MatchString(name) || strings.Contains(name, separator) || strings.HasSuffix(name, "_") {
		return fmt.Errorf("%q is not a name for an MCP server: use a letter, then at most 31 letters, digits, '-' and single '_' between them", name)
	}
	return nil
}

// Check says what is wrong with a Spec; nil if nothing is. It starts nothing.
func (s Spec) Check() error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return fmt.Errorf("MCP server %s: %w", s.Name, err)
	}
	return nil
}

func (s Spec) check() error {
	switch {
	case (len(s.Command) == 0) == (s.URL == ""):
		return errors.New("it needs either a command or a url")
	case len(s.Command) > 0 && s.Command[0] == "":
		return errors.New("its command is empty")
	case len(s.Command) > 0 && len(s.Headers) > 0:
		return errors.New("headers are for a url; a command gets its secrets by env")
	case s.URL != "" && len(s.Env) > 0:
		return errors.New("env is for a command; a url gets its secrets by headers")
	case s.Timeout < 0 || s.Timeout > maxTimeout:
		return fmt.Errorf("its timeout %v is not between 0 and 31 days", s.Timeout)
	}
	for _, e := range s.Env {
		if !setting.MatchString(e) {
			return errors.New("env has entries that are neither NAME nor NAME=value")
		}
	}
	return errors.Join(s.checkURL(), s.checkHeaders(), s.checkSafety())
}

func (s Spec) checkURL() error {
	if s.URL == "" {
		return nil
	}
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "":
		return errors.New("its url is not one: write https://host/path")
	case u.User != nil:
		return errors.New("its url has a user or password in it; use headers")
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return fmt.Errorf("its url begins with %s://; it must be https, or http to this machine itself", u.Scheme)
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func (s Spec) checkHeaders() error {
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		switch value := s.Headers[name]; {
		case !headerName.MatchString(name):
			return fmt.Errorf("%q is not the name of a header", name)
		case !variable.MatchString(value) || strings.ContainsAny(value, "\r\n"):
			return fmt.Errorf("the value of header %s names no variable of the environment: write for example \"Bearer ${TOKEN}\"", name)
		}
	}
	return nil
}

func (s Spec) checkSafety() error {
	for _, tool := range slices.Sorted(maps.Keys(s.Safety)) {
		switch s.Safety[tool] {
		case recovery.SafetyUnsafe, recovery.SafetyIdempotent, recovery.SafetyReadOnly:
		default:
			return fmt.Errorf("the safety of %s is %q; there are: %s, %s, and empty for unsafe", tool, s.Safety[tool], recovery.SafetyReadOnly, recovery.SafetyIdempotent)
		}
	}
	return nil
}

// offers reports whether the configuration wants a tool.
func (s Spec) offers(tool string) bool {
	return (len(s.Include) == 0 || slices.Contains(s.Include, tool)) && !slices.Contains(s.Exclude, tool)
}

// where names the command or the URL, for people.
func (s Spec) where() string {
	if s.URL != "" {
		return s.URL
	}
	return printable(strings.Join(s.Command, " "), 200)
}
