package timeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The errors of a Log's methods, for errors.Is.
var (
	// ErrOwned: another living owner has the run; see OwnedError.
	ErrOwned = errors.New("the run has an owner")
	// ErrStale: the lease is not the run's newest; see StaleError.
	ErrStale = errors.New("the lease is over")
	// ErrConflict: the run's last event is not the expected one; see ConflictError.
	ErrConflict = errors.New("the run has moved on")
	// ErrNotFound: the run is unknown; see NotFoundError.
	ErrNotFound = errors.New("no such run")
	// ErrDamaged: the contents of the store's files are invalid; see StoreError. This does not pass
	// by itself; the errors below may.
	ErrDamaged = errors.New("the store is damaged")
	// ErrBusy: another process keeps this one from writing to the store; see StoreError.
	ErrBusy = errors.New("the store is busy")
	// ErrFull: there is no space left for the store; see StoreError.
	ErrFull = errors.New("the store is full")
	// ErrReadOnly: the store may not be written to; see StoreError.
	ErrReadOnly = errors.New("the store is read-only")
	// ErrGone: the store's files were moved or deleted, or cannot be reached; see StoreError.
	ErrGone = errors.New("the store is gone")
	// ErrDisk: the disk under the store fails; see StoreError.
	ErrDisk = errors.New("the store's disk fails")
	// ErrLost: the store lacks events that it had said were durable, as after a failover to a
	// standby that was behind, and they cannot be appended again; see LostError.
	ErrLost = errors.New("the store has lost events")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("the timeline is closed")
)

// OwnedError says who has the run. It is an ErrOwned.
type OwnedError struct {
	Run, Owner string
	Until      time.Time
}

func (e *OwnedError) Error() string {
	return fmt.Sprintf("run %s belongs to %s until %s: put a command into its inbox, or claim it after that",
		e.Run, e.Owner, e.Until.UTC().Format(time.RFC3339))
}

// Is makes it an ErrOwned.
func (e *OwnedError) Is(target error) bool { return target == ErrOwned }

// StaleError says which lease is newer. It is an ErrStale.
type StaleError struct {
	Run           string
	Epoch, Newest uint64
	Owner         string // of the newest epoch; "" if it was released
}

func (e *StaleError) Error() string {
	if e.Epoch == e.Newest {
		return fmt.Sprintf("run %s: epoch %d was released: claim the run again before appending", e.Run, e.Epoch)
	}
	owner := e.Owner
	if owner == "" {
		owner = "nobody any more"
	}
	return fmt.Sprintf("run %s: epoch %d is over, epoch %d belongs to %s: stop working on it and follow it",
		e.Run, e.Epoch, e.Newest, owner)
}

// Is makes it an ErrStale.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// ConflictError says how far the run has got. It is an ErrConflict.
type ConflictError struct {
	Run         string
	Epoch       uint64
	After, Last uint64 // the seq that was expected to be the last, and the actual last one
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("run %s, epoch %d: cannot append after event %d, the last one is %d: read from there and decide again",
		e.Run, e.Epoch, e.After, e.Last)
}

// Is makes it an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// StoreError says why the files of a store kept a method from doing its work. It may pass, unless
// it is an ErrDamaged.
type StoreError struct {
	File   string
	Kind   error  // ErrBusy, ErrFull, ErrReadOnly, ErrGone, ErrDisk, ErrDamaged; nil for any other
	Reason string // the reason in a few words: "no space left on device"
	Advice string // what to do, or ""
	Err    error  // the store's own error
}

func (e *StoreError) Error() string {
	text := fmt.Sprintf("timeline store %s: %s", e.File, e.Reason)
	if e.Advice != "" {
		text += ": " + e.Advice
	}
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Is makes it an error of its Kind.
func (e *StoreError) Is(target error) bool { return e.Kind != nil && target == e.Kind }

// Unwrap gives Err.
func (e *StoreError) Unwrap() error { return e.Err }

// DamagedRunError names a run with events that cannot be read; other runs can be. It is an
// ErrDamaged.
type DamagedRunError struct {
	Run   string
	After uint64 // seq of the last event that can be read
	Err   error
}

func (e *DamagedRunError) Error() string {
	return fmt.Sprintf("run %s is damaged after event %d (%v): delete it, and what it belongs to goes on without it", e.Run, e.After, e.Err)
}

// Is makes it an ErrDamaged.
func (e *DamagedRunError) Is(target error) bool { return target == ErrDamaged }

// Unwrap gives Err.
func (e *DamagedRunError) Unwrap() error { return e.Err }

// NotFoundError names the unknown run. It is an ErrNotFound.
type NotFoundError struct{ Run string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no run %q in this store", e.Run)
}

// Is makes it an ErrNotFound.
func (e *NotFoundError) Is(target error) bool { return target == ErrNotFound }

// MayPass reports whether an operation that failed with err may succeed later.
func MayPass(err error) bool {
	for _, final := range []error{ErrOwned, ErrStale, ErrConflict, ErrClosed, ErrLost, ErrNotFound, ErrSession, ErrDamaged, errUnwritten} {
		if errors.Is(err, final) {
			return false
		}
	}
	_, unstorable := errors.AsType[*json.MarshalerError](err)
	return !unstorable
}

// LostError says which events of a run are gone. It is an ErrLost.
type LostError struct {
	Run        string
	Last, Said uint64 // seq of the last event in the store, and of the last that it said was durable
}

func (e *LostError) Error() string {
	return fmt.Sprintf("run %s: the store lost its events %d to %d, which it had said were durable: read again what became of it, what it did then is unknown", e.Run, e.Last+1, e.Said)
}

// Is makes it an ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }
