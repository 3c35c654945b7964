package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/internal/nanos"
	"github.com/mulligan-run/mulligan/timeline/timelinetest"
)

// childFolder makes the test binary an owner process on that folder.
const childFolder = "TIMELINE_TEST_CHILD_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		child(dir)
	}
	os.Exit(m.Run())
}

// child claims a run for an hour, appends, says so, and stays until it is killed.
func child(dir string) {
	ctx := context.Background()
	s, err := Open(ctx, dir)
	if err == nil {
		var l timeline.Lease
		if l, err = s.Claim(ctx, "r", "child", time.Hour); err == nil {
			err = s.Append(ctx, l, 0, noted("r", 1))
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

func noted(run string, seq uint64) recovery.Event {
	return recovery.Event{Run: run, Seq: seq, Time: time.Unix(int64(seq), 0).UTC(), Body: recovery.Noted{Topic: "progress"}}
}

// opened is a store with its journal, through which all is done that a journal does.
type opened struct {
	*timeline.Journal
	inner
}

type inner struct{ *store }

func open(t testing.TB, dir string) opened {
	t.Helper()
	s, err := openStore(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	j := timeline.NewJournal(s)
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened{j, inner{s}}
}

func TestStore(t *testing.T) {
	timelinetest.Run(t, func(t *testing.T) timeline.Log { return open(t, t.TempDir()) }, timelinetest.Options{
		Reopen: func(t *testing.T, old timeline.Log) timeline.Log {
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, old.(opened).dir)
		},
	})
}

func TestPrimitives(t *testing.T) {
	timelinetest.Store(t, func(t *testing.T) timeline.Store {
		s, err := openStore(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// TestCloseLetsGo: a store that was closed holds no file, and has brought everything into
// its one.
func TestCloseLetsGo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := s.Claim(t.Context(), "r", "a", time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "timeline.db*"))
	if err != nil || len(files) != 1 {
		t.Errorf("there is %v, %v", files, err)
	}
}

func TestPermissions(t *testing.T) {
	for _, umask := range []int{0, 0o277} {
		dir := filepath.Join(t.TempDir(), "state", "mulligan")
		if err := os.Mkdir(filepath.Dir(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		old := syscall.Umask(umask)
		s, err := Open(t.Context(), dir)
		if err == nil {
			_, err = s.Claim(t.Context(), "r", "a", time.Hour)
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if err == nil && info.Mode().Perm() != want {
				t.Errorf("umask %o: %s has mode %o", umask, name, info.Mode().Perm())
			}
			return err
		})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestOthersMayWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("open: %v", err)
	}
}

func TestNewerSchema(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "timeline.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("PRAGMA user_version = 99")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "newer version (schema 99") {
		t.Errorf("open: %v", err)
	}
}

// TestOlderSchema opens a store of schema 1, in which nothing said what is due.
func TestOlderSchema(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1_772_000_000, 5).UTC()
	until := at.Add(time.Hour)
	reset := recovery.Waiting{ID: "w", For: recovery.WaitReset, Until: until}
	asks := recovery.Suggested{Suggestion: recovery.Suggestion{SuggestedAction: recovery.ActionRetry, ID: "s", ExpiresAt: until}}
	runs := []struct {
		run    string
		bodies []recovery.Body
		what   recovery.WaitFor
		due    time.Time
	}{
		{"parked", []recovery.Body{recovery.Started{}, recovery.Failed{}, reset}, recovery.WaitReset, until},
		{"asks", []recovery.Body{recovery.Started{}, asks}, "", until},
		{"stored", []recovery.Body{recovery.Started{}, recovery.Paused{}}, recovery.WaitStore, at},
		{"crashed", []recovery.Body{recovery.Started{}, recovery.Began{}}, "", at},
		{"ended", []recovery.Body{recovery.Started{}, recovery.Ended{Status: recovery.StatusCompleted}}, "", time.Time{}},
		{"empty", nil, "", time.Time{}},
	}
	writeOlder(t, dir, func(db *sql.DB) error {
		for n, r := range runs {
			var s timeline.Summary
			for i, b := range r.bodies {
				e := recovery.Event{Run: r.run, Seq: uint64(i) + 1, Time: at, Body: b}
				s.Apply(e)
				stored, err := json.Marshal(e)
				if err != nil {
					return err
				}
				if _, err := db.Exec("INSERT INTO events (run, seq, event) VALUES (?, ?, ?)", n+1, e.Seq, stored); err != nil {
					return err
				}
			}
			_, err := db.Exec(`INSERT INTO runs (n, run, epoch, owner, lock, expires, seq, status, updated_at, waiting_until, suggestion_open, asking, ended)
				VALUES (?, ?, 1, '', '', 0, ?, ?, ?, ?, ?, ?, ?)`,
				n+1, r.run, s.Seq, string(s.Status), nanos.Of(s.UpdatedAt), nanos.Of(s.WaitingUntil), s.SuggestionOpen, s.Asking, s.Ended)
			if err != nil {
				return err
			}
		}
		return nil
	})
	s := open(t, dir)
	list, err := s.List(t.Context(), timeline.Query{})
	if err != nil || len(list) != len(runs)-1 {
		t.Fatalf("list: %+v, %v", list, err)
	}
	for i, got := range list {
		want := runs[len(list)-1-i]
		if got.Run != want.run || got.WaitingFor != want.what || !got.DueAt.Equal(want.due) {
			t.Errorf("%s: waits for %q, due at %s; want %s, %q, %s", got.Run, got.WaitingFor, got.DueAt, want.run, want.what, want.due)
		}
	}
}

// writeOlder makes a store of schema 1.
func writeOlder(t *testing.T, dir string, fill func(*sql.DB) error) {
	t.Helper()
	file, err := prepare(dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(migrations[0].statements + "PRAGMA user_version = 1;")
	if err == nil {
		err = fill(db)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestTwoStores: I34: the kernel's lock of a living process keeps others out, also its namesakes.
func TestTwoStores(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	timelinetest.Shared(t, a, b)
	timelinetest.Kept(t, a, b)
}

// TestTwoStoresInTurns: what one store knows of a run is not what the other made of it.
func TestTwoStoresInTurns(t *testing.T) {
	dir := t.TempDir()
	stores := []opened{open(t, dir), open(t, dir)}
	ctx := t.Context()
	for turn := uint64(0); turn < 6; turn++ {
		s := stores[turn%2]
		l, err := s.Claim(ctx, "r", "owner", time.Hour)
		if err != nil || l.Epoch != turn+1 {
			t.Fatalf("turn %d: %+v, %v", turn, l, err)
		}
		for seq := 2*turn + 1; seq <= 2*turn+2; seq++ {
			if err := s.Append(ctx, l, seq-1, noted("r", seq)); err != nil {
				t.Fatal(err)
			}
		}
		n, err := s.Send(ctx, "r", timeline.Command{ID: fmt.Sprint("c", turn), Body: recovery.CancelRequested{}})
		if err != nil || n != turn+1 {
			t.Fatalf("turn %d: command %d, %v", turn, n, err)
		}
		if err := s.Release(ctx, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := stores[0].Delete(ctx, "r"); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		if _, err := s.Send(ctx, "r", timeline.Command{ID: "c", Body: recovery.CancelRequested{}}); !errors.Is(err, timeline.ErrNotFound) {
			t.Errorf("a command to a deleted run: %v", err)
		}
	}
}

func TestKilledOwner(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childFolder+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	s := open(t, dir)
	if _, err := s.Claim(t.Context(), "r", "parent", time.Hour); !errors.Is(err, timeline.ErrOwned) {
		t.Fatalf("claim while the owner lives: %v", err)
	}
	due := timeline.Query{Due: time.Now()}
	if list, err := s.List(t.Context(), due); err != nil || len(list) > 0 {
		t.Errorf("due while the owner lives: %+v, %v", list, err)
	}
	if err := syscall.Kill(cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if list, err := s.List(t.Context(), due); err != nil || len(list) != 1 {
		t.Errorf("due after the owner's death: %+v, %v", list, err)
	}
	l, err := s.Claim(t.Context(), "r", "parent", time.Hour)
	if err != nil || l.Epoch != 2 {
		t.Fatalf("claim after the owner's death: %+v, %v", l, err)
	}
	if err := s.Append(t.Context(), l, 1, noted("r", 2)); err != nil {
		t.Fatal(err)
	}
}

// TestNoFolder: a setting that is missing does not put the runs where the program happens to be.
func TestNoFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, open := range map[string]func(context.Context, string) (*timeline.Journal, error){"Open": Open, "OpenReading": OpenReading} {
		log, err := open(t.Context(), "")
		if err == nil {
			t.Errorf("%s opened something", name)
			_ = log.Close()
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
}
