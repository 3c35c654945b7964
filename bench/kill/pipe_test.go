package kill

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/mulligan-run/mulligan/recovery"
)

// The words that begin a line to the parent. The child writes each line as soon as what it says is
// known, and before it acts on it.
const (
	wordReady  = "ready"  // the run was started, or is about to be resumed
	wordAcked  = "acked"  // run, seq, digest, call, key: an append of this event succeeded
	wordShown  = "shown"  // the same: a follower was given this event
	wordSent   = "sent"   // run, position, id: a command is in the inbox
	wordAsking = "asking" // a model is about to be asked
	wordBegun  = "begun"  // key: a tool is about to take effect
	wordOver   = "over"   // the process has nothing left to do
)

// pipe is the child's connection to its parent. Each line is a single write, so a process that dies
// leaves only whole lines.
type pipe struct {
	mu  sync.Mutex
	out io.Writer
}

// openPipe opens the file that the parent left open for its child.
func openPipe() *pipe { return &pipe{out: os.NewFile(3, "pipe")} }

func (t *pipe) tell(words ...any) { t.write(fmt.Sprintln(words...)) }

// events tells the parent about all of the events in one write.
func (t *pipe) events(word string, events ...recovery.Event) {
	var text strings.Builder
	for _, e := range events {
		fmt.Fprintln(&text, word, e.Run, e.Seq, digest(e), tool(e))
	}
	t.write(text.String())
}

func (t *pipe) write(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := io.WriteString(t.out, text); err != nil {
		fmt.Fprintln(os.Stderr, "the parent does not listen:", err)
		os.Exit(1)
	}
}

// digest identifies an event in its stored form.
func digest(e recovery.Event) string {
	stored, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(stored)
	return e.Type() + "/" + hex.EncodeToString(sum[:8])
}

// tool is the call that a tool's event is about and, for its intent, its idempotency key.
func tool(e recovery.Event) string {
	switch b := e.Body.(type) {
	case recovery.ToolBegan:
		return b.CallID + " " + b.Key
	case recovery.ToolReturned:
		return b.CallID
	}
	return ""
}

// line is one line from a child, split into words.
type line []string

func (l line) is(word string) bool { return len(l) > 0 && l[0] == word }

// ofType reports whether l acknowledges an event of that type.
func (l line) ofType(name string) bool { return l.is(wordAcked) && strings.HasPrefix(l[3], name+"/") }

// listen reads a child's lines to the end.
func listen(r io.Reader, each func(line)) {
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		each(strings.Fields(scanner.Text()))
	}
}
