package history

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

type event = recovery.Event

// run is the run that all of a history is about.
const run = "r"

// move is what an owner requests from the log.
type move struct {
	verb  string // claim, renew, release, append, read
	owner int
	epoch uint64
	after uint64 // for append
	tag   string // of the event that is appended
	at    int64  // when it was requested, Unix ns
}

// reply is what the log returned.
type reply struct {
	result  string // ok, owned, stale, conflict, or what else went wrong
	epoch   uint64
	expires int64 // the lease's expiry, Unix ns: the owner is told the earliest
	until   int64 // and the store, which counts from the request, the latest
	seq     uint64
	tag     string // of the last event
	at      int64  // when it was returned, Unix ns
}

// nobody owns a run that is released or does not exist.
const nobody = -1

// ownership is a run's state in the model.
type ownership struct {
	owner   int
	epoch   uint64
	expires int64
	until   int64
	seq     uint64
	tag     string
}

var ownershipModel = porcupine.Model{
	Init: func() any { return ownership{owner: nobody} },
	Step: func(state, input, output any) (bool, any) {
		s, asked, said := state.(ownership), input.(move), output.(reply)
		return s.step(asked, said)
	},
}

// step reports whether s permits this reply, and returns the state after it.
func (s ownership) step(m move, said reply) (bool, ownership) {
	owns := s.owner == m.owner && s.epoch == m.epoch
	switch m.verb {
	case "claim":
		if said.result == "owned" {
			return s.owner != nobody && s.owner != m.owner && m.at <= s.until, s
		}
		free := s.owner == nobody || s.owner == m.owner || said.at >= s.expires
		s.owner, s.epoch, s.expires, s.until = m.owner, s.epoch+1, said.expires, said.until
		return said.result == "ok" && free && said.epoch == s.epoch, s
	case "renew":
		if said.result == "stale" {
			return !owns, s
		}
		s.expires, s.until = said.expires, said.until
		return said.result == "ok" && owns, s
	case "release":
		if said.result == "stale" {
			return s.epoch != m.epoch, s
		}
		legal := said.result == "ok" && s.epoch == m.epoch
		s.owner = nobody
		return legal, s
	case "append":
		return s.append(m, said, owns)
	}
	return said.seq == s.seq && said.tag == s.tag, s
}

func (s ownership) append(m move, said reply, owns bool) (bool, ownership) {
	again := m.after+1 == s.seq && m.tag == s.tag
	switch said.result {
	case "stale":
		return !owns, s
	case "conflict":
		return owns && m.after != s.seq && !again, s
	case "ok":
		if owns && !again && m.after == s.seq {
			s.seq, s.tag = m.after+1, m.tag
			return true, s
		}
		return owns && again, s
	}
	return false, s
}

// owner is a client that claims a run, appends to it, and may not notice that it lost the run.
type owner struct {
	id    int
	log   timeline.Log
	lease timeline.Lease
	seq   uint64 // the last event, as far as it knows
	tag   string
	moves int
}

// do makes one request and learns from the reply.
func (o *owner) do(ctx context.Context, verb string, ttl time.Duration) func() any {
	return func() any {
		var said reply
		var err error
		switch verb {
		case "claim":
			var l timeline.Lease
			if l, err = o.log.Claim(ctx, run, fmt.Sprint("owner-", o.id), ttl); err == nil {
				o.lease, said.epoch, said.expires = l, l.Epoch, l.Expires.UnixNano()
			}
		case "renew":
			var l timeline.Lease
			if l, err = o.log.Renew(ctx, o.lease, ttl); err == nil {
				said.expires = l.Expires.UnixNano()
			}
		case "release":
			err = o.log.Release(ctx, o.lease)
		case "append":
			err = o.log.Append(ctx, o.lease, o.seq, tagged(o.seq+1, o.tag))
		case "read":
			var events []event
			if events, err = o.log.Read(ctx, run, 0, 0); err == nil && len(events) > 0 {
				o.seq = events[len(events)-1].Seq
				said.seq, said.tag = o.seq, tagOf(events[len(events)-1])
			}
		}
		said.result, said.at = resultOf(err), time.Now().UnixNano()
		said.until = said.at + int64(ttl)
		return said
	}
}

func resultOf(err error) string {
	for word, is := range map[string]error{"owned": timeline.ErrOwned, "stale": timeline.ErrStale, "conflict": timeline.ErrConflict} {
		if errors.Is(err, is) {
			return word
		}
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// tagged is an event with a unique tag.
func tagged(seq uint64, tag string) event {
	e := event{Run: run, Seq: seq, Body: recovery.Noted{Detail: tag}}
	if seq == 1 {
		e.Body = recovery.Started{Model: "m", Input: []llm.Message{llm.User(tag)}}
	}
	return e
}

func tagOf(e event) string {
	switch b := e.Body.(type) {
	case recovery.Started:
		return b.Input[0].Text()
	case recovery.Noted:
		return b.Detail
	}
	return ""
}

// ask makes one request and records it in the history.
func (o *owner) ask(t *testing.T, rec *recorder, verb string, ttl time.Duration) {
	t.Helper()
	m := move{verb: verb, owner: o.id, epoch: o.lease.Epoch, after: o.seq, at: time.Now().UnixNano()}
	if verb == "append" {
		o.moves++
		o.tag = fmt.Sprintf("%d/%d", o.id, o.moves)
		m.tag = o.tag
	}
	rec.record(o.id, m, o.do(t.Context(), verb, ttl))
}

// repeat repeats the last append, as a client does that saw no reply.
func (o *owner) repeat(t *testing.T, rec *recorder) {
	t.Helper()
	m := move{verb: "append", owner: o.id, epoch: o.lease.Epoch, after: o.seq, tag: o.tag, at: time.Now().UnixNano()}
	rec.record(o.id, m, o.do(t.Context(), "append", 0))
}

// work claims, appends and lets time pass at random, so many times.
func (o *owner) work(t *testing.T, rec *recorder, dice *rand.Rand, often int) {
	t.Helper()
	o.ask(t, rec, "claim", time.Millisecond)
	for range often {
		switch roll := dice.IntN(20); {
		case roll < 5:
			o.ask(t, rec, "claim", time.Duration(dice.Int64N(int64(4*time.Millisecond))))
			o.ask(t, rec, "read", 0)
		case roll < 13 && o.lease.Epoch > 0:
			o.ask(t, rec, "append", 0)
			if dice.IntN(4) == 0 {
				o.repeat(t, rec)
			}
			o.ask(t, rec, "read", 0)
		case roll < 15 && o.lease.Epoch > 0:
			o.ask(t, rec, "renew", time.Duration(dice.Int64N(int64(4*time.Millisecond))))
		case roll < 17 && o.lease.Epoch > 0:
			o.ask(t, rec, "release", 0)
		default:
			time.Sleep(time.Duration(dice.Int64N(int64(3 * time.Millisecond))))
		}
	}
}

func TestI34OneOwner(t *testing.T) {
	const rounds, often = 5, 30
	for round := range uint64(rounds) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			everywhere(t, func(t *testing.T, logs []timeline.Log) {
				rec := newRecorder()
				var working sync.WaitGroup
				for id, log := range logs {
					dice := rand.New(rand.NewPCG(round, uint64(id))) //nolint:gosec // no secret
					working.Go(func() { (&owner{id: id, log: log}).work(t, rec, dice, often) })
				}
				working.Wait()
				rec.want(t, ownershipModel)
			})
		})
	}
}

// unfencedLog is a log with a fault: it accepts an append from a former owner, in the name of the newest
// lease.
type unfencedLog struct {
	timeline.Log
	newest *timeline.Lease
}

func (l unfencedLog) Claim(ctx context.Context, run, owner string, ttl time.Duration) (timeline.Lease, error) {
	lease, err := l.Log.Claim(ctx, run, owner, ttl)
	if err == nil {
		*l.newest = lease
	}
	return lease, err
}

func (l unfencedLog) Append(ctx context.Context, lease timeline.Lease, after uint64, events ...event) error {
	err := l.Log.Append(ctx, lease, after, events...)
	if errors.Is(err, timeline.ErrStale) {
		return l.Log.Append(ctx, *l.newest, after, events...)
	}
	return err
}

func TestI34FindsAStaleAppend(t *testing.T) {
	everywhere(t, func(t *testing.T, logs []timeline.Log) {
		newest := &timeline.Lease{}
		old, next := &owner{id: 0, log: unfencedLog{logs[0], newest}}, &owner{id: 1, log: unfencedLog{logs[1], newest}}
		rec := newRecorder()
		old.ask(t, rec, "claim", time.Millisecond)
		time.Sleep(2 * time.Millisecond)
		next.ask(t, rec, "claim", time.Minute)
		rec.want(t, ownershipModel)
		old.ask(t, rec, "append", 0)
		rec.wantIllegal(t, ownershipModel)
	})
}
