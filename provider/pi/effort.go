package pi

import (
	"context"
	"encoding/json"
)

// think makes Pi's model think as much as a request says, until the turn is over. Pi knows the
// levels, and does with them what the model can; a model that cannot is asked nevertheless.
func (s *session) think(ctx context.Context, p *process, effort string) {
	if effort == "" {
		return
	}
	if s.thought() == "" {
		data, _ := p.ask(ctx, answerTime, map[string]any{"type": "get_state"}) // an unknown level is not restored
		var state struct {
			Level string `json:"thinkingLevel"`
		}
		_ = json.Unmarshal(data, &state)
		s.set(func() { s.level = state.Level })
	}
	_, _ = p.ask(ctx, answerTime, map[string]any{"type": "set_thinking_level", "level": effort})
}

// thinkAsBefore restores the earlier level when the turn is over: Pi would keep the other one with
// the conversation.
func (s *session) thinkAsBefore() {
	p, level := s.process(), s.thought()
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if p == nil || live || level == "" || s.passing {
		return
	}
	_, _ = p.ask(context.Background(), abortTime, map[string]any{"type": "set_thinking_level", "level": level})
	s.set(func() { s.level = "" })
}

// thought is the level to restore; "" for none.
func (s *session) thought() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}
