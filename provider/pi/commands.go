package pi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	answerTime = 20 * time.Second // for Pi to answer a command; it reads none until it has started
	abortTime  = time.Second      // for Pi to stop what it is doing
)

// answer is Pi's response to a command.
type answer struct {
	ok   bool
	text string
	data json.RawMessage
}

// ask sends Pi a command and waits for its response, which is an error if Pi says so.
func (p *process) ask(ctx context.Context, most time.Duration, command map[string]any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("pi did not answer %s within %v", command["type"], most))
	defer cancel()
	waits := make(chan answer, 1)
	id := p.number(command)
	p.mu.Lock()
	p.answers[id] = waits
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.answers, id)
		p.mu.Unlock()
	}()
	sent := p.post(command)
	for {
		select {
		case err := <-sent:
			if err != nil {
				return nil, errors.Join(errGone, err)
			}
			sent = nil
		case a := <-waits:
			if !a.ok {
				return nil, &refusedError{a.text}
			}
			return a.data, nil
		case <-p.gone:
			return nil, p.cause
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// number gives a command its id.
func (p *process) number(command map[string]any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	id := strconv.Itoa(p.count)
	command["id"] = id
	return id
}

// prompt gives Pi something to do. If Pi refuses it, an event says so; if Pi ends, next does.
func (p *process) prompt(ctx context.Context, command map[string]any) error {
	command["type"] = "prompt"
	id := p.number(command)
	p.mu.Lock()
	p.prompted, p.tools = id, map[string]*tool{}
	p.mu.Unlock()
	p.seen.begin()
	select {
	case err := <-p.post(command):
		if err != nil {
			return errors.Join(errGone, err)
		}
	case <-p.gone:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// refusedError is what Pi says about a command that it does not carry out.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

// post sends a command without making the caller wait for a Pi that does not read.
func (p *process) post(command map[string]any) <-chan error {
	sent := make(chan error, 1)
	go func() { sent <- p.send(command) }()
	return sent
}

func (p *process) send(command map[string]any) error {
	b, err := json.Marshal(command)
	if err != nil {
		return err
	}
	p.asked.Lock()
	defer p.asked.Unlock()
	_, err = p.Stdin.Write(append(b, '\n'))
	return err
}

// answered handles a response. idle means that Pi does nothing about the last prompt; says is then
// its reason.
func (p *process) answered(l line) (says string, idle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := l.string("id")
	if id == p.prompted && id != "" {
		var data struct {
			Disposition string `json:"disposition"`
		}
		_ = json.Unmarshal(l.members["data"], &data) // versions before 0.99 have none
		if !l.bool("success") {
			return l.string("error"), true
		}
		return "Pi took the message for a command of its own", data.Disposition == "handled"
	}
	if waits := p.answers[id]; waits != nil {
		delete(p.answers, id)
		waits <- answer{ok: l.bool("success"), text: l.string("error"), data: append(json.RawMessage(nil), l.members["data"]...)}
	}
	return "", false
}

// decline answers an extension that wants to ask a person: there is none.
func (p *process) decline(l line) {
	switch l.string("method") {
	case "select", "confirm", "input", "editor":
		reply := map[string]any{"type": "extension_ui_response", "id": l.string("id"), "cancelled": true}
		go func() { _ = p.send(reply) }() // a Pi that has ended waits for nothing
	}
}
