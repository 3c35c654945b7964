package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mulligan-run/mulligan/runner"
)

// maxProgressText is how much of a progress note is passed on, in bytes.
const maxProgressText = 200

// callsUnderway are the calls in the air, by their progress tokens.
type callsUnderway struct {
	mu   sync.Mutex
	next int
	all  map[string]context.Context
}

// begin records a call; done is called when it is over.
func (f *callsUnderway) begin(ctx context.Context) (token string, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[string]context.Context{}
	}
	f.next++
	token = strconv.Itoa(f.next)
	f.all[token] = ctx
	return token, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.all, token)
	}
}

// of gives the call with that token.
func (f *callsUnderway) of(token string) (ctx context.Context, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, ok = f.all[token]
	return ctx, ok
}

// only gives the call in the air if there is exactly one: a note without a token may belong to any
// of several.
func (f *callsUnderway) only() (ctx context.Context, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.all) != 1 {
		return nil, false
	}
	for _, ctx = range f.all {
	}
	return ctx, true
}

func (s *server) heardProgress(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	if ctx, ok := s.underway.of(token); ok {
		runner.Progress(ctx, progressText(req.Params))
	}
}

func progressText(p *sdk.ProgressNotificationParams) string {
	count := strconv.FormatFloat(p.Progress, 'g', 6, 64)
	if p.Total > 0 {
		count += " of " + strconv.FormatFloat(p.Total, 'g', 6, 64)
	}
	if message := printable(p.Message, maxProgressText); message != "" {
		return fmt.Sprintf("%s (%s)", message, count)
	}
	return count
}

func (s *server) heardLog(_ context.Context, req *sdk.LoggingMessageRequest) {
	text, ok := req.Params.Data.(string)
	if !ok {
		data, err := json.Marshal(req.Params.Data)
		if err != nil {
			return
		}
		text = string(data)
	}
	if ctx, ok := s.underway.only(); ok {
		runner.Progress(ctx, printable(text, maxProgressText))
	}
}
