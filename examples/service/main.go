// Command service is a small web service around a Runner: tools with types, runs that outlive the
// requests that begin them, answers that stream to a browser, labels by tenant, buttons. docs/embed.md
// walks through it.
//
//	ANTHROPIC_API_KEY=… go run ./examples/service
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/plugins/autorecover"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, "127.0.0.1:8080"); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, address string) error {
	store, err := sqlite.Open(ctx, "service-runs")
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	models, err := provider.New(provider.Defaults()) // keys: ANTHROPIC_API_KEY, OPENAI_API_KEY, …
	if err != nil {
		return err
	}
	service, letGo := context.WithCancelCause(context.WithoutCancel(ctx))
	s := newService(service, store, models, "anthropic/claude-sonnet-4-5", "openai/gpt-5.2")
	defer s.leave(letGo)
	go s.keep(service)
	web := &http.Server{Addr: address, Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = web.Close()
	}()
	log.Printf("http://%s", address)
	if err := web.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

type service struct {
	runs *runner.Runner
	log  timeline.Log
}

// keep goes on with the runs that earlier processes have left, and with those whose time has come.
func (s *service) keep(ctx context.Context) {
	if err := s.runs.Keep(ctx, nil); err != nil {
		log.Print(err)
	}
}

// leave lets go of the runs that go on, and waits until that is written down. Without the cause they
// would be cancelled.
func (s *service) leave(letGo context.CancelCauseFunc) {
	letGo(runner.ErrLetGo)
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if err := s.runs.Drain(ctx); err != nil {
		log.Print(err)
	}
}

func newService(ctx context.Context, store timeline.Log, models runner.Models, model string, fallbacks ...string) *service {
	orders := runner.ToolOf("orders", "The open orders of the customer.", openOrders)
	orders.Safety = recovery.SafetyReadOnly
	cancel := runner.ToolOf("cancel_order", "Cancels an open order of the customer.", cancelOrder)
	cancel.Approval = true
	return &service{log: store, runs: runner.New(
		runner.WithModels(models, model, fallbacks...), runner.WithLog(store), runner.WithDetached(ctx), runner.WithTools(orders, cancel),
		runner.WithAutoRecover(true), runner.WithHook(autorecover.Name, autorecover.Hook()))}
}

type ordersOf struct {
	Since string `json:"since,omitempty" jsonschema:"a date, for example 2026-03-01"`
}

type order struct {
	Number int    `json:"number"`
	What   string `json:"what"`
}

// openOrders knows whose call it is by the run's labels: a model cannot ask for another tenant's.
func openOrders(ctx context.Context, _ ordersOf) ([]order, error) {
	tenant := runner.CallOf(ctx).Labels["tenant"]
	if tenant != "acme" {
		return nil, fmt.Errorf("%s has no orders", tenant)
	}
	return []order{{17, "golf balls"}, {18, "a putter"}}, nil
}

type cancelled struct {
	Number int `json:"number" jsonschema:"the number of the order"`
}

// cancelOrder runs once the customer has pressed the button: no model cancels anything alone.
func cancelOrder(ctx context.Context, in cancelled) (string, error) {
	return fmt.Sprintf("order %d of %s is cancelled", in.Number, runner.CallOf(ctx).Labels["tenant"]), nil
}

//go:embed page.html
var page embed.FS

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, "page.html") })
	mux.HandleFunc("POST /ask", s.ask)
	mux.HandleFunc("GET /runs", s.list)
	mux.HandleFunc("GET /runs/{id}/events", s.theirs(s.events))
	mux.HandleFunc("POST /runs/{id}/answer", s.theirs(s.answer))
	return mux
}

// tenant is whoever asks: a real service has it from its login.
func tenant(r *http.Request) recovery.Labels {
	who, err := r.Cookie("tenant")
	if err != nil {
		return recovery.Labels{"tenant": "nobody"}
	}
	return recovery.Labels{"tenant": who.Value}
}

// theirs lets a tenant at its own runs only.
func (s *service) theirs(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		run, err := s.runs.Inspect(r.Context(), r.PathValue("id"))
		if err != nil || run.Labels["tenant"] != tenant(r)["tenant"] {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}
}

func (s *service) ask(w http.ResponseWriter, r *http.Request) {
	var in struct{ Question string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	run, err := s.runs.Start(r.Context(), runner.Request{Prompt: in.Question, Labels: tenant(r)})
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	reply(w, map[string]string{"id": run.ID()})
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	runs, err := s.log.List(r.Context(), timeline.Query{Labels: tenant(r)})
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	reply(w, runs)
}

// events streams a run to a browser, whose EventSource comes back by itself with the last event
// that it has.
func (s *service) events(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for item, err := range s.runs.Follow(r.Context(), r.PathValue("id"), after) {
		switch {
		case err != nil:
			send(w, "problem", map[string]string{"text": err.Error()})
		case item.Delta != nil:
			send(w, "delta", map[string]any{"attempt": item.Delta.Attempt, "offset": item.Delta.Offset, "text": item.Delta.Text})
		case item.Event != nil:
			fmt.Fprintf(w, "id: %d\n", item.Event.Seq)
			send(w, "event", item.Event)
		}
		if out.Flush() != nil {
			return
		}
	}
	send(w, "end", struct{}{})
}

// answer presses a button of a run that asks.
func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	var in struct{ Suggestion, Action string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, err := s.runs.Recover(r.Context(), r.PathValue("id"), runner.Answer{Suggestion: in.Suggestion, Action: in.Action}); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	reply(w, map[string]string{"id": r.PathValue("id")})
}

func send(w http.ResponseWriter, name string, data any) {
	if text, err := json.Marshal(data); err == nil {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text)
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
