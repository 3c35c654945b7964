package pi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
)

const (
	endTime  = 500 * time.Millisecond // for Pi to end, before it is killed
	killTime = 300 * time.Millisecond // for the system to end what is killed
	pipeTime = 100 * time.Millisecond // to read what was printed before the end

	maxAhead = 16 << 20 // bytes of unread events, before Pi has to wait

	markVariable = "MULLIGAN_PI" // marks what Pi starts
)

var errGone = errors.New("pi has ended")

// process is a Pi in RPC mode. One goroutine reads its output and passes each line to what waits
// for it.
type process struct {
	*procgroup.Process
	program procgroup.Program
	seen    *requestObserver // nil = its requests are not observed
	mark    string
	errs    *procgroup.Tail
	asked   sync.Mutex // held to write to stdin

	mu       sync.Mutex
	ahead    []event
	bytes    int
	heard    bool          // Pi has said anything at all
	deaf     bool          // events are dropped, until further notice
	news     chan struct{} // of capacity 1: there is something in ahead, or Pi has ended
	room     *sync.Cond    // there is room in ahead
	answers  map[string]chan answer
	count    int
	prompted string // id of the last prompt
	tools    map[string]*tool
	gone     chan struct{} // closed when Pi has ended and all its output was read
	cause    error         // why it ended, once gone is closed
	ending   sync.Once
	finished chan struct{} // closed when stop has returned
}

// start starts a program, and does not wait until Pi is ready. seen, if not nil, observes its
// requests from then on. If we are killed, Pi is told to end, and then ends its tools, which are in
// process groups of their own. If Pi were killed, too, it would leave them.
func start(program procgroup.Program, seen *requestObserver) (*process, error) {
	p := &process{
		seen: seen, mark: markVariable + "=" + rand.Text(), errs: procgroup.NewTail(maxErrors), news: make(chan struct{}, 1),
		answers: map[string]chan answer{}, tools: map[string]*tool{}, gone: make(chan struct{}), finished: make(chan struct{}),
	}
	p.room = sync.NewCond(&p.mu)
	if seen != nil {
		seen.tell = p.put
	}
	program.Env, program.Stderr, program.AskedToEnd = append(program.Env, p.mark), p.errs, true
	p.program = program
	var err error
	if p.Process, err = procgroup.Start(program); err != nil {
		return nil, err
	}
	go p.read()
	return p, nil
}

// read reads everything that Pi says.
func (p *process) read() {
	in, err := newLines(p.Stdout), error(nil)
	for err == nil {
		var b []byte
		if b, err = in.next(); err == nil {
			err = p.take(b)
		}
	}
	_ = p.Stdout.Close() // Pi gets an error if it goes on
	ended := errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed)
	if !ended {
		p.stop()
	}
	<-p.Exited()
	p.seen.end()
	p.sweep() // something else may have killed Pi, but not what it started
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause = err; ended {
		p.cause = fmt.Errorf("%w: %s", errGone, p.State())
	}
	close(p.gone)
	p.tell()
}

// take passes a line to what waits for it.
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
		e.seen = p.seen.take()
	}
	p.put(e)
	return nil
}

// put queues an event for the call that reads the turn; it waits while the queue is too long.
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

// next gives the next event of the turn. It waits for at most most, unless that is 0, and no longer
// than ctx; inTime is false if most is over.
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

// ignore makes events be dropped, or kept again.
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

// stop ends Pi and everything that it started, including the tools' own process groups, and returns
// within a second.
func (p *process) stop() {
	p.ending.Do(func() {
		p.ignore(true)
		p.Ask()
		if !procgroup.Within(p.Exited(), endTime) {
			p.Kill()
		}
		p.sweep()
		_ = p.Stdin.Close()
		procgroup.Within(p.Exited(), pipeTime)
		_ = p.Stdout.Close()
		close(p.finished)
	})
	<-p.finished
}

// sweep kills what Pi has started and what left its group, for killTime at most.
func (p *process) sweep() { killAll(p.mark) }
