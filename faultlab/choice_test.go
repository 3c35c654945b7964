package faultlab_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// askFor asks on a wire for a model, and gives the status.
func askFor(ctx context.Context, c *http.Client, url, wire, model string) int {
	s := callers[wire]
	s.ask = strings.Replace(s.ask, `"model":"m"`, `"model":`+strconv.Quote(model), 1)
	s.path = strings.Replace(s.path, "/m:", "/"+model+":", 1)
	resp, err := s.post(ctx, c, url, s.ask)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestModelsThatChoose(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("", faultlab.Answer("Hi"))
	if err := lab.Chaos(faultlab.Chaos{Rate: 1, Rows: []string{"T52"}, Models: []string{"m"}}); err != nil {
		t.Fatal(err)
	}
	for _, wire := range catalogue.Wires() {
		for _, c := range []struct {
			model string
			want  []int // one after the other
		}{
			{"row:T47", []int{502, 502}},
			{"script:429:2s,503,answer:ok", []int{429, 503, 200, 429, 503}},
			{"row:Z99", []int{400}},
			{"kind:nonsense", []int{400}},
			{"script:", []int{400}},
			{"script:nonsense", []int{400}},
			{"m", []int{503}}, // chaos
		} {
			var got []int
			for range c.want {
				got = append(got, askFor(t.Context(), client, url, wire, c.model))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s on %s: %v, want %v", c.model, wire, got, c.want)
			}
		}
		if first := askFor(t.Context(), client, url, wire, "kind:auth"); first/100 != 4 {
			t.Errorf("kind:auth on %s: %d", wire, first)
		}
		lab.Script("script:429:2s,503,answer:ok", faultlab.Unauthorized())
		if got := askFor(t.Context(), client, url, wire, "script:429:2s,503,answer:ok"); got != 401 {
			t.Errorf("a script of that name gives %d", got)
		}
		lab.Script("script:429:2s,503,answer:ok")
		if wire != "gemini" { // the next wire begins where this one stopped
			for range 4 {
				askFor(t.Context(), client, url, wire, "script:429:2s,503,answer:ok")
			}
		}
	}
}

// TestChoosingIsBounded: names that nobody asked for again are forgotten.
func TestChoosingIsBounded(t *testing.T) {
	_, client, url := start(t)
	if got := askFor(t.Context(), client, url, "openai", "script:429,503"); got != 429 {
		t.Fatal(got)
	}
	for i := range 300 {
		if got := askFor(t.Context(), client, url, "openai", "script:4"+strconv.Itoa(i/10%10)+strconv.Itoa(i%10)+",5"+strconv.Itoa(10+i/100)); got/100 != 4 {
			t.Fatal(i, got)
		}
	}
	if got := askFor(t.Context(), client, url, "openai", "script:429,503"); got != 429 {
		t.Errorf("it goes on with %d", got)
	}
	if got := askFor(t.Context(), client, url, "openai", "script:answer:"+strings.Repeat("x", 5000)); got != 400 {
		t.Errorf("a very long name: %d", got)
	}
}

func TestEcho(t *testing.T) {
	for _, s := range sides {
		lab, client, url := start(t)
		steps, err := faultlab.Parse("echo")
		if err != nil {
			t.Fatal(err)
		}
		lab.Script("", steps...)
		if h := s.hear(t.Context(), client, url, s.ask); h.text != "You said: hi" || !h.terminal {
			t.Errorf("%s: %+v", s.name, h)
		}
		long := strings.Replace(s.ask, `"hi"`, `"`+strings.Repeat("ä ", 500)+`"`, 1)
		if h := s.hear(t.Context(), client, url, long); !strings.HasSuffix(h.text, "…") || len(h.text) > 250 {
			t.Errorf("%s: %s", s.name, h.text)
		}
		empty := strings.Replace(s.ask, `"hi"`, `"\n"`, 1)
		if h := s.hear(t.Context(), client, url, empty); s.name != "anthropic" && h.text != "All is well here." {
			t.Errorf("%s: %+v", s.name, h)
		}
	}
}

// TestWatch: each request is told once, at the moment that its status is settled.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []faultlab.Request
		lab := faultlab.New(faultlab.WithWatch(func(r faultlab.Request) { told = append(told, r) }))
		ln := faultlab.NewMemListener()
		server, client := lab.Serve(ln), ln.Client()
		for _, c := range []struct {
			model  string
			status int
		}{
			{"row:T47", 502}, {"script:stall:x", 200}, {"script:hang", 0}, {"script:refuse", 0}, {"unknown", 404}, {"row:T18", 0}, {"row:T07", 400}, {"row:T35", 200},
		} {
			told = nil
			ctx, cancel := context.WithCancel(t.Context())
			go askFor(ctx, client, server.URL(), "anthropic", c.model)
			synctest.Wait()
			if len(told) != 1 || told[0].Status != c.status {
				t.Errorf("%s: %+v", c.model, told)
			}
			cancel()
			time.Sleep(time.Minute)
			if list := lab.Requests(); len(told) != 1 || list[len(list)-1].Ended.IsZero() {
				t.Errorf("%s: told %d times, %+v", c.model, len(told), list[len(list)-1])
			}
		}
		client.CloseIdleConnections()
		server.Close()
		lab.Close()
	})
}
