package timeline

import (
	"errors"
	"fmt"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

// Item is what a follower gets: exactly one of Event, Delta and Notice is set.
type Item struct {
	Event  *recovery.Event
	Delta  *Delta
	Notice *Notice
	// Behind says that live deltas before this one were lost, because the follower was more than
	// MaxBehind items or maxBehindBytes behind. Events are never lost.
	Behind bool
	// More says that another item follows immediately, so that this one need not be sent by itself.
	More bool

	after  uint64  // seq of the event that comes before it
	shared *shared // set if the item was shown as it happened; nil = it was read
	size   int     // what it counts towards maxBehindBytes
}

// shared is the encoded form of an item, made once for many followers.
type shared struct {
	once sync.Once
	form []byte
	err  error
}

// Form gives encode's result for the item. For a live item with many followers it is made once, by
// the first caller. So the result must not be changed, encode must depend on nothing but the item,
// and all callers in a process must pass the same encode.
func (i Item) Form(encode func(Item) ([]byte, error)) ([]byte, error) {
	if i.shared == nil {
		return encode(i)
	}
	i.shared.once.Do(func() { i.shared.form, i.shared.err = encode(i) })
	return i.shared.form, i.shared.err
}

// Delta is a live piece of an attempt's text. Offset is where it begins, in bytes; thinking has its
// own offsets. A reader drops a delta that it already has, or that does not follow what it has. A
// follower that joins in the middle of an attempt gets the earlier thinking as one piece and the
// earlier text as another, which begin at 0.
type Delta struct {
	Run      string
	Attempt  uint64
	Offset   int
	Text     string
	Thinking bool
}

// Notice tells people immediately what cannot be written down now: that the run waits for its
// store. It may be repeated while that lasts, and is void once anything else happens.
type Notice struct {
	Run  string
	Text string // one plain line of at most recovery.MaxText bytes
}

// Command is a request in a run's inbox.
type Command struct {
	N  uint64 // its position; set by the store
	ID string // the sender's own id for it, not empty
	// Body is the event that the command asks for: Accepted, CancelRequested or ToolReturned.
	Body recovery.Body
}

// check says what is wrong with a command before it is sent.
func (c Command) check() error {
	switch {
	case c.ID == "":
		return errors.New("command without an id: choose one, so that it can be sent twice and count once")
	case c.Body == nil:
		return fmt.Errorf("command %s has no body", c.ID)
	}
	return nil
}

// checkAppend says what is wrong with the events of an Append before the store is called: they must
// be of l's run, have a body, and be numbered from after+1.
func checkAppend(l Lease, after uint64, events []recovery.Event) error {
	for i, e := range events {
		want := after + uint64(i) + 1
		switch {
		case e.Run != l.Run:
			return fmt.Errorf("append to run %s: an event of run %q", l.Run, e.Run)
		case e.Seq != want:
			return fmt.Errorf("append to run %s: event %d where %d should be", l.Run, e.Seq, want)
		case e.Body == nil:
			return fmt.Errorf("append to run %s: event %d has no body", l.Run, e.Seq)
		}
	}
	return nil
}

// checkClaim says what is wrong with the names in a Claim.
func checkClaim(run, owner string) error {
	switch {
	case run == "":
		return errors.New("claim of a run without an id")
	case owner == "":
		return fmt.Errorf("claim of run %s without an owner", run)
	}
	return nil
}
