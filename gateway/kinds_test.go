package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
)

// learner is a gateway that takes corrections, or takes none if learn is nil.
func learner(t *testing.T, w *written, learn func(failure.Failure, failure.Kind) (gateway.Lesson, error)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(gateway.New(gateway.Config{Runs: w, Log: w.log, CheckModel: checkModel, Learn: learn}))
	t.Cleanup(s.Close)
	return s
}

type kindList struct{ Kinds []gateway.KindListed }

func TestLearn(t *testing.T) {
	w := newWritten()
	var told []string
	s := learner(t, w, func(f failure.Failure, kind failure.Kind) (gateway.Lesson, error) {
		told = append(told, string(f.Kind)+" of "+f.Provider+" is "+string(kind))
		return gateway.Lesson{Before: f.Kind, After: kind, Row: "- {kind: auth}", File: "/there"}, nil
	})
	id, err := w.Start(t.Context(), gateway.Start{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	w.fail(t, id)
	var list kindList
	if code := call(t, http.MethodGet, s.URL+"/v1/kinds", "", nil, &list); code != http.StatusOK || len(list.Kinds) != len(failure.LocalKinds()) {
		t.Fatalf("%d: %+v", code, list)
	}
	for _, k := range list.Kinds {
		if k.Retryable != k.Kind.Retryable() {
			t.Errorf("%+v", k)
		}
	}
	at := s.URL + "/v1/runs/" + id + "/learn"
	var lesson gateway.Lesson
	if code := call(t, http.MethodPost, at, `{"kind":"billing","was":"overloaded"}`, nil, &lesson); code != http.StatusOK {
		t.Fatal(code)
	}
	if lesson.Before != failure.KindOverloaded || lesson.After != failure.KindBilling || lesson.Row == "" || lesson.File != "/there" {
		t.Errorf("%+v", lesson)
	}
	var run gateway.Run
	if call(t, http.MethodGet, s.URL+"/v1/runs/"+id, "", nil, &run); run.Error == nil || run.Error.Kind != failure.KindOverloaded {
		t.Errorf("the run's own error is %+v", run.Error)
	}
	for body, want := range map[string]int{
		`{"kind":"bilking","was":"overloaded"}`:               http.StatusUnprocessableEntity,
		`{"kind":"run_timeout","was":"overloaded"}`:           http.StatusUnprocessableEntity,
		`{"kind":"billing"}`:                                  http.StatusUnprocessableEntity,
		`{"kind":"billing","was":"overloaded","text":"mine"}`: http.StatusUnprocessableEntity,
		`{"kind":"billing","was":"auth"}`:                     http.StatusConflict,
	} {
		if code := call(t, http.MethodPost, at, body, nil, nil); code != want {
			t.Errorf("%s: %d, want %d", body, code, want)
		}
	}
	if code := call(t, http.MethodPost, s.URL+"/v1/runs/nobody/learn", `{"kind":"billing","was":"auth"}`, nil, nil); code != http.StatusNotFound {
		t.Errorf("of no run: %d", code)
	}
	if len(told) != 1 || told[0] != "overloaded of anthropic is billing" {
		t.Errorf("learned: %q", told)
	}
}

func TestLearnNothing(t *testing.T) {
	w := newWritten()
	id, err := w.Start(t.Context(), gateway.Start{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	const correction = `{"kind":"billing","was":"overloaded"}`
	refused := func(failure.Failure, failure.Kind) (gateway.Lesson, error) {
		return gateway.Lesson{}, fmt.Errorf("%w: a row of yours comes first", gateway.ErrNotLearned)
	}
	broken := func(failure.Failure, failure.Kind) (gateway.Lesson, error) {
		return gateway.Lesson{}, errors.New("/secret/path is broken")
	}
	never, says, breaks := learner(t, w, nil), learner(t, w, refused), learner(t, w, broken)
	var p struct{ Detail string }
	if code := call(t, http.MethodPost, says.URL+"/v1/runs/"+id+"/learn", correction, nil, &p); code != http.StatusConflict || p.Detail != "nothing was learned: the run's error is another one by now" {
		t.Errorf("of a run without an error: %d %s", code, p.Detail)
	}
	w.fail(t, id)
	for _, c := range []struct {
		at   *httptest.Server
		code int
		says string
	}{
		{never, http.StatusConflict, "nothing was learned: this gateway takes no corrections"},
		{says, http.StatusConflict, "nothing was learned: a row of yours comes first"},
		{breaks, http.StatusInternalServerError, "something broke in the gateway; its log says more"},
	} {
		if code := call(t, http.MethodPost, c.at.URL+"/v1/runs/"+id+"/learn", correction, nil, &p); code != c.code || p.Detail != c.says {
			t.Errorf("%d %q, want %d %q", code, p.Detail, c.code, c.says)
		}
	}
	var list kindList
	if call(t, http.MethodGet, never.URL+"/v1/kinds", "", nil, &list); list.Kinds == nil || len(list.Kinds) != 0 {
		t.Errorf("who learns nothing lists %+v", list)
	}
}
