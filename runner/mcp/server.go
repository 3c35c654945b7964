package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/runner"
)

// Status is the state of a server.
type Status string

// The statuses. A server is starting until it first runs or fails to. Then it is running,
// restarting, or, if it has died too often, broken, and left alone for a minute at a time.
const (
	StatusStarting   Status = "starting"
	StatusRunning    Status = "running"
	StatusRestarting Status = "restarting"
	StatusBroken     Status = "broken"
	StatusClosed     Status = "closed"
)

// State is what is known about a server.
type State struct {
	Name      string
	Status    Status
	Since     time.Time // when it got this status
	Tools     int       // how many it offers, or last offered
	Restarts  int       // since Open
	PID       int       // of its process; 0 = there is none
	LastError string    // one line; "" = there was none
}

// server keeps one server running.
type server struct {
	spec     Spec
	pace     pace
	logger   *slog.Logger
	client   *sdk.Client
	dial     func(context.Context, *link) (sdk.Transport, error)
	tried    chan struct{} // closed once its first start has succeeded or failed
	ended    chan struct{} // closed once it is no longer supervised
	changed  chan struct{} // holds one value if the tool list has changed
	underway callsUnderway
	noise    sync.Once

	mu    sync.Mutex
	state State
	link  *link         // nil while it is down
	news  chan struct{} // closed when the state changes
	tools []runner.Tool
}

func newServer(spec Spec, pace pace, logger *slog.Logger) *server {
	s := &server{
		spec: spec, pace: pace, logger: logger.With("mcp", spec.Name),
		tried: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}, 1), news: make(chan struct{}),
		state: State{Name: spec.Name, Status: StatusStarting, Since: time.Now()},
	}
	s.dial = s.transport
	s.client = sdk.NewClient(&sdk.Implementation{Name: "mulligan", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		},
		ProgressNotificationHandler: s.heardProgress,
		LoggingMessageHandler:       s.heardLog, //nolint:staticcheck // servers of every current protocol version send these
	})
	return s
}

// transport starts the process, or connects to the server elsewhere.
func (s *server) transport(ctx context.Context, l *link) (_ sdk.Transport, err error) {
	if s.spec.URL != "" {
		return s.spec.transport()
	}
	if l.process, err = startProcess(ctx, s.spec); err != nil {
		return nil, err
	}
	return l.process.transport(s.heardNoise), nil
}

// heardNoise logs, once, that the server wrote something that is not a message.
func (s *server) heardNoise(line []byte) {
	s.noise.Do(func() {
		s.logger.Warn("an MCP server writes something other than a message to standard output; it is dropped", "line", printable(string(line), 200))
	})
}

// supervise starts the server whenever it is not running, until ctx ends.
func (s *server) supervise(ctx context.Context) {
	defer close(s.ended)
	defer s.settled()
	again := restarts{pace: s.pace}
	for {
		began := time.Now()
		err := s.serve(ctx)
		if ctx.Err() != nil {
			s.setState(func(st *State) { st.Status = StatusClosed })
			return
		}
		wait, broken := again.died(time.Now(), time.Since(began))
		s.died(err, wait, broken)
		s.settled()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

func (s *server) died(err error, wait time.Duration, broken bool) {
	text := printable(err.Error(), 1<<10)
	s.setState(func(st *State) {
		st.Status, st.LastError = StatusRestarting, text
		if broken {
			st.Status = StatusBroken
		}
		st.Restarts++
	})
	s.logger.Warn("an MCP server does not run", "is", s.spec.where(), "err", text, "broken", broken, "again_in", wait)
}

// serve starts the server and returns when it has ended.
func (s *server) serve(ctx context.Context) error {
	l, tools, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer l.close(s.pace.stop)
	s.connected(l, tools)
	defer s.disconnected()
	s.settled()
	var relist <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.failed:
			return l.err
		case <-s.changed:
			if relist == nil { // several changes in a row are read once
				relist = time.After(s.pace.relist)
			}
		case <-relist:
			relist = nil
			if err := s.relist(ctx, l); err != nil {
				return err
			}
		}
	}
}

// settled says that the first start has succeeded or failed.
func (s *server) settled() {
	select {
	case <-s.tried:
	default:
		close(s.tried)
	}
}

// start connects and asks for the tools.
func (s *server) start(ctx context.Context) (*link, []runner.Tool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.pace.start, fmt.Errorf("%v", s.pace.start))
	defer cancel()
	l, err := s.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	tools, err := s.list(ctx, l)
	if err != nil {
		defer l.close(s.pace.stop)
		return nil, nil, err
	}
	return l, tools, nil
}

// relist asks for the tools again.
func (s *server) relist(ctx context.Context, l *link) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.pace.start, fmt.Errorf("%v", s.pace.start))
	defer cancel()
	tools, err := s.list(ctx, l)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.state.Tools = tools, len(tools)
	return nil
}

// list asks for the tools, until ctx or the link ends.
func (s *server) list(ctx context.Context, l *link) ([]runner.Tool, error) {
	type listed struct {
		tools []*sdk.Tool
		err   error
	}
	done := make(chan listed, 1)
	go func() {
		tools, err := listTools(ctx, l.session)
		done <- listed{tools, err}
	}()
	select {
	case a := <-done:
		if a.err != nil {
			return nil, fmt.Errorf("it does not say what tools it has: %w", a.err)
		}
		return s.offer(a.tools), nil
	case <-l.failed:
		return nil, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("it does not say in time what tools it has (%w)", context.Cause(ctx))
	}
}

func (s *server) connected(l *link, tools []runner.Tool) {
	s.setState(func(st *State) {
		s.link, s.tools = l, tools
		st.Status, st.Tools = StatusRunning, len(tools)
		if l.process != nil {
			st.PID = l.process.PID()
		}
	})
}

// disconnected keeps the tools: most likely they come back.
func (s *server) disconnected() {
	s.setState(func(st *State) {
		s.link, st.PID, st.Status = nil, 0, StatusRestarting
	})
}

// setState changes the state and wakes those who wait for a change.
func (s *server) setState(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.state.Status
	change(&s.state)
	if s.state.Status != before {
		s.state.Since = time.Now()
	}
	close(s.news)
	s.news = make(chan struct{})
}

// running waits a moment for a server that is down, and returns its link.
func (s *server) running(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, s.pace.await)
	defer cancel()
	for {
		s.mu.Lock()
		l, state, news := s.link, s.state, s.news
		s.mu.Unlock()
		switch {
		case l != nil && !l.over():
			return l, nil
		case state.Status == StatusBroken || state.Status == StatusClosed:
			return nil, fmt.Errorf("the MCP server %s is %s: %s", state.Name, state.Status, state.LastError)
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, fmt.Errorf("the MCP server %s does not run at the moment: %s", state.Name, state.LastError)
		}
	}
}

func (s *server) snapshot() (State, []runner.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.tools
}
