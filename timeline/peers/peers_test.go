package peers

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// member is one of a database.
type member struct {
	*timeline.Journal
	*testing.T
	peers *Peers
	stop  func()
}

func join(t *testing.T, url, name string) *member {
	t.Helper()
	j, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	m := &member{Journal: j, T: t}
	m.speak(name)
	t.Cleanup(func() {
		m.stop()
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// speak starts to serve the other members and to listen to them, until stop.
func (m *member) speak(name string) {
	m.Helper()
	store := m.StandsOn().(timeline.Members)
	var err error
	m.peers, err = Listen(m.Context(), "127.0.0.1:0", m.Journal, store.Members, slog.New(slog.DiscardHandler))
	if err != nil {
		m.Fatal(err)
	}
	if err := store.Join(m.Context(), timeline.Member{Name: name, Live: m.peers.Address(), Seal: m.peers.Seal()}, time.Hour); err != nil {
		m.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.Context()))
	var over sync.WaitGroup
	over.Go(func() { m.peers.Run(ctx) })
	m.stop = sync.OnceFunc(func() {
		cancel()
		over.Wait()
	})
}

// driver is a run that its member drives.
type driver struct {
	*member
	lease   timeline.Lease
	seq     uint64
	text    string // of the attempt in the air
	thought string // the same attempt's reasoning
}

func (m *member) drive(run string) *driver {
	m.Helper()
	d := &driver{member: m}
	var err error
	if d.lease, err = m.Claim(m.Context(), run, "driver", time.Hour); err != nil {
		m.Fatal(err)
	}
	d.append(recovery.Started{Model: "lab/one", Input: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Text: "x"}}}}})
	return d
}

func (d *driver) append(b recovery.Body) {
	d.Helper()
	d.seq++
	if err := d.Append(d.Context(), d.lease, d.seq-1, recovery.Event{Run: d.lease.Run, Seq: d.seq, Time: time.Now().UTC(), Body: b}); err != nil {
		d.Fatal(err)
	}
	if _, begins := b.(recovery.Began); begins {
		d.text, d.thought = "", ""
	}
}

func (d *driver) think(attempt uint64, text string) {
	d.Publish(d.lease.Run, timeline.Delta{Attempt: attempt, Offset: len(d.thought), Text: text, Thinking: true})
	d.thought += text
}

func (d *driver) say(attempt uint64, text string) {
	d.Publish(d.lease.Run, timeline.Delta{Attempt: attempt, Offset: len(d.text), Text: text})
	d.text += text
}

// reader follows a run and holds what it is shown against the promises of a follower.
type reader struct {
	mu      sync.Mutex
	seq     uint64
	air     uint64 // the attempt in the air, as the events have it
	text    string // that is shown of it
	thought string // the same of its reasoning
	wrong   []string
	pieces  int
	ended   chan struct{}
}

func (m *member) read(run string) *reader {
	r := &reader{ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for item, err := range m.Follow(m.Context(), run, 0) {
			r.mu.Lock()
			r.take(item, err)
			r.mu.Unlock()
		}
	}()
	return r
}

func (r *reader) take(item timeline.Item, err error) {
	wrong := func(format string, args ...any) { r.wrong = append(r.wrong, fmt.Sprintf(format, args...)) }
	switch {
	case err != nil:
		wrong("%v", err)
	case item.Event != nil:
		if item.Event.Seq != r.seq+1 {
			wrong("event %d follows %d", item.Event.Seq, r.seq)
		}
		r.seq = item.Event.Seq
		switch b := item.Event.Body.(type) {
		case recovery.Began:
			r.air, r.text, r.thought = b.Attempt, "", ""
		case recovery.Failed:
			r.air = 0
		case recovery.Answered:
			if r.air = 0; !strings.HasPrefix(b.Message.Text(), r.text) {
				wrong("%q was shown of %q", r.text, b.Message.Text())
			}
		}
	case item.Delta != nil && item.Delta.Attempt != r.air:
		wrong("attempt %d says %q while %d is in the air", item.Delta.Attempt, item.Delta.Text, r.air)
	case item.Delta != nil:
		r.pieces++
		d, shown := item.Delta, &r.text
		if d.Thinking {
			shown = &r.thought
		}
		switch end := d.Offset + len(d.Text); {
		case d.Offset > len(*shown): // the beginning is still to come
		case end > len(*shown):
			*shown += d.Text[len(*shown)-d.Offset:]
		case (*shown)[d.Offset:end] != d.Text:
			wrong("%q at %d of %q", d.Text, d.Offset, *shown)
		}
	}
}

// until waits for a follower to be shown a text.
func (r *reader) until(t *testing.T, attempt uint64, text string) {
	t.Helper()
	r.untilBoth(t, attempt, "", text)
}

// untilBoth waits for a follower to be shown a reasoning and a text.
func (r *reader) untilBoth(t *testing.T, attempt uint64, thought, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		there := r.air == attempt && r.text == text && r.thought == thought
		if time.Now().After(deadline) {
			t.Fatalf("it is shown %q, %q of attempt %d, not %q, %q of %d; %v", r.thought, r.text, r.air, thought, text, attempt, r.wrong)
		}
		r.mu.Unlock()
		if there {
			return
		}
	}
}

func (r *reader) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.wrong {
		t.Error("I09: ", w)
	}
}

// TestI09ElsewhereIsHere: who follows a run at another member than its driver's sees what it thinks and says
// while it does, though nothing of that is saved; and nothing of an attempt after its last event.
func TestI09ElsewhereIsHere(t *testing.T) {
	url := pgtest.Database(t)
	a, b := join(t, url, "a"), join(t, url, "b")
	d := a.drive("r")
	early, own := b.read("r"), a.read("r")
	d.append(recovery.Began{Attempt: 1, Model: "lab/one"})
	d.think(1, "I think ")
	early.untilBoth(t, 1, d.thought, "")
	middle := b.read("r") // in the middle of the reasoning
	middle.untilBoth(t, 1, d.thought, "")
	for n := range 200 {
		d.think(1, fmt.Sprintf("%d ö ", n))
	}
	for n := range 200 {
		d.say(1, fmt.Sprintf("%d é ", n))
	}
	early.untilBoth(t, 1, d.thought, d.text)
	late := b.read("r") // in the middle of the answer
	for _, long := range []func(uint64, string){d.think, d.say} {
		late.untilBoth(t, 1, d.thought, d.text)
		long(1, strings.Repeat("long ö", 40<<10)) // more than one line
	}
	for _, r := range []*reader{early, middle, late} {
		r.untilBoth(t, 1, d.thought, d.text)
	}
	if saved, err := b.LoadTail(t.Context(), "r"); err != nil || saved.Text != "" {
		t.Errorf("the database has %q, %v", saved.Text, err)
	}
	for attempt := uint64(2); attempt < 20; attempt++ {
		d.append(recovery.Failed{Attempt: attempt - 1, Text: d.text})
		d.say(attempt-1, "too late")
		d.append(recovery.Began{Attempt: attempt, Model: "lab/one", Withdraws: attempt - 1})
		for range rand.N(20) {
			d.say(attempt, "word ")
		}
	}
	d.say(19, "and so on")
	early.until(t, 19, d.text)
	late.until(t, 19, d.text)
	d.append(recovery.Answered{Attempt: 19, Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: d.text}}}})
	d.append(recovery.Ended{Status: recovery.StatusCompleted})
	for _, r := range []*reader{early, middle, late, own} {
		<-r.ended
		r.check(t)
	}
}

// TestOutOfReach: a member that does not answer is followed by what it saves, and heard again once
// it does; the next driver of a run is heard in its place.
func TestOutOfReach(t *testing.T) {
	url := pgtest.Database(t)
	a, b, c := join(t, url, "a"), join(t, url, "b"), join(t, url, "c")
	d := a.drive("r")
	r := b.read("r")
	d.append(recovery.Began{Attempt: 1, Model: "lab/one"})
	d.say(1, "heard, ")
	r.until(t, 1, "heard, ")
	a.stop()
	d.say(1, "saved, ")
	if err := a.SaveTail(t.Context(), d.lease, timeline.Tail{Attempt: 1, Text: d.text}); err != nil {
		t.Fatal(err)
	}
	r.until(t, 1, "heard, saved, ")
	a.speak("a")
	d.say(1, "heard again")
	r.until(t, 1, "heard, saved, heard again")
	if _, err := a.Renew(t.Context(), d.lease, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	next := &driver{member: c, seq: d.seq}
	var err error
	if next.lease, err = c.Claim(t.Context(), "r", "next", time.Hour); err != nil {
		t.Fatal(err)
	}
	next.append(recovery.Failed{Attempt: 1, Text: "heard, saved, "})
	next.append(recovery.Began{Attempt: 2, Model: "lab/one", Withdraws: 1})
	next.say(2, "anew")
	d.say(1, " by one that is none any more")
	r.until(t, 2, "anew")
	r.check(t)
}

// TestStrangersHearNothing: a peer without a row in the database is not answered, whatever
// certificate it shows; nor is a member believed whose certificate differs from its row.
func TestStrangersHearNothing(t *testing.T) {
	url := pgtest.Database(t)
	a := join(t, url, "a")
	stranger, seal, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	for name, mine := range map[string][]tls.Certificate{"a stranger": {stranger}, "nobody": nil} {
		conn, err := tls.Dial("tcp", a.peers.Address(), &tls.Config{InsecureSkipVerify: true, Certificates: mine, MinVersion: tls.VersionTLS13}) //nolint:gosec // a stranger does not care
		if err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			_, err = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "remote error: tls") {
			t.Errorf("S01: %s is answered: %v", name, err)
		}
	}
	conn, err := tls.Dial("tcp", a.peers.Address(), a.peers.asClient(seal))
	if err == nil {
		_ = conn.Close()
		t.Error("S01: a member with another certificate than its row has is believed")
	}
}
