package runner

import (
	"time"

	"github.com/mulligan-run/mulligan/recovery"
)

// breakOff stops a stream and gives the text that is not durable yet. What a provider held
// back, since it might have become a secret, comes at the stream's end: that is waited for,
// but not for long.
func (l *loop) breakOff(key string, j *job) (recovery.Checkpointed, bool) {
	l.stop(key, j)
	moment := time.NewTimer(lastWords)
	defer moment.Stop()
	select {
	case <-j.attempt.silent:
	case <-moment.C:
	}
	j.attempt.close() // nothing is shown that is in no event
	return j.attempt.take()
}
