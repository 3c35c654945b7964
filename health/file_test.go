package health_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/health"
)

func open(t *testing.T, path string) *health.Health {
	t.Helper()
	h, err := health.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "health.json")
	h := open(t, path)
	h.Failed("acme/fable-1", failureOf(failure.KindBilling), start)
	again := open(t, path)
	if c, ok := again.Cooling("acme/fable-2", start); !ok || c.Kind != failure.KindBilling || !c.Until.Equal(start.Add(30*time.Second)) {
		t.Errorf("cooling %v: %+v", ok, c)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	again.Succeeded("acme/fable-1")
	if all := open(t, path).All(start); len(all) != 0 {
		t.Errorf("after a success: %+v", all)
	}
}

func TestShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "health.json")
	a, b := open(t, path), open(t, path)
	a.Failed("acme/x", failureOf(failure.KindOverloaded), start)
	b.Failed("acme/y", failureOf(failure.KindOverloaded), start)
	b.Failed("acme/x", failureOf(failure.KindOverloaded), start.Add(30*time.Second))
	for name, h := range map[string]*health.Health{"a": a, "b": b} {
		all := h.All(start)
		if len(all) != 2 || !all[0].Until.Equal(start.Add(90*time.Second)) {
			t.Errorf("%s: %+v", name, all)
		}
	}
	a.Succeeded("acme/x")
	b.Failed("acme/z", failureOf(failure.KindOverloaded), start)
	if all := a.All(start); len(all) != 2 || all[0].Model != "acme/y" {
		t.Errorf("a success came back: %+v", all)
	}
}

func TestCoolingLearnsFromOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "health.json")
	a, b := open(t, path), open(t, path)
	a.Failed("acme/x", failureOf(failure.KindAuth), start)
	for i := range 2000 {
		if _, ok := b.Cooling("acme/x", start.Add(time.Duration(i%2)*2*time.Second)); ok {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("never heard of it")
}

func TestCorruptFilesAreSetAside(t *testing.T) {
	ok := `"acme/x":{"kind":"auth","until":"2026-03-01T12:00:00Z","failures":1}`
	for name, content := range map[string]string{
		"empty":       "",
		"half":        `{"version":1,"cooldowns":{` + ok,
		"no version":  `{"cooldowns":{` + ok + `}}`,
		"other shape": `[1,2]`,
		"bad record":  `{"version":1,"cooldowns":{"acme/x":{"kind":"auth","failures":-1}}}`,
		"too large":   `{"version":1,"cooldowns":{` + ok + `}}` + strings.Repeat(" ", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "health.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			h := open(t, path)
			if all := h.All(time.Time{}); len(all) != 0 {
				t.Errorf("starts with %+v", all)
			}
			if kept, err := os.ReadFile(path + ".corrupt"); err != nil || string(kept) != content {
				t.Errorf("set aside: %v", err)
			}
			h.Failed("acme/x", failureOf(failure.KindAuth), start)
			if all := open(t, path).All(start); len(all) != 1 {
				t.Errorf("afterwards: %+v", all)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := filepath.Join(dir, "newer.json")
	if err := os.WriteFile(newer, []byte(`{"version":2,"cooldowns":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, newer, filepath.Join(newer, "below")} {
		if _, err := health.Open(path); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

func TestTroubleWithTheFileIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(dir, "health.json")
	h := open(t, path)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	h.Failed("acme/x", failureOf(failure.KindAuth), start)
	if _, ok := h.Cooling("acme/x", start); !ok {
		t.Error("forgotten, since it could not be written")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.Failed("bcme/x", failureOf(failure.KindAuth), start)
	if all := open(t, path).All(start); len(all) != 2 {
		t.Errorf("written later: %+v", all)
	}
}

func TestBounded(t *testing.T) {
	h := health.New()
	for i := range 1500 {
		h.Failed(fmt.Sprintf("acme/%d", i), failureOf(failure.KindOverloaded), start.Add(time.Duration(i)*time.Millisecond))
	}
	if n := len(h.All(start)); n != 1000 {
		t.Errorf("%d cooldowns", n)
	}
	if _, ok := h.Cooling("acme/1499", start); !ok {
		t.Error("the latest was forgotten")
	}
}

// TestAStuckHolderIsWaitedForOnce: where another process does not let go of the file, one
// caller finds that out, and those after it remember what they learned in memory.
func TestAStuckHolderIsWaitedForOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "health.json")
	h := open(t, path)
	unlock, err := health.Lock(path+".lock", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	const patience, callers = 500 * time.Millisecond, 40
	h.SetPatience(patience)
	began := time.Now()
	for i := range callers {
		h.Failed(fmt.Sprintf("acme/m%d", i), failureOf(failure.KindOverloaded), start)
	}
	if waited := time.Since(began); waited > callers*patience/2 {
		t.Errorf("%d callers waited for %v, each for itself", callers, waited)
	}
	unlock()
	h.Failed("acme/last", failureOf(failure.KindOverloaded), start)
	if all := open(t, path).All(start); len(all) != callers+1 {
		t.Errorf("the file has %d cooldowns, want those kept in memory too: %d", len(all), callers+1)
	}
}
