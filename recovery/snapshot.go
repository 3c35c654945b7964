package recovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
)

// snapshotVersion must be raised whenever Apply treats the same event differently.
const snapshotVersion = 3

// snapshotHeader begins a snapshot. It has the version, and a checksum of all types that a Run is
// made of, so that a snapshot of another version is never misread. Such a snapshot is ignored, and
// the events are folded instead.
func snapshotHeader() string {
	return fmt.Sprintf("mulligan run %d %x\n", snapshotVersion, shapeOf(reflect.TypeFor[Run]()))
}

// shapeOf is a checksum of everything that values of type t are made of.
func shapeOf(t reflect.Type) uint64 {
	sum := fnv.New64a()
	seen := map[reflect.Type]bool{}
	var add func(reflect.Type)
	add = func(t reflect.Type) {
		_, _ = io.WriteString(sum, t.String()+" ") // writing to a hash cannot fail
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				_, _ = io.WriteString(sum, t.Field(i).Name+" "+string(t.Field(i).Tag)+" ")
				add(t.Field(i).Type)
			}
		case reflect.Map:
			add(t.Key())
			add(t.Elem())
		case reflect.Pointer, reflect.Slice, reflect.Array:
			add(t.Elem())
		}
	}
	add(t)
	return sum.Sum64()
}

// snapshot is the stored form of a run: its exported fields under their own names, and its
// unexported fields beside them.
type snapshot struct {
	Run          *Run
	Expired      failure.Timer
	Cancelled    bool
	Offer        suggestionState
	AcceptedID   string
	Truncated    bool
	Again        bool
	ByEngine     bool
	CutTokens    int64
	ContextBytes int
	Kept         llm.Usage
	Unsure       int // position in Pending, from 1; 0 = nil
	Cooling      *Cooldown
	StepDoubled  bool
	LastSeen     time.Time
	Reserved     Budget
	ParkedFrom   time.Time
	Whole        bool
}

// Snapshot is r in the form that Restore reads, with or without the carried messages.
func (r *Run) Snapshot(carried bool) ([]byte, error) {
	kept, whole, size := *r, r.whole, r.contextBytes
	if !carried && r.Carried > 0 {
		kept.Messages, kept.Carried = r.Messages[r.Carried:], 0
		whole, size = false, r.contextBytes-sizes(r.Messages[:r.Carried])
	}
	s := snapshot{
		Run: &kept, Expired: r.expired, Cancelled: r.cancelled, Offer: r.offer,
		AcceptedID: r.acceptedID, Truncated: r.truncated, Again: r.again, ByEngine: r.byEngine, CutTokens: r.cutTokens, ContextBytes: size, Kept: r.kept,
		Unsure: slices.Index(r.Pending, r.unsure) + 1, Cooling: r.cooling, StepDoubled: r.stepDoubled, LastSeen: r.lastSeen, Reserved: r.reserved,
		ParkedFrom: r.parkedFrom, Whole: whole,
	}
	if r.unsure != nil && s.Unsure == 0 {
		return nil, fmt.Errorf("run %s: no snapshot while a call of an earlier answer is unsure", r.ID)
	}
	data := bytes.NewBufferString(snapshotHeader())
	if err := json.NewEncoder(data).Encode(s); err != nil {
		return nil, fmt.Errorf("run %s: snapshot: %w", r.ID, err)
	}
	return data.Bytes(), nil
}

// Restore makes a run from a snapshot; false if data is empty or of another version. The run shares
// no memory with data. A run that is not Whole needs a Carry.
func Restore(data []byte) (*Run, bool) {
	stored, ok := bytes.CutPrefix(data, []byte(snapshotHeader()))
	var s snapshot
	if !ok || json.Unmarshal(stored, &s) != nil || s.Run == nil || s.Unsure < 0 || s.Unsure > len(s.Run.Pending) {
		return nil, false
	}
	r := s.Run
	r.expired, r.cancelled, r.offer = s.Expired, s.Cancelled, s.Offer
	r.acceptedID, r.truncated, r.contextBytes, r.kept = s.AcceptedID, s.Truncated, s.ContextBytes, s.Kept
	r.again, r.byEngine, r.cutTokens = s.Again, s.ByEngine, s.CutTokens
	r.cooling, r.stepDoubled, r.lastSeen, r.reserved, r.parkedFrom, r.whole = s.Cooling, s.StepDoubled, s.LastSeen, s.Reserved, s.ParkedFrom, s.Whole
	if s.Unsure > 0 {
		r.unsure = r.Pending[s.Unsure-1]
	}
	return r, true
}
