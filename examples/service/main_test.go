package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/timeline"
)

// start is the service before a provider that does what the script says.
func start(t *testing.T, script ...faultlab.Step) *httptest.Server {
	t.Helper()
	_, models := fails(t, script...)
	web := httptest.NewServer(newService(t.Context(), timeline.NewMemory(), models, "lab/quill-1").routes())
	t.Cleanup(web.Close)
	return web
}

// fails is a provider that does what the script says, and its models.
func fails(t *testing.T, script ...faultlab.Step) (*faultlab.Lab, *provider.Set) {
	t.Helper()
	lab := faultlab.New(faultlab.WithPace(0))
	lab.Script("quill-1", script...)
	fake, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fake.Close() })
	models, err := provider.New([]provider.Entry{{Name: "lab", Type: "openai", BaseURL: fake.URL() + "/v1", Key: "any"}})
	if err != nil {
		t.Fatal(err)
	}
	return lab, models
}

// replied is what came of a request.
type replied struct {
	code int
	head http.Header
	body io.Reader
}

func request(t *testing.T, method, url, tenant, body string) replied {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "tenant", Value: tenant})
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return replied{answer.StatusCode, answer.Header, answer.Body}
}

func ask(t *testing.T, at, tenant, question string) (run string) {
	t.Helper()
	var begun struct{ ID string }
	body, _ := json.Marshal(map[string]string{"question": question})
	if err := json.NewDecoder(request(t, "POST", at+"/ask", tenant, string(body)).body).Decode(&begun); err != nil || begun.ID == "" {
		t.Fatalf("%+v, %v", begun, err)
	}
	return begun.ID
}

// event is what the page hears.
type event struct {
	Type string
	Text string
	Data struct {
		Suggestion struct {
			ID      string
			Actions []struct{ ID, Kind string }
		}
		Message struct{ Parts []struct{ Text string } }
		Result  struct{ Text string }
	}
}

// heard are the events of a run until one of them ends what is looked for.
func heard(t *testing.T, at, tenant, run, until string) map[string]event {
	t.Helper()
	all := map[string]event{}
	for lines := bufio.NewScanner(request(t, "GET", at+"/runs/"+run+"/events", tenant, "").body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var e event
		if ok && json.Unmarshal([]byte(data), &e) == nil && e.Type != "" {
			all[e.Type] = e
			if e.Type == until {
				return all
			}
		}
	}
	t.Fatalf("run %s has no event %s, but %v", run, until, all)
	return nil
}

// TestAFailureThatNobodyNotices: the provider fails once, the tool is called for whoever asked,
// and the answer arrives.
func TestAFailureThatNobodyNotices(t *testing.T) {
	web := start(t, faultlab.Unavailable(), faultlab.ToolCall("orders", `{}`), faultlab.Answer("Two are open."))
	run := ask(t, web.URL, "acme", "What is open?")
	events := heard(t, web.URL, "acme", run, "ended")
	if got := events["tool_returned"].Data.Result.Text; !strings.Contains(got, "a putter") {
		t.Errorf("the tool said %q", got)
	}
	if parts := events["answered"].Data.Message.Parts; len(parts) != 1 || parts[0].Text != "Two are open." {
		t.Errorf("the answer is %+v", parts)
	}
	for tenant, want := range map[string]int{"acme": 1, "other": 0} {
		var runs []struct{ Run string }
		if err := json.NewDecoder(request(t, "GET", web.URL+"/runs", tenant, "").body).Decode(&runs); err != nil || len(runs) != want {
			t.Errorf("%s has %d runs, %v", tenant, len(runs), err)
		}
	}
}

// TestATenantGetsItsOwn, whatever its model asks for.
func TestATenantGetsItsOwn(t *testing.T) {
	web := start(t, faultlab.ToolCall("orders", `{}`), faultlab.Answer("None."))
	events := heard(t, web.URL, "other", ask(t, web.URL, "other", "What is open?"), "ended")
	if got := events["tool_returned"].Data.Result.Text; got != "other has no orders" {
		t.Errorf("the tool said %q", got)
	}
	run := ask(t, web.URL, "other", "And now?")
	for _, call := range []string{"GET /runs/" + run + "/events", "POST /runs/" + run + "/answer"} {
		method, path, _ := strings.Cut(call, " ")
		if got := request(t, method, web.URL+path, "acme", `{"action":"retry"}`).code; got != http.StatusNotFound {
			t.Errorf("%s of another tenant: %d", call, got)
		}
	}
}

// TestAPersonAnswers what no policy can: the button goes on with the same run.
func TestAPersonAnswers(t *testing.T) {
	web := start(t, faultlab.Unauthorized(), faultlab.Answer("Two are open."))
	run := ask(t, web.URL, "acme", "What is open?")
	asked := heard(t, web.URL, "acme", run, "suggested")["suggested"].Data.Suggestion
	press, _ := json.Marshal(map[string]string{"suggestion": asked.ID, "action": "retry"})
	if got := request(t, "POST", web.URL+"/runs/"+run+"/answer", "acme", string(press)).code; got != http.StatusOK {
		t.Fatalf("the button %s of %+v: %d", press, asked, got)
	}
	if parts := heard(t, web.URL, "acme", run, "ended")["answered"].Data.Message.Parts; len(parts) != 1 || parts[0].Text != "Two are open." {
		t.Errorf("the answer is %+v", parts)
	}
}

// TestACustomerApproves: no order is cancelled before the customer has pressed the button, and none after
// a refusal.
func TestACustomerApproves(t *testing.T) {
	for action, want := range map[string]string{"run_tool": "order 17 of acme is cancelled", "refuse_tool": "The user refused this call"} {
		web := start(t, faultlab.ToolCall("cancel_order", `{"number":17}`), faultlab.Answer("As you wish."))
		run := ask(t, web.URL, "acme", "Cancel 17.")
		events := heard(t, web.URL, "acme", run, "suggested")
		if began, ok := events["tool_began"]; ok {
			t.Fatalf("the tool ran without approval: %+v", began)
		}
		press, _ := json.Marshal(map[string]string{"suggestion": events["suggested"].Data.Suggestion.ID, "action": action})
		if got := request(t, "POST", web.URL+"/runs/"+run+"/answer", "acme", string(press)).code; got != http.StatusOK {
			t.Fatalf("%s: %d", action, got)
		}
		if got := heard(t, web.URL, "acme", run, "ended")["tool_returned"].Data.Result.Text; !strings.HasPrefix(got, want) {
			t.Errorf("after %s the model is told %q", action, got)
		}
	}
}

// TestMistakesAreTold to whoever makes them.
func TestMistakesAreTold(t *testing.T) {
	web := start(t, faultlab.Answer("hi"))
	run := ask(t, web.URL, "acme", "hi")
	heard(t, web.URL, "acme", run, "ended")
	for call, want := range map[string]int{"/ask nonsense": 400, "/ask {}": 422, "/runs/" + run + "/answer nonsense": 400, "/runs/" + run + "/answer {}": 409, "/runs/none/answer {}": 404} {
		path, body, _ := strings.Cut(call, " ")
		if got := request(t, "POST", web.URL+path, "acme", body).code; got != want {
			t.Errorf("%s: %d, not %d", call, got, want)
		}
	}
	if page := request(t, "GET", web.URL+"/", "", ""); page.code != http.StatusOK || !strings.HasPrefix(page.head.Get("Content-Type"), "text/html") {
		t.Errorf("the page: %v", page.head)
	}
}

// TestARestartEndsNoRun: what a process lets go of, the next one goes on with, and the customer gets
// the answer.
func TestARestartEndsNoRun(t *testing.T) {
	lab, models := fails(t, faultlab.Hang(), faultlab.Answer("You have two open orders."))
	store := timeline.NewMemory()
	before, letGo := context.WithCancelCause(t.Context())
	old := newService(before, store, models, "lab/quill-1")
	web := httptest.NewServer(old.routes())
	run := ask(t, web.URL, "acme", "What is open?")
	for len(lab.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	web.Close()
	old.leave(letGo)

	after, end := context.WithCancelCause(t.Context())
	restarted := newService(after, store, models, "lab/quill-1")
	defer restarted.leave(end)
	go restarted.keep(after)
	web = httptest.NewServer(restarted.routes())
	t.Cleanup(web.Close)
	if e := heard(t, web.URL, "acme", run, "ended")["answered"]; len(e.Data.Message.Parts) != 1 || e.Data.Message.Parts[0].Text != "You have two open orders." {
		t.Errorf("the answer: %+v", e)
	}
}
