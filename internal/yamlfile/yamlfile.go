package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/mulligan-run/mulligan/internal/redact"
	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// Read returns the content of a settings file, of at most 256 KiB.
func Read(path string) ([]byte, error) {
	return wholefile.Read(path, maxFile)
}

// Decode decodes and checks a document; what is wrong is shown in its lines.
func Decode(source []byte, into interface{ Problem() *Problem }) error {
	if err := decodeStrictly(source, into); err != nil && !errors.Is(err, io.EOF) {
		return errors.New(withoutLogins(yaml.FormatError(reworded(err, into), false, true)))
	}
	if p := into.Problem(); p != nil {
		return errors.New(withoutLogins(p.show(source)))
	}
	return nil
}

func withoutLogins(text string) string { return logins.ReplaceAllString(text, "${1}"+redact.Mark+"@") }

// logins matches logins in URLs and in a proxy's address, in lines that are shown with an
// error.
var logins = regexp.MustCompile(`(://|\bproxy: *["']?)[^\s"']+@`)

// decodeStrictly decodes YAML. The decoder panics on some invalid input.
func decodeStrictly(source []byte, into any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", p)
		}
	}()
	if err := yaml.NewDecoder(bytes.NewReader(source), yaml.Strict(), yaml.DisallowUnknownField()).Decode(into); err != nil {
		return err
	}
	return findFraction(source, into)
}

// Problemf is a problem at a YAML path such as $.plugins[0].
func Problemf(path, format string, args ...any) *Problem {
	return &Problem{path, fmt.Sprintf(format, args...)}
}

// show points at the value in the source.
func (p *Problem) show(source []byte) string {
	text := strings.TrimPrefix(p.path, "$.") + ": " + p.Text
	path, err := yaml.PathString(p.path)
	if err != nil {
		return text
	}
	excerpt, err := path.AnnotateSource(source, false)
	if err != nil {
		return text
	}
	return text + "\n" + string(excerpt)
}

// QuotePath quotes a key for a YAML path.
func QuotePath(key string) string {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`).MatchString(key) {
		return key
	}
	return "'" + strings.ReplaceAll(key, "'", `\'`) + "'"
}

// Problem is a value of the right type that is still invalid.
type Problem struct {
	path string // a YAML path
	Text string
}

// The form of names of configured entries, and of environment variables.
var (
	EntryName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	EnvName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
)

// maxFile bounds a settings file, in bytes.
const maxFile = 256 << 10
