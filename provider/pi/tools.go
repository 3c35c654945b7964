package pi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/failure/words"
)

const (
	maxResult = 256 << 10 // bytes of a tool's result
	maxTools  = 4096      // calls with results that nobody has asked for
)

// tool is a call that Pi carries out.
type tool struct {
	said   string
	result json.RawMessage // content
	failed bool
	over   bool
	moved  chan struct{} // of capacity 1: said or over has changed
}

// expect makes room for the results of the calls of a message.
func (p *process) expect(m *message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, call := range m.calls() {
		if len(p.tools) < maxTools {
			p.tools[call.ID] = &tool{moved: make(chan struct{}, 1)}
		}
	}
}

// change changes the tool that l is about.
func (p *process) change(l line, change func(t *tool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tools[l.string("toolCallId")]
	if t == nil || t.over {
		return
	}
	change(t)
	select {
	case t.moved <- struct{}{}:
	default:
	}
}

func (p *process) toolSays(l line) {
	var partial struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(l.members["partialResult"], &partial) // what is missing is not shown
	if said := lastLine(textOf(partial.Content)); said != "" {
		p.change(l, func(t *tool) { t.said = said })
	}
}

func (p *process) toolEnds(l line) {
	var result struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(l.members["result"], &result) // missing content is an empty result
	p.change(l, func(t *tool) { t.result, t.failed, t.over = result.Content, l.bool("isError"), true })
}

// result waits for the result of a call. said is called with what the tool says until then.
func (p *process) result(ctx context.Context, id string, said func(string)) (text string, failed bool, err error) {
	told := ""
	for {
		p.mu.Lock()
		t := p.tools[id]
		if t == nil {
			p.mu.Unlock()
			return "", false, errors.New("this pi knows nothing of the call: another process began it")
		}
		now := *t
		p.mu.Unlock()
		switch {
		case now.over:
			return p.known(id, nil)
		case now.said != told:
			told = now.said
			said(told)
		}
		select {
		case <-t.moved:
		case <-ctx.Done():
			return "", false, context.Cause(ctx)
		case <-p.gone:
			p.mu.Lock()
			over := t.over
			p.mu.Unlock()
			if !over {
				return "", false, fmt.Errorf("its outcome is not known: %w", p.cause)
			}
		}
	}
}

// known is the result of a call if it is known by now, otherwise err. It is given only once.
func (p *process) known(id string, err error) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tools[id]; t != nil && t.over {
		delete(p.tools, id)
		return words.Clip(textOf(t.result), maxResult), t.failed, nil
	}
	return "", false, err
}
