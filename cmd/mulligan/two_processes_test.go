package main

import (
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestI52TwoProcesses: two programs serve one store. What either of them acknowledges, at
// whatever moment of a run's being parked and whichever of them drives it, is done, and once.
func TestI52TwoProcesses(t *testing.T) {
	t.Parallel()
	const runs, patience = 16, 30 * time.Second
	h := newHome(t, "429:100s") // longer than a process waits: the run is parked
	both := []*client{h.serveHTTP(), h.serveHTTP()}
	location := regexp.MustCompile(`/v1/runs/r\w+`)
	var started []string
	for n := range runs {
		code, said := both[n%2].ask("POST", "/v1/runs", `{"prompt":"hi","autoRecover":true}`)
		run := location.FindString(said)
		if code != http.StatusCreated || run == "" {
			t.Fatalf("start: %d %s", code, said)
		}
		started = append(started, run)
		time.Sleep(rand.N(60 * time.Millisecond))
		deadline, asked := time.Now().Add(patience), both[n/2%2]
		for code = 0; code/100 != 2; time.Sleep(time.Millisecond) { // until it waits it takes no answer
			if code, said = asked.ask("POST", run+"/recover", `{"action":"retry_now"}`); time.Now().After(deadline) {
				t.Fatalf("no answer is taken: %d %s", code, said)
			}
		}
	}
	both[0].until("each answer that was taken asks the model once more", func() bool { return len(h.lab.Requests()) >= 2*runs })
	for n, run := range started {
		if code, said := both[rand.N(2)].ask("POST", run+"/cancel", ""); code != http.StatusAccepted {
			t.Errorf("cancel: %d %s", code, said)
		}
		both[n%2].until("a run whose cancel was taken is cancelled", func() bool {
			_, said := both[(n+1)%2].ask("GET", run, "")
			return strings.Contains(said, `"status":"cancelled"`)
		})
	}
	if n := len(h.lab.Requests()); n != 2*runs {
		t.Errorf("%d runs and as many answers asked the model %d times", runs, n)
	}
	both[0].stop()
	both[1].stop()
}
