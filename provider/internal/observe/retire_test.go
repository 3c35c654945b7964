package observe

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lastWords is the body of an answer that takes its time to end after its terminal event.
type lastWords struct {
	text   string
	ends   time.Duration // after the text; 0 = with it
	closed atomic.Bool
}

func (b *lastWords) Read(p []byte) (int, error) {
	n := copy(p, b.text)
	b.text = b.text[n:]
	switch {
	case b.text != "" || n > 0 && b.ends > 0:
		return n, nil
	case n == 0:
		time.Sleep(b.ends)
	}
	return n, io.EOF
}

func (b *lastWords) Close() error {
	b.closed.Store(true)
	return nil
}

// TestTheEndOfAnAnswerIsNotWaitedFor: an answer is over with its terminal event. What comes after it
// is read in the background, unless it was read already.
func TestTheEndOfAnAnswerIsNotWaitedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		ends   time.Duration
		closed bool // when the answer is over
	}{
		"ends with it":    {0, true},
		"ends later":      {100 * time.Millisecond, false},
		"ends much later": {time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := &lastWords{text: "data: hello\n\ndata: .\n\n", ends: tt.ends}
				c := streaming(t, body)
				began := time.Now()
				if said, err := talkTo(t, c); err != nil || said != "hello" || time.Since(began) > 0 {
					t.Errorf("after %s: %q, %v", time.Since(began), said, err)
				}
				if body.closed.Load() != tt.closed {
					t.Errorf("closed: %v", body.closed.Load())
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if !body.closed.Load() {
					t.Error("the body was never closed")
				}
			})
		})
	}
}
