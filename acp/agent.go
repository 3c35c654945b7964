package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"sync"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/timeline"
)

// ErrBusy says that the session's last run is still in progress.
var ErrBusy = errors.New("the previous run is still going on")

// Runs is what Serve needs of the core.
type Runs interface {
	// Start begins a run that answers prompt in a session, and returns its id. It fails with
	// ErrBusy while the session's last run is in progress.
	Start(ctx context.Context, session, prompt string) (run string, err error)
	// Resume continues a run that nobody drives; it fails with timeline.ErrOwned while
	// somebody does.
	Resume(ctx context.Context, run string) error
	// Recover answers a suggestion.
	Recover(ctx context.Context, run, suggestion, action string) error
	// Cancel ends a run.
	Cancel(ctx context.Context, run string) error
}

// Model is a model that can be chosen.
type Model struct {
	Name          string // provider/model
	Default       bool
	ContextTokens int // 0 = unknown
}

// Config is what Serve needs.
type Config struct {
	Runs        Runs
	Log         timeline.Log
	Models      func() []Model
	AutoRecover bool   // the default of sessions
	Dir         string // the working directory of the runs' tools, absolute
	Version     string
}

// agent serves one client.
type agent struct {
	Config
	conn *protocol.Connection

	mu       sync.Mutex
	can      capabilities
	sessions map[string]*session
	closed   bool
	busy     sync.WaitGroup // requests
}

// Serve serves the client that reads from w and writes to r until it disconnects or ctx ends. It
// leaves the client's runs as they are; they continue when a client loads the session.
func Serve(ctx context.Context, cfg Config, w io.Writer, r io.Reader) error {
	a := &agent{Config: cfg, sessions: map[string]*session{}}
	ready := make(chan struct{})
	a.conn = protocol.NewConnection(a.handle, w, &gate{r, ready})
	a.conn.SetLogger(slog.New(slog.DiscardHandler)) // the SDK's log would contain messages
	close(ready)
	select {
	case <-a.conn.Done():
	case <-ctx.Done():
	}
	a.mu.Lock()
	a.closed = true
	for _, s := range a.sessions {
		s.leave()
	}
	a.mu.Unlock()
	a.busy.Wait()
	return context.Cause(ctx)
}

// gate is a reader that blocks until it is opened: a connection reads as soon as it is made.
type gate struct {
	io.Reader
	open <-chan struct{}
}

func (g *gate) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

// gone reports whether the client has disconnected, or this end is about to.
func (a *agent) gone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.conn.Done():
		return true
	default:
		return a.closed
	}
}

type route func(a *agent, ctx context.Context, params json.RawMessage) (any, error)

// on makes the route of a method, whose parameters are decoded and checked.
func on[P, R any](f func(*agent, context.Context, *P) (R, error)) route {
	return func(a *agent, ctx context.Context, params json.RawMessage) (any, error) {
		p := new(P)
		if err := json.Unmarshal(params, p); err != nil {
			return nil, invalid(err)
		}
		if v, ok := any(p).(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return nil, invalid(err)
			}
		}
		return f(a, ctx, p)
	}
}

var routes = map[string]route{
	protocol.AgentMethodInitialize:             on((*agent).initialize),
	protocol.AgentMethodAuthenticate:           on((*agent).authenticate),
	protocol.AgentMethodSessionNew:             on((*agent).newSession),
	protocol.AgentMethodSessionLoad:            on((*agent).loadSession),
	protocol.AgentMethodSessionList:            on((*agent).listSessions),
	protocol.AgentMethodSessionSetModel:        on((*agent).setModel),
	protocol.AgentMethodSessionSetConfigOption: on((*agent).setOption),
	protocol.AgentMethodSessionSetMode:         on((*agent).setMode),
	protocol.AgentMethodSessionPrompt:          on((*agent).prompt),
	protocol.AgentMethodSessionCancel:          on((*agent).cancel),
}

// handle answers a request.
func (a *agent) handle(ctx context.Context, method string, params json.RawMessage) (any, *protocol.RequestError) {
	to, ok := routes[method]
	if !ok {
		return nil, protocol.NewMethodNotFound(method)
	}
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil, failed(errGone)
	}
	a.busy.Add(1)
	a.mu.Unlock()
	defer a.busy.Done()
	result, err := to(a, ctx, params)
	if err != nil {
		return nil, failed(err)
	}
	return result, nil
}

var errGone = errors.New("this program is shutting down")

// Codes of JSON-RPC and of the protocol.
const (
	codeInternal = -32603
	codeInvalid  = -32602
	codeNotFound = -32002
)

// invalid is the error for an invalid request.
func invalid(err error) error { return &protocol.RequestError{Code: codeInvalid, Message: err.Error()} }

// failed is err as an error of the protocol; people see its message.
func failed(err error) *protocol.RequestError {
	if asked, ok := errors.AsType[*protocol.RequestError](err); ok {
		return asked
	}
	code := codeInternal
	if errors.Is(err, timeline.ErrNotFound) {
		code = codeNotFound
	}
	return &protocol.RequestError{Code: code, Message: err.Error()}
}

// capabilities are those of a client that matter here.
type capabilities struct {
	Elicitation struct {
		Form given `json:"form"`
	} `json:"elicitation"`
	Session struct {
		Notices given `json:"notices"`
	} `json:"session"`
}

// given is a capability that is present as an object.
type given bool

func (g *given) UnmarshalJSON(b []byte) error {
	*g = given(bytes.HasPrefix(b, []byte("{")))
	return nil
}

type hello struct {
	ClientCapabilities json.RawMessage `json:"clientCapabilities"`
}

func (a *agent) initialize(_ context.Context, h *hello) (protocol.InitializeResponse, error) {
	var can capabilities
	if json.Unmarshal(h.ClientCapabilities, &can) != nil {
		can = capabilities{} // what cannot be read counts as missing
	}
	a.mu.Lock()
	a.can = can
	a.mu.Unlock()
	return protocol.InitializeResponse{
		ProtocolVersion: protocol.ProtocolVersionNumber,
		AgentInfo:       &protocol.Implementation{Name: "mulligan", Title: protocol.Ptr("Mulligan"), Version: a.Version},
		AuthMethods:     []protocol.AuthMethod{},
		AgentCapabilities: protocol.AgentCapabilities{
			LoadSession:         true,
			PromptCapabilities:  protocol.PromptCapabilities{EmbeddedContext: true},
			SessionCapabilities: protocol.SessionCapabilities{List: &protocol.SessionListCapabilities{}},
		},
	}, nil
}

// able gives the client's capabilities.
func (a *agent) able() capabilities {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.can
}

func (*agent) authenticate(context.Context, *protocol.AuthenticateRequest) (protocol.AuthenticateResponse, error) {
	return protocol.AuthenticateResponse{}, nil
}

// update tells the client something about a session. Failing to do so is no error: if the client
// has disconnected, its requests end.
func (a *agent) update(session string, what any) {
	_ = a.conn.SendNotification(context.Background(), protocol.ClientMethodSessionUpdate, map[string]any{"sessionId": session, "update": what})
}

// ask asks the client.
func ask[R any](ctx context.Context, a *agent, method string, params map[string]any) (R, error) {
	return protocol.SendRequest[R](a.conn, ctx, method, maps.Clone(params))
}
