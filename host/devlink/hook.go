package devlink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/recovery"
)

// Sizes of messages on the socket of a plugin under development, in bytes.
const (
	maxDevQuestion = 64 << 20
	maxDevAnswer   = 1 << 20
)

// devAnswer is a vote, or why there is none.
type devAnswer struct {
	Vote  recovery.Vote `json:"vote"`
	Error string        `json:"error,omitempty"`
}

// Hook asks a plugin that "plugin dev" runs in another process.
type Hook struct {
	client   *http.Client
	deadline time.Duration
}

// NewHook returns a hook that asks the process named by link and waits at most
// deadline.
func NewHook(link *Link, deadline time.Duration) *Hook {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, link.Network, link.Addr)
	}
	return &Hook{&http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}, deadline}
}

// Advise implements hooks.Hook.
func (d *Hook) Advise(ctx context.Context, about hooks.Occasion) (recovery.Vote, error) {
	ctx, cancel := context.WithTimeout(ctx, d.deadline)
	defer cancel()
	question, err := json.Marshal(about.For(true)) // the dev plugin's own host passes the transcript on if it was granted
	if err != nil {
		return recovery.Vote{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://dev/"+about.Hook(), bytes.NewReader(question))
	if err != nil {
		return recovery.Vote{}, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return recovery.Vote{}, fmt.Errorf("the dev plugin does not answer: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var a devAnswer
	if err := json.NewDecoder(io.LimitReader(response.Body, maxDevAnswer)).Decode(&a); err != nil {
		return recovery.Vote{}, fmt.Errorf("the dev plugin's answer: %w", err)
	}
	if a.Error != "" {
		return a.Vote, errors.New(a.Error)
	}
	return a.Vote, nil
}

// read reads what a hook is asked about, by the hook.
var read = map[string]func(*json.Decoder) (hooks.Occasion, error){
	recovery.HookRunError:   occasion[hooks.RunError],
	recovery.HookBeforeCall: occasion[hooks.BeforeCall],
	recovery.HookToolError:  occasion[hooks.ToolError],
	recovery.HookRunEnded:   occasion[hooks.RunEnded],
}

func occasion[E hooks.Occasion](from *json.Decoder) (hooks.Occasion, error) {
	var e E
	err := from.Decode(&e)
	return e, err
}

// Handler answers requests from a [Hook] with what hook says, and reports each to tell.
func Handler(hook hooks.Hook, tell func(hooks.Occasion, recovery.Vote, error, time.Duration)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{hook}", func(w http.ResponseWriter, r *http.Request) {
		occasion := read[r.PathValue("hook")]
		if occasion == nil {
			http.NotFound(w, r)
			return
		}
		about, err := occasion(json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDevQuestion)))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		began := time.Now()
		vote, err := hook.Advise(r.Context(), about)
		tell(about, vote, err, time.Since(began))
		answer := devAnswer{Vote: vote}
		if err != nil {
			answer.Error = words.Clip(err.Error(), hooks.MaxError)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // if the caller is gone, nobody needs the answer
	})
	return mux
}
