package main

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
)

// corrections are what somebody knows better of failures than the classifier: the rows of
// mulligan.yaml, and after them those that were learned, which are in a file of their own in
// the state folder. That one is looked at again at every failure, so that what another
// process learns holds here as well. It is safe for concurrent use.
type corrections struct {
	own  []failure.LocalRow
	file string // of what was learned; "" = there is no place for one

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

// corrections reads what is corrected by this configuration.
func (c *config) corrections(env func(string) string) (*corrections, error) {
	k := &corrections{own: failureRows(c.Failures, c.path)}
	if dir, err := c.stateDir(env); err == nil {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		k.file = filepath.Join(dir, learnedName)
	}
	_, err := k.current()
	return k, err
}

// Classify is failure.Classify under the rows that there are now.
func (k *corrections) Classify(e failure.Evidence) *failure.Failure {
	return k.local().Classify(e)
}

// local are the rows that there are now; of a file that somebody broke, those that it had.
func (k *corrections) local() *failure.Local {
	table, err := k.current()
	if err != nil {
		slog.Warn("the learned failures cannot be read and stay as they were", "error", err)
	}
	return table
}

// current reads the file again if it has changed. It gives an error once for each change.
func (k *corrections) current() (*failure.Local, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.file)
	if err != nil {
		info = nil
	}
	if k.read && unchanged(info, k.seen) {
		return k.table, nil
	}
	k.seen, k.read = info, true
	entries, err := readLearned(k.file)
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

// rows are all of them with these learned ones.
func (k *corrections) rows(learned []failureEntry) []failure.LocalRow {
	return slices.Concat(k.own, failureRows(learned, k.file))
}

// with are the rows as they would be if this one were learned.
func (k *corrections) with(e failureEntry) (*failure.Local, error) {
	entries, err := readLearned(k.file)
	if err != nil {
		return nil, err
	}
	return failure.NewLocal(k.rows(withEntry(entries, e)))
}

// withEntry puts an entry before all others, in the place of one with the same marks.
func withEntry(entries []failureEntry, e failureEntry) []failureEntry {
	others := slices.DeleteFunc(slices.Clone(entries), func(other failureEntry) bool { return other.marks() == e.marks() })
	return append([]failureEntry{e}, others...)
}

// learn writes an entry into the file, as its first row.
func (k *corrections) learn(e failureEntry) error {
	return k.change(func(entries []failureEntry) ([]failureEntry, error) {
		entries = withEntry(entries, e)
		if len(entries) > maxFailures {
			return nil, fmt.Errorf("%s has %d rows, which is all that it may have: delete what is no longer needed", k.file, maxFailures)
		}
		return entries, nil
	})
}

var errNotLearned = errors.New("no learned row fits it, so that there is nothing to forget")

// forget takes the first entry out of the file that fits the failure, and gives it.
func (k *corrections) forget(e failure.Evidence) (gone failureEntry, err error) {
	err = k.change(func(entries []failureEntry) ([]failureEntry, error) {
		for i := range entries {
			row, err := failure.NewLocal(failureRows(entries[i:i+1], k.file))
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
func (k *corrections) change(how func([]failureEntry) ([]failureEntry, error)) error {
	if k.file == "" {
		return errors.New("there is no place for what is learned: HOME is not set; set it or XDG_STATE_HOME, or say --state DIR")
	}
	if err := os.MkdirAll(filepath.Dir(k.file), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(k.file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // which unlocks; nothing was written
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	entries, err := readLearned(k.file)
	if err != nil {
		return err
	}
	if entries, err = how(entries); err != nil {
		return err
	}
	return writeLearned(k.file, entries)
}

// learned is the file of learned rows, which could be a part of mulligan.yaml.
type learned struct {
	Failures []failureEntry `yaml:"failures"`
}

func (l *learned) problem() *problem { return failureProblem(l.Failures) }

// readLearned reads the file, which need not be there.
func readLearned(path string) ([]failureEntry, error) {
	source, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &learned{}
	if err := readStrictly(source, l); err != nil {
		return nil, usagef("%s: %w\nMend it, or delete it: what was learned is forgotten then", path, err)
	}
	return l.Failures, nil
}

func writeLearned(path string, entries []failureEntry) error {
	var b strings.Builder
	b.WriteString(learnedHead)
	for _, e := range entries {
		b.WriteString("  " + e.line() + "\n")
	}
	next, err := os.CreateTemp(filepath.Dir(path), learnedName+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = next.WriteString(b.String())
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
