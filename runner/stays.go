package runner

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// A conversation whose call another model answered goes on there: the model that was asked for
// would most likely fail again, at the cost of its clocks and retries, and what it would find
// in its prompt cache is gone soon. This holds while that model cools down, and for a moment
// where its failure cools nothing.

const (
	maxStays = 4096
	stayFor  = 20 * time.Second // who flaps is asked again within 30 s of being well
	// cacheKept is how long a provider keeps a prompt that nobody asks for again.
	cacheKept = 5 * time.Minute
)

// stays is where conversations are, as long as this process lives.
type stays struct {
	mu sync.Mutex
	at map[string]stay
}

type stay struct {
	model  string    // that answered last
	at     time.Time // when that was
	until  time.Time // the model that was asked for is left alone until then
	cached int64     // tokens of the conversation that a prompt cache of model has
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

// stayKey names a conversation of calls that ask for model; false where it has no name.
func stayKey(session, model string) (string, bool) { return session + "\x00" + model, session != "" }

// staysWith begins the run of a call, if it is one, with the model that its conversation went to.
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

// stayKey names the conversation of a call; false where it is none, or has no name.
func (l *loop) stayKey() (string, bool) {
	if l.call == nil {
		return "", false
	}
	return stayKey(l.run.SessionKey, l.run.Chosen)
}

// learnStay remembers who answered a call.
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

// cacheLost is how much of the call a prompt cache had, and another model has read anew.
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
