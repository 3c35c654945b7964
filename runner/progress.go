package runner

import (
	"context"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/recovery"
)

// progressEvery is the least time between two progress reports of a tool that are passed on.
const progressEvery = 20 * time.Second

// Progress lets a tool report its progress: text is one line for people, at most recovery.MaxNote
// bytes. ctx must be the one that the tool was given; with any other it does nothing. It may be
// called at any rate: a report that comes too soon after the last one is dropped.
func Progress(ctx context.Context, text string) {
	if s, ok := ctx.Value(progressKey{}).(*sayer); ok {
		s.say(ctx, text)
	}
}

type progressKey struct{}

// sayer passes on the progress reports of one tool call.
type sayer struct {
	call *toolCall
	mu   sync.Mutex
	last time.Time
}

func withProgress(ctx context.Context, c *toolCall) context.Context {
	return context.WithValue(ctx, progressKey{}, &sayer{call: c})
}

func (s *sayer) say(ctx context.Context, text string) {
	detail := words.Clip(words.Shown(text), recovery.MaxNote)
	if detail == "" || ctx.Err() != nil || s.soon(time.Now()) {
		return
	}
	l, call := s.call.loop, s.call.run.Call
	l.post(func(ctx context.Context) error {
		if l.run.Settled() {
			return nil
		}
		return l.write(ctx, recovery.Noted{Topic: recovery.TopicToolSays, What: call.Name, CallID: call.ID, Detail: detail})
	})
}

// soon reports whether a report came a moment ago, and records that one comes now.
func (s *sayer) soon(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() && now.Sub(s.last) < progressEvery {
		return true
	}
	s.last = now
	return false
}
