package pi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/recovery"
)

const (
	answerTime = 20 * time.Second       // for Pi to answer a command; it reads none before it has started
	abortTime  = time.Second            // for Pi to stop what it does
	endTime    = 500 * time.Millisecond // for Pi to end, before it is killed
	killTime   = 300 * time.Millisecond // for the system to end what is killed
	pipeTime   = 100 * time.Millisecond // to read what was printed before the end

	maxAhead  = 16 << 20  // bytes of events that nobody has heard yet, before Pi has to wait
	maxErrors = 16 << 10  // bytes of the end of stderr
	maxResult = 256 << 10 // bytes of a tool's result
	maxTools  = 4096      // calls whose results nobody has asked for

	markVariable = "MULLIGAN_PI" // marks what Pi starts
)

var errGone = errors.New("pi has ended")

// process is a Pi in RPC mode. One goroutine reads it and puts what it says where it is
// waited for.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	mark  string
	out   io.Closer
	errs  *tail
	asked sync.Mutex // writes to stdin

	mu       sync.Mutex
	ahead    []event
	bytes    int
	heard    bool          // Pi has said anything at all
	deaf     bool          // nobody hears what comes, until further notice
	news     chan struct{} // of capacity 1: there is something in ahead, or Pi is gone
	room     *sync.Cond    // there is room in ahead
	answers  map[string]chan answer
	count    int
	prompted string // id of the last prompt
	tools    map[string]*tool
	gone     chan struct{} // closed when Pi has ended and all it said was read
	cause    error         // of that, once gone is closed
	exited   chan struct{}
	ending   sync.Once
	finished chan struct{} // closed when stop is over
}

// answer is Pi's response to a command.
type answer struct {
	ok   bool
	text string
	data json.RawMessage
}

// tool is a call that Pi carries out.
type tool struct {
	said   string
	result json.RawMessage // content
	failed bool
	over   bool
	moved  chan struct{} // of capacity 1: said or over has changed
}

// start starts what cmd describes, and does not wait until Pi is ready.
func start(cmd *exec.Cmd) (*process, error) {
	p := &process{
		cmd: cmd, mark: markVariable + "=" + rand.Text(), errs: &tail{}, news: make(chan struct{}, 1),
		answers: map[string]chan answer{}, tools: map[string]*tool{},
		gone: make(chan struct{}), exited: make(chan struct{}), finished: make(chan struct{}),
	}
	p.room = sync.NewCond(&p.mu)
	cmd.Env = append(cmd.Env, p.mark)
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, outEnd := io.Pipe()
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = outEnd, p.errs, pipeTime
	p.out = out
	endWithUs(cmd)
	if err := procgroup.Start(cmd); err != nil {
		return nil, err
	}
	go p.read(out)
	go func() {
		_ = cmd.Wait() // how it ended is in its state
		_ = outEnd.Close()
		close(p.exited)
	}()
	return p, nil
}

// read takes in all that Pi says.
func (p *process) read(from io.ReadCloser) {
	in, err := newLines(from), error(nil)
	for err == nil {
		var b []byte
		if b, err = in.next(); err == nil {
			err = p.take(b)
		}
	}
	_ = from.Close() // Pi gets an error if it goes on
	if !errors.Is(err, io.EOF) {
		p.stop()
	}
	<-p.exited
	p.sweep() // somebody else may have killed Pi, and not what it started
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause = err; errors.Is(err, io.EOF) {
		p.cause = fmt.Errorf("%w: %s", errGone, p.cmd.ProcessState)
	}
	for id, waits := range p.answers {
		delete(p.answers, id)
		close(waits)
	}
	close(p.gone)
	p.tell()
}

// take puts a line where it is waited for.
func (p *process) take(b []byte) error {
	l, err := readLine(b)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.heard = true
	p.mu.Unlock()
	switch l.kind {
	case "response":
		if text, ok := p.answered(l); ok {
			p.put(event{kind: refused, text: text})
		}
		return nil
	case "extension_ui_request":
		p.decline(l)
		return nil
	case "tool_execution_update":
		p.toolSays(l)
	case "tool_execution_end":
		p.toolEnds(l)
	}
	e, err := l.event()
	if err != nil {
		return err
	}
	if e.kind == ends {
		p.expect(e.message)
	}
	p.put(e)
	return nil
}

// put keeps an event for whoever hears the turn; it waits while too much is kept.
func (p *process) put(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.bytes > maxAhead && !p.deaf {
		p.room.Wait()
	}
	if n := len(p.ahead); p.deaf || e.kind == noise && n > 0 && p.ahead[n-1].kind == noise {
		return
	}
	const each = 128 // bytes that an event takes by itself
	e.bytes += each
	p.ahead, p.bytes = append(p.ahead, e), p.bytes+e.bytes
	p.tell()
}

func (p *process) tell() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// next gives the next event of the turn. It waits no longer than ctx and, unless that is
// 0, than most; in time is false when that is over.
func (p *process) next(ctx context.Context, most time.Duration) (e event, inTime bool, err error) {
	var clock <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		clock = timer.C
	}
	for {
		p.mu.Lock()
		if len(p.ahead) > 0 {
			e, p.ahead = p.ahead[0], p.ahead[1:]
			p.bytes -= e.bytes
			p.room.Signal()
			p.mu.Unlock()
			return e, true, nil
		}
		p.mu.Unlock()
		if p.isGone() {
			return event{}, true, p.cause
		}
		select {
		case <-p.news:
		case <-clock:
			return event{}, false, nil
		case <-ctx.Done():
			return event{}, true, context.Cause(ctx)
		}
	}
}

// ignore has what is said be dropped, or, after that, be kept again.
func (p *process) ignore(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf, p.ahead, p.bytes = deaf, nil, 0
	p.room.Broadcast()
}

func (p *process) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// spoke reports whether Pi has said anything at all.
func (p *process) spoke() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard
}

// ask gives Pi a command and waits for its response, which is an error if Pi says so.
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
	sent := make(chan error, 1)
	go func() { sent <- p.send(command) }() // a Pi that does not read would hold us up
	for {
		select {
		case err := <-sent:
			if err != nil {
				return nil, errors.Join(errGone, err)
			}
			sent = nil
		case a, ok := <-waits:
			switch {
			case !ok:
				return nil, errGone
			case !a.ok:
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

// prompt gives Pi something to do. That it does not take it is an event.
func (p *process) prompt(ctx context.Context, command map[string]any) error {
	command["type"] = "prompt"
	id := p.number(command)
	p.mu.Lock()
	p.prompted, p.tools = id, map[string]*tool{}
	p.mu.Unlock()
	sent := make(chan error, 1)
	go func() { sent <- p.send(command) }() // a Pi that does not read would hold us up
	select {
	case err := <-sent:
		if err != nil {
			return errors.Join(errGone, err)
		}
		return nil
	case <-p.gone:
		return p.cause
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// refusedError is what Pi says of a command that it does not carry out.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

func (p *process) send(command map[string]any) error {
	b, err := json.Marshal(command)
	if err != nil {
		return err
	}
	p.asked.Lock()
	defer p.asked.Unlock()
	_, err = p.stdin.Write(append(b, '\n'))
	return err
}

// answered takes a response. It gives what Pi says where that is that it does nothing
// about the last prompt.
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

// decline answers an extension that wants to ask a person: nobody is there.
func (p *process) decline(l line) {
	switch l.string("method") {
	case "select", "confirm", "input", "editor":
		reply := map[string]any{"type": "extension_ui_response", "id": l.string("id"), "cancelled": true}
		go func() { _ = p.send(reply) }() // a Pi that is gone waits for nothing
	}
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
	_ = json.Unmarshal(l.members["partialResult"], &partial) // what is not said is not shown
	if said := lastLine(textOf(partial.Content)); said != "" {
		p.change(l, func(t *tool) { t.said = said })
	}
}

func (p *process) toolEnds(l line) {
	var result struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(l.members["result"], &result) // no content is an empty result
	p.change(l, func(t *tool) { t.result, t.failed, t.over = result.Content, l.bool("isError"), true })
}

// result waits for what came of a call. said gets what the tool says meanwhile.
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
				return "", false, fmt.Errorf("nobody knows what came of it: %w", p.cause)
			}
		}
	}
}

// known is what came of a call if that is known by now, else err. It is given once.
func (p *process) known(id string, err error) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tools[id]; t != nil && t.over {
		delete(p.tools, id)
		return recovery.Clip(textOf(t.result), maxResult), t.failed, nil
	}
	return "", false, err
}

// stop ends Pi and whatever it started, the tools' own process groups included, and
// returns within a second.
func (p *process) stop() {
	p.ending.Do(func() {
		p.ignore(true)
		if !within(p.exited, 0) {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			within(p.exited, endTime)
		}
		p.sweep()
		_ = p.stdin.Close()
		within(p.exited, pipeTime)
		_ = p.out.Close()
		close(p.finished)
	})
	<-p.finished
}

// sweep kills what is left of Pi and of what it started, for killTime at the most.
func (p *process) sweep() {
	group := p.cmd.Process.Pid
	deadline := time.Now().Add(killTime)
	for pause := time.Millisecond; ; pause *= 2 {
		left := procgroup.Marked(p.mark)
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		alive := procgroup.Alive(group)
		if alive {
			procgroup.Signal(group, syscall.SIGKILL)
		}
		if !alive && len(left) == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(pause)
	}
}

// within reports whether the channel is closed within the given time.
func within(done <-chan struct{}, most time.Duration) bool {
	select {
	case <-done:
		return true
	default:
	}
	select {
	case <-done:
		return true
	case <-time.After(most):
		return false
	}
}
