package faultlab_test

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// storm asks n times, on the wires in turn, and returns the steps played.
func storm(t *testing.T, c faultlab.Chaos, n int, wires ...string) []string {
	var steps []string
	bubble(t, func(t *testing.T, lab *faultlab.Lab, client *http.Client, url string) {
		if err := lab.Chaos(c); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			ask(ctx, client, url, wires[i%len(wires)])
			cancel()
		}
		for _, r := range lab.Requests() {
			steps = append(steps, r.Step)
		}
	})
	return steps
}

func TestChaosIsRepeatable(t *testing.T) {
	c := faultlab.Chaos{Seed: 7, Rate: 0.5, Rows: []string{"rate_limit", "overloaded", "A18", "O12-server_error"}}
	first := storm(t, c, 200, catalogue.Wires()...)
	if again := storm(t, c, 200, catalogue.Wires()...); !slices.Equal(first, again) {
		t.Error("the same seed, another storm")
	}
	c.Seed = 8
	if other := storm(t, c, 200, catalogue.Wires()...); slices.Equal(first, other) {
		t.Error("another seed, the same storm")
	}
	calm := 0
	for i, step := range first {
		name, hit := strings.CutPrefix(step, "row:")
		if !hit {
			calm++
			continue
		}
		wire := catalogue.Wires()[i%4]
		fits := func(s catalogue.Script) bool {
			return s.Wire == wire && (slices.Contains(c.Rows, s.Expect.Kind) || slices.Contains(c.Rows, s.Name()))
		}
		if !slices.ContainsFunc(catalogue.Scripts(name), fits) {
			t.Errorf("%s on %s was not asked for", name, wire)
		}
	}
	if calm < 60 || calm > 140 {
		t.Errorf("%d of 200 requests went well at a rate of one half", calm)
	}
}

func TestChaosEvery(t *testing.T) {
	got := storm(t, faultlab.Chaos{Every: 3, Rows: []string{"A11"}}, 7, "anthropic")
	if want := []string{"answer", "answer", "row:A11", "answer", "answer", "row:A11", "answer"}; !slices.Equal(got, want) {
		t.Error(got)
	}
	if got := storm(t, faultlab.Chaos{Rate: 1, Rows: []string{"A11"}}, 1, "openai"); got[0] != "answer" {
		t.Errorf("no row of the wire's, and yet %s", got[0])
	}
}

func TestChaosAndScripts(t *testing.T) {
	lab, client, url := start(t)
	lab.Script("m", faultlab.Answer("scripted"))
	for _, c := range []struct {
		chaos faultlab.Chaos
		want  string
	}{
		{faultlab.Chaos{Rate: 1, Rows: []string{"T52"}}, "row:T52"},
		{faultlab.Chaos{Rate: 1, Rows: []string{"T52"}, Models: []string{"other"}}, "answer"},
		{faultlab.Chaos{Every: 2, Rows: []string{"T52"}}, "answer"},
		{faultlab.Chaos{}, "answer"},
	} {
		if err := lab.Chaos(c.chaos); err != nil {
			t.Fatal(err)
		}
		p := ask(t.Context(), client, url, "openai")
		if c.want == "answer" && !strings.Contains(p.body, "scripted") {
			t.Errorf("%+v: %s", c.chaos, p.body)
		}
		if list := lab.Requests(); list[len(list)-1].Step != c.want {
			t.Errorf("%+v: %s", c.chaos, list[len(list)-1].Step)
		}
	}
	for _, bad := range []faultlab.Chaos{{Rate: -1}, {Rate: 1.1}, {Rate: math.NaN()}, {Every: -1}, {Rate: 1, Rows: []string{"T07"}}, {Rate: 1, Rows: []string{"nonsense"}}} {
		if lab.Chaos(bad) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
