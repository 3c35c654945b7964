package failover

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

// situation is what goes wrong, and what a caller may expect nevertheless.
type situation struct {
	name, limit string
	alone       bool // there is no fallback
	plays       func(w *world, s setting)
	judge       func(w *world, s setting, got seen) measured
}

// measured is what a situation's limits apply to; zero fields do not count.
type measured struct {
	requests int
	early    int           // of them, in the first 3 s
	first    time.Duration // until the caller has the first text
	took     time.Duration // until it has all of it
	back     time.Duration // until a provider that recovered is asked again
}

// What the first provider says before it breaks off, what the fallback says, and what a healthy
// provider says.
const (
	begun = "It is 14 °C in Oslo, "
	rest  = "and the sky is clear."
	fine  = "All is well."
)

// situations are the sixteen, in the order of the issue that asked for them.
var situations = []situation{
	{
		name: "429 that ends after 2 s, no fallback", limit: "≤ 4 requests in 3 s, ≤ 6 in all", alone: true,
		plays: func(w *world, _ setting) { w.own.until(2*time.Second, faultlab.RateLimited(time.Second), fine) },
		judge: answered(fine, measured{requests: 6, early: 4}),
	},
	{
		name: "429 for ever", limit: "≤ 4 requests in 3 s, ≤ 6 in all",
		plays: always(faultlab.RateLimited(-1)),
		judge: answered(rest, measured{requests: 6, early: 4}),
	},
	{
		name: "500 once", limit: "answered",
		plays: func(w *world, _ setting) {
			w.own.lab.Script("one", faultlab.Status(http.StatusInternalServerError, nil, ""), faultlab.Answer(fine))
		},
		judge: answered(fine, measured{requests: 2}),
	},
	{
		name: "503 for ever", limit: "≤ 6 requests",
		plays: always(faultlab.Unavailable()),
		judge: answered(rest, measured{requests: 6}),
	},
	{
		name: "connection reset", limit: "answered, ≤ 6 requests",
		plays: always(faultlab.Refuse()),
		judge: answered(rest, measured{requests: 6}),
	},
	{
		name: "silence", limit: "answered within 100 s",
		plays: always(faultlab.Hang()),
		judge: answered(rest, measured{requests: 6, took: 100 * time.Second}),
	},
	{
		name: "slow first token, after 12 s", limit: "there within 15 s, of one request",
		plays: func(w *world, _ setting) {
			w.own.delay = 12 * time.Second
			w.own.lab.Script("one", faultlab.Answer(fine))
		},
		judge: answered(fine, measured{requests: 1, first: 15 * time.Second}),
	},
	{
		name: "cut in mid-stream", limit: "answered, ≤ 6 requests",
		plays: always(faultlab.CutAfter(begun)),
		judge: goesOn(measured{requests: 6}),
	},
	{
		name: "stall in mid-stream", limit: "answered within 45 s, alive afterwards",
		plays: always(faultlab.StallAfter(begun)),
		judge: func(w *world, s setting, got seen) measured {
			m := goesOn(measured{requests: 6, took: 45 * time.Second})(w, s, got)
			w.own.lab.Script("one", faultlab.Answer(fine))
			if again := w.calls(s); !again.ends || again.text != fine && again.text != rest {
				w.Errorf("it is not alive afterwards: %d %s", again.status, again.whole)
			}
			return m
		},
	},
	{
		name: "a bad chunk", limit: "answered, ≤ 6 requests",
		plays: always(faultlab.Malformed(begun)),
		judge: goesOn(measured{requests: 6}),
	},
	{
		name: "no terminal event", limit: "answered within 8 s",
		plays: always(faultlab.EndAfter(begun)),
		judge: goesOn(measured{requests: 6, took: 8 * time.Second}),
	},
	{
		name: "too long a context", limit: "asked exactly once",
		plays: byRow(map[string]string{"anthropic": "A23", "openai": "O20", "openai-responses": "O20", "gemini": "G13"}),
		judge: refused("context|prompt|token"),
	},
	{
		name: "content filter", limit: "it is the error",
		plays: byRow(map[string]string{"anthropic": "A35", "openai": "O28", "openai-responses": "O28", "gemini": "G16"}),
		judge: refused("filter|flagged|SAFETY|block"),
	},
	{
		name: "a cut, and a fallback that refuses prefill", limit: "answered, ≤ 6 requests",
		plays: func(w *world, _ setting) {
			always(faultlab.CutAfter(begun))(w, setting{})
			w.spare.refuses, w.own.refuses = endsWithTheModel, endsWithTheModel
		},
		judge: goesOn(measured{requests: 6}),
	},
	{
		name: "flapping for 60 s", limit: "every call is served; back within 30 s",
		plays: flaps(faultlab.Unavailable()),
		judge: throughFlapping,
	},
	{
		name: "flapping for 60 s, overloaded", limit: "every call is served; back within 30 s",
		plays: flaps(faultlab.Overloaded()),
		judge: throughFlapping,
	},
	{
		name: "model and usage are the fallback's", limit: "both are",
		plays: always(faultlab.Unauthorized()), // another provider is asked at once, before a status is sent
		judge: tellsWhoAnswered,
	},
}

// always makes the first provider do the same every time, and the fallback answer.
func always(step faultlab.Step) func(*world, setting) {
	return func(w *world, _ setting) {
		w.own.lab.Script("one", step)
		w.spare.lab.Script("two", faultlab.Answer(rest))
	}
}

// byRow makes the first provider play the catalogue's row for the wire that it is asked on.
func byRow(rows map[string]string) func(*world, setting) {
	return func(w *world, s setting) {
		step, err := faultlab.Row(rows[s.wire])
		if err != nil {
			w.Fatal(err)
		}
		always(step)(w, s)
	}
}

// until makes a provider play one step for so long, and answer after that.
func (h *upstream) until(d time.Duration, step faultlab.Step, text string) {
	h.plays = func(elapsed time.Duration) faultlab.Step {
		if elapsed < d {
			return step
		}
		return faultlab.Answer(text)
	}
}

// The phases of a flapping provider: healthy and broken in turns, until it stays healthy.
const (
	flapEvery = 5 * time.Second
	flapsFor  = 60 * time.Second
)

func flaps(broken faultlab.Step) func(*world, setting) {
	return func(w *world, _ setting) {
		w.spare.lab.Script("two", faultlab.Answer(rest))
		w.own.plays = func(elapsed time.Duration) faultlab.Step {
			if elapsed < flapsFor && elapsed/flapEvery%2 == 0 {
				return broken
			}
			return faultlab.Answer(fine)
		}
	}
}

// throughFlapping makes calls until the provider has been healthy for some time.
func throughFlapping(w *world, s setting, got seen) (m measured) {
	last := flapsFor
	for {
		if !got.ends || got.fails || got.text != fine && got.text != rest {
			w.Fatalf("a call is not served: %d %s", got.status, got.whole)
		}
		ended := time.Since(w.began)
		if got.text == rest {
			last = ended
		}
		m.took = max(m.took, got.took)
		if ended > 2*flapsFor {
			break
		}
		time.Sleep(time.Second)
		got = w.calls(s)
	}
	m.back = max(0, last-flapsFor)
	if m.back > 30*time.Second {
		w.Errorf("it is back after %v", m.back)
	}
	return m
}

// answered requires one complete answer with that text.
func answered(text string, most measured) func(*world, setting, seen) measured {
	return func(w *world, _ setting, got seen) measured {
		if got.status != http.StatusOK || !got.ends || got.fails || got.text != text {
			w.Errorf("%d, not %q: %s", got.status, text, got.whole)
		}
		if strings.Count(got.whole, `"message_start"`) > 1 || strings.Count(got.whole, `"response.created"`) > 2 {
			w.Errorf("it is not one answer: %s", got.whole)
		}
		return w.within(got, most)
	}
}

// goesOn requires one complete answer. In mode continue it is what was already shown and the rest
// of it.
func goesOn(most measured) func(*world, setting, seen) measured {
	return func(w *world, s setting, got seen) measured {
		if s.mode == "continue" {
			return answered(begun+rest, most)(w, s, got)
		}
		return answered(rest, most)(w, s, got)
	}
}

// within checks what was measured against the limits.
func (w *world) within(got seen, most measured) measured {
	all := w.requests()
	m := measured{requests: len(all), first: got.first, took: got.took}
	for _, at := range all {
		if at <= 3*time.Second {
			m.early++
		}
	}
	over := func(what string, is, may time.Duration) {
		if may > 0 && is > may {
			w.Errorf("%s: %v, and at most %v", what, is, may)
		}
	}
	over("first text", m.first, most.first)
	over("all of it", m.took, most.took)
	if most.requests > 0 && m.requests > most.requests || most.early > 0 && m.early > most.early {
		w.Errorf("%d requests, %d of them in the first 3 s: %v", m.requests, m.early, all)
	}
	return m
}

// refused requires the provider's own error after one request.
func refused(words string) func(*world, setting, seen) measured {
	return func(w *world, _ setting, got seen) measured {
		if got.text != "" || !regexp.MustCompile(words).MatchString(got.whole) {
			w.Errorf("%d %s", got.status, got.whole)
		}
		return w.within(got, measured{requests: 1})
	}
}

// endsWithTheModel reports whether the last message of a request is the model's own.
func endsWithTheModel(body []byte) bool {
	var asked struct {
		Messages, Contents []struct{ Role string }
		Input              json.RawMessage
	}
	_ = json.Unmarshal(body, &asked)
	list := slices.Concat(asked.Messages, asked.Contents)
	_ = json.Unmarshal(asked.Input, &list)
	return len(list) > 0 && (list[len(list)-1].Role == "assistant" || list[len(list)-1].Role == "model")
}

var outputTokens = regexp.MustCompile(`"(?:output_tokens|completion_tokens|candidatesTokenCount)":\s*(\d+)`)

// tellsWhoAnswered requires the fallback's name and the cost of its answer.
func tellsWhoAnswered(w *world, s setting, got seen) measured {
	m := answered(rest, measured{})(w, s, got)
	if answerer := got.header.Get("X-Mulligan-Model"); answerer != "spare/two" {
		w.Errorf("%s answered", answerer)
	}
	if strings.Contains(got.whole, `"one"`) || !strings.Contains(got.whole, `"two"`) {
		w.Errorf("it names another model: %s", got.whole)
	}
	told := outputTokens.FindAllStringSubmatch(got.whole, -1)
	want := fmt.Sprint(len(strings.Fields(rest)))
	if len(told) == 0 || told[len(told)-1][1] != want {
		w.Errorf("it tells of %v tokens, and not of %s: %s", told, want, got.whole)
	}
	return m
}

func (m measured) worse(than measured) measured {
	return measured{
		max(m.requests, than.requests), max(m.early, than.early),
		max(m.first, than.first), max(m.took, than.took), max(m.back, than.back),
	}
}
