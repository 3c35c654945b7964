package runner

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// If another model answered a call of a conversation, the conversation stays with that model. The
// model that was asked for would probably fail again, which costs time and retries, and its prompt
// cache will soon have expired. The conversation stays as long as that model cools down, or for a
// moment if its failure causes no cooldown.

const (
	maxStays = 4096
	stayFor  = 20 * time.Second // a model that fails now and then is asked again within 30 s of its recovery
	// cacheKept is how long a provider keeps a prompt that is not used.
	cacheKept = 5 * time.Minute
)

// stays says which models conversations stay with, during the life of this process.
type stays struct {
	mu sync.Mutex
	at map[string]stay
}

type stay struct {
	model  string    // the model that answered last
	at     time.Time // when it did
	until  time.Time // the model that was asked for is not asked before then
	cached int64     // tokens of the conversation in model's prompt cache
}

func (s *stays) of(key string) stay {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[key]
}

func (s *stays) set(key string, to stay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[string]stay{}
	}
	if _, known := s.at[key]; !known {
		for old := range maps.Keys(s.at) {
			if len(s.at) < maxStays {
				break
			}
			delete(s.at, old)
		}
	}
	s.at[key] = to
}

// stayKey names a conversation of calls that ask for model; false if it has no name.
func stayKey(session, model string) (string, bool) { return session + "\x00" + model, session != "" }

// staysWith makes a run that is a call begin with the model that its conversation stays with.
func (r *Runner) staysWith(s *recovery.Started, c *Call) {
	key, named := stayKey(s.SessionKey, s.Model)
	if c == nil || !named {
		return
	}
	at, now := r.stays.of(key), r.now()
	if at.model == "" || at.model == s.Model || !slices.Contains(s.Policy.Models, at.model) || !r.models.Has(at.model) {
		return
	}
	until := at.until
	if cooldown, cooling := r.health.Cooling(s.Model, now); cooling && cooldown.Until.After(until) {
		until = cooldown.Until
	}
	_, cooling := r.health.Cooling(at.model, now)
	if cooling || !now.Before(until) || r.models.Capabilities(at.model).Lacks(c.Request.Needs()) != "" {
		return
	}
	s.Model, s.Stays, c.stays = at.model, &recovery.Stay{Left: s.Model, Until: until}, true
}

// stayKey names the conversation of the run's call; false if there is none, or it has no name.
func (l *loop) stayKey() (string, bool) {
	if l.call == nil {
		return "", false
	}
	return stayKey(l.run.SessionKey, l.run.Chosen)
}

// learnStay remembers which model answered a call.
func (l *loop) learnStay(b recovery.Answered) {
	key, named := l.stayKey()
	if !named {
		return
	}
	now, at := l.r.now(), l.r.stays.of(key)
	if model := b.Message.Model; !l.call.stays || model != at.model {
		at.model, at.until = model, now.Add(stayFor)
	}
	at.at, at.cached = now, llm.Sum(b.Usage.CacheReadTokens, b.Usage.CacheWriteTokens)
	l.r.stays.set(key, at)
}

// cacheLost is how many tokens of the call were in a prompt cache and have been read again by
// another model.
func (l *loop) cacheLost(model string, used llm.Usage) int64 {
	key, named := l.stayKey()
	if !named {
		return 0
	}
	at := l.r.stays.of(key)
	if at.model == "" || at.model == model || l.r.now().Sub(at.at) > cacheKept {
		return 0
	}
	return min(at.cached, llm.Sum(used.InputTokens, used.CacheWriteTokens))
}
