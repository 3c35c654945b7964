package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/wholefile"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Corrections are a user's corrections of the classifier: the rows of mulligan.yaml, and after
// them the learned rows, which are in a file of their own in the state folder. That file is
// checked at every failure, so that what another process learns applies here as well. It is safe
// for concurrent use.
type Corrections struct {
	own  []failure.LocalRow
	File string // of learned rows; "" = there is no place for one

	mu    sync.Mutex
	table *failure.Local
	seen  os.FileInfo // of the file when it was read; nil = there was none
	read  bool
}

// learnedName is the file of learned rows in the state folder.
const learnedName = "failures.yaml"

// learnedHead begins the file of learned rows.
const learnedHead = `# What failures are called here because somebody said so: with "mulligan explain --learn",
# or "Wrong? Call it …" on the page. The first row that fits a failure decides its kind; rows
# below failures: in mulligan.yaml come before all of these. Edit it or delete rows as you
# like: it is read again at the next failure. Remarks of yours are lost when a row is learned.
failures:
`

// LearnedFailures reads the corrections of this configuration.
func (c *Config) LearnedFailures(env func(string) string) (*Corrections, error) {
	k := &Corrections{own: FailureRows(c.Failures, c.Path)}
	if dir, err := c.StateDir(env); err == nil {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		k.File = filepath.Join(dir, learnedName)
	}
	_, err := k.current()
	return k, err
}

// Classify is failure.Classify with the current rows above it.
func (k *Corrections) Classify(e failure.Evidence) *failure.Failure {
	return k.Local().Classify(e)
}

// Local is the current rows; if the file has become invalid, those that it had before.
func (k *Corrections) Local() *failure.Local {
	table, err := k.current()
	if err != nil {
		slog.Warn("the learned failures cannot be read and stay as they were", "error", err)
	}
	return table
}

// current reads the file again if it has changed. It returns an error once for each change.
func (k *Corrections) current() (*failure.Local, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.File)
	if err != nil {
		info = nil
	}
	if k.read && unchanged(info, k.seen) {
		return k.table, nil
	}
	k.seen, k.read = info, true
	entries, err := readLearned(k.File)
	if err != nil {
		return k.table, err
	}
	table, err := failure.NewLocal(k.rows(entries))
	if err != nil {
		return k.table, err
	}
	k.table = table
	return table, nil
}

func unchanged(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// rows are all rows, with these learned ones.
func (k *Corrections) rows(learned []Failure) []failure.LocalRow {
	return slices.Concat(k.own, FailureRows(learned, k.File))
}

// with returns the rows as they would be after learning e.
func (k *Corrections) with(e Failure) (*failure.Local, error) {
	entries, err := readLearned(k.File)
	if err != nil {
		return nil, err
	}
	return failure.NewLocal(k.rows(withEntry(entries, e)))
}

// withEntry puts an entry first, replacing one with the same marks.
func withEntry(entries []Failure, e Failure) []Failure {
	others := slices.DeleteFunc(slices.Clone(entries), func(other Failure) bool { return other.marks() == e.marks() })
	return append([]Failure{e}, others...)
}

// learn writes an entry into the file, as its first row.
func (k *Corrections) learn(e Failure) error {
	return k.change(func(entries []Failure) ([]Failure, error) {
		entries = withEntry(entries, e)
		if len(entries) > maxFailures {
			return nil, fmt.Errorf("%s has %d rows, which is the most it may have: delete what is no longer needed", k.File, maxFailures)
		}
		return entries, nil
	})
}

var errNotLearned = errors.New("no learned row matches it, so there is nothing to forget")

// forget removes the first entry from the file that fits the failure, and returns it.
func (k *Corrections) forget(e failure.Evidence) (gone Failure, err error) {
	err = k.change(func(entries []Failure) ([]Failure, error) {
		for i := range entries {
			row, err := failure.NewLocal(FailureRows(entries[i:i+1], k.File))
			if err != nil {
				return nil, err
			}
			if row.Fits(e) {
				gone = entries[i]
				return slices.Delete(entries, i, i+1), nil
			}
		}
		return nil, errNotLearned
	})
	return gone, err
}

// change replaces the file as a whole, one process at a time.
func (k *Corrections) change(how func([]Failure) ([]Failure, error)) error {
	if k.File == "" {
		return errors.New("there is nowhere to keep what is learned: HOME is not set; set it or XDG_STATE_HOME, or give --state DIR")
	}
	if err := os.MkdirAll(filepath.Dir(k.File), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(k.File+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // closing unlocks it; nothing was written
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	entries, err := readLearned(k.File)
	if err != nil {
		return err
	}
	if entries, err = how(entries); err != nil {
		return err
	}
	return writeLearned(k.File, entries)
}

// learned is the file of learned rows; it has the form of a part of mulligan.yaml.
type learned struct {
	Failures []Failure `yaml:"failures"`
}

func (l *learned) Problem() *yamlfile.Problem { return failureProblem(l.Failures) }

// readLearned reads the file, which may be missing.
func readLearned(path string) ([]Failure, error) {
	source, err := yamlfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &learned{}
	if err := yamlfile.Decode(source, l); err != nil {
		return nil, exit.Usagef("%s: %w\nMend it, or delete it: what was learned is forgotten then", path, err)
	}
	return l.Failures, nil
}

func writeLearned(path string, entries []Failure) error {
	var b strings.Builder
	b.WriteString(learnedHead)
	for _, e := range entries {
		b.WriteString("  " + e.Line() + "\n")
	}
	return wholefile.ReplaceDurably(path, []byte(b.String()), 0o600)
}
