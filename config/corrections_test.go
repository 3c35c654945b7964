package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
)

// correct are the corrections of a configuration with that state folder.
func correct(t *testing.T, state string) *Corrections {
	t.Helper()
	k, err := (&Config{State: state}).LearnedFailures(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// learnKind is what explain does.
func (k *Corrections) learnKind(e failure.Evidence, kind failure.Kind) error {
	_, err := k.Teach(k.Local().Classify(e), e, kind)
	return err
}

func refusal(text string) failure.Evidence {
	return failure.Evidence{Provider: "acme", Status: 400, Body: []byte(`{"message":"` + text + `"}`), At: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
}

// What another process learns applies here from the next failure on. While the file is broken, what
// it said before applies; once it is mended, what it says then.
func TestWhatIsLearnedHoldsAtOnce(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state") // not there yet
	serving, other := correct(t, state), correct(t, state)
	e := refusal("no seats are free")
	expect := func(want failure.Kind) {
		t.Helper()
		if got := serving.Classify(e).Kind; got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
	expect(failure.KindInvalidRequest)
	if err := other.learnKind(e, failure.KindOverloaded); err != nil {
		t.Fatal(err)
	}
	expect(failure.KindOverloaded)
	if err := os.WriteFile(serving.File, []byte("failures: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(failure.KindOverloaded)
	if err := other.learnKind(refusal("another one"), failure.KindAuth); err == nil || !strings.Contains(err.Error(), serving.File) {
		t.Errorf("a broken file is written over: %v", err)
	}
	if err := os.WriteFile(serving.File, []byte("failures:\n  - {text: no seats, kind: billing}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(failure.KindBilling)
	if _, err := other.Unteach(e); err != nil {
		t.Fatal(err)
	}
	expect(failure.KindInvalidRequest)
	if _, err := other.Unteach(e); err == nil {
		t.Error("what was never learned is forgotten")
	}
}

func TestTwoLearnAtATime(t *testing.T) {
	state := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		k := correct(t, state)
		all.Go(func() {
			if err := k.learnKind(refusal("seat "+strings.Repeat("x", i+4)+" is taken"), failure.KindQuota); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if entries, err := readLearned(filepath.Join(state, learnedName)); err != nil || len(entries) != 20 {
		t.Errorf("%d rows, %v", len(entries), err)
	}
	left, err := filepath.Glob(filepath.Join(state, "*"))
	if err != nil || len(left) != 2 { // the file and its lock
		t.Errorf("%v, %v", left, err)
	}
}

func TestLearnedIsBounded(t *testing.T) {
	state := t.TempDir()
	rows := []byte("failures:\n")
	for i := range maxFailures {
		rows = fmt.Appendf(rows, "  - {code: code_%d, kind: auth}\n", i)
	}
	if err := os.WriteFile(filepath.Join(state, learnedName), rows, 0o600); err != nil {
		t.Fatal(err)
	}
	k := correct(t, state)
	if err := k.learnKind(refusal("one more"), failure.KindQuota); err == nil || !strings.Contains(err.Error(), "delete what is no longer needed") {
		t.Errorf("more rows than fit are learned: %v", err)
	}
	if _, err := Parse(append(rows, "  - {code: one_more, kind: auth}\n"...)); err == nil || !strings.Contains(err.Error(), "at most 500") {
		t.Errorf("more rows than fit are read: %v", err)
	}
}

// A row is read as it was written, whatever it contains.
func TestLineOfARow(t *testing.T) {
	for _, e := range []Failure{
		{Kind: failure.KindAuth, Provider: "acme-2", Status: 402, Code: `a"b: #{}`, Text: "“配额不足” - {no} <b> & 'x'\u2028\\", Was: failure.KindBilling, Learned: "2026-03-20"},
		{Kind: failure.KindTLS, Pattern: `^\d+\s"x"\x{1F600}`},
	} {
		path := filepath.Join(t.TempDir(), learnedName)
		if err := writeLearned(path, []Failure{e}); err != nil {
			t.Fatal(err)
		}
		if got, err := readLearned(path); err != nil || len(got) != 1 || got[0] != e {
			t.Errorf("%+v became %+v (%v)", e, got, err)
		}
	}
}

// TestS33WhatIsLearnedIsReadAsItIsWritten: a provider's words do not turn around what a person edits, and
// are the same when they are read again.
func TestS33WhatIsLearnedIsReadAsItIsWritten(t *testing.T) {
	state := t.TempDir()
	const said = "the seat \u202e\u2066 is taken \u200f by somebody"
	if err := correct(t, state).learnKind(refusal(said), failure.KindQuota); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(state, learnedName)
	text, err := os.ReadFile(file)
	if err != nil || strings.ContainsAny(string(text), "\u202e\u2066\u200f") {
		t.Errorf("%v: %q", err, text)
	}
	entries, err := readLearned(file)
	if err != nil || len(entries) != 1 || entries[0].Text != said {
		t.Errorf("%v: %+v", err, entries)
	}
}
