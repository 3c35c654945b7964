package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// gaveUp is usually read by nobody.
const gaveUp = "the request was given up"

// problem turns an error into the answer for its kind.
func (g *Gateway) problem(err error) error {
	var input *InputError
	switch {
	case errors.As(err, &input):
		return huma.Error422UnprocessableEntity("one field is wrong", &huma.ErrorDetail{Message: input.Err.Error(), Location: "body." + input.Field})
	case errors.Is(err, timeline.ErrNotFound):
		return huma.Error404NotFound("there is no such run")
	case errors.Is(err, recovery.ErrExpired):
		return huma.Error410Gone("this suggestion has expired: send the message again")
	case errors.Is(err, recovery.ErrNoSuggestion):
		return huma.Error409Conflict("the run has asked nobody anything")
	case errors.Is(err, recovery.ErrNoSuchAction):
		return g.problem(&InputError{"action", err})
	case errors.Is(err, recovery.ErrNoSuchCall):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, recovery.ErrOtherResult):
		return huma.Error409Conflict(err.Error() + ": that one counts")
	case errors.Is(err, recovery.ErrCallOver):
		return huma.Error410Gone(err.Error())
	case errors.Is(err, ErrBusy):
		return huma.Error409Conflict(ErrBusy.Error() + ": wait for it, answer it, or cancel it")
	case errors.Is(err, ErrKeyReused):
		return huma.Error409Conflict(ErrKeyReused.Error())
	case errors.Is(err, timeline.ErrClosed):
		return huma.Error503ServiceUnavailable("the gateway is closing")
	case errors.Is(err, context.Canceled):
		return huma.NewError(http.StatusServiceUnavailable, gaveUp)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		g.cfg.Logger.Warn("a request took too long", "err", err)
		return huma.Error503ServiceUnavailable("this takes too long now: try again in a moment, with the same Idempotency-Key if it begins a run")
	}
	if store, ok := errors.AsType[*timeline.StoreError](err); ok && !errors.Is(err, timeline.ErrDamaged) {
		return g.noStore(store)
	}
	g.cfg.Logger.Error("a request failed", "err", err)
	return huma.Error500InternalServerError(broke)
}

// refusePath answers a request without a route with a problem document, like every other
// error, and reports whether it did. instead is the mux's own handler for the request,
// which may also be a redirect to another path.
func refusePath(w http.ResponseWriter, r *http.Request, instead http.Handler) bool {
	said := &codeOnly{header: http.Header{}}
	instead.ServeHTTP(said, r)
	why := "there is nothing here: /openapi.json lists what there is"
	switch allow := said.header.Get("Allow"); said.code {
	case http.StatusNotFound:
	case http.StatusMethodNotAllowed:
		why = "this path takes other methods: " + allow
		w.Header().Set("Allow", allow)
	default:
		return false
	}
	writeProblem(w, said.code, why)
	return true
}
