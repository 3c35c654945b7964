package conformance

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/mulligan-run/mulligan/failure"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// examine gives the results of an exam by TOPIC/NAME.
func examine(t *testing.T, exam Exam) (map[string]Result, Portrait) {
	t.Helper()
	results := map[string]Result{}
	exam.Report = func(r Result) {
		key := r.Topic + "/" + r.Name
		if _, twice := results[key]; twice {
			t.Errorf("%s is reported twice", key)
		}
		if r.Demand == "" {
			t.Errorf("%s does not say what it expects", key)
		}
		if r.Err != nil && r.Advice == "" {
			t.Errorf("%s fails without advice", key)
		}
		results[key] = r
	}
	portrait, err := exam.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return results, portrait
}

// A plugin without an opinion passes everything. Of the Go SDK's it is the one that
// hears no command.
func TestExamIsPassed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	good := languages()[0].command(t)
	good.Config = []byte(`{"greeting":"hi"}`)
	quiet := func(topic, name string) bool { return topic != TopicFailures || name == "timeout" }
	results, portrait := examine(t, Exam{Command: good, Wanted: quiet})
	for key, r := range results {
		// It takes the first line of the detail for a command, and raises an error.
		commanded := strings.HasPrefix(key, TopicFailures) ||
			r.Topic == TopicHostile && slices.ContainsFunc(hostileQuestions(), func(q question) bool { return q.Name == r.Name && r.Name != "an empty event" })
		switch {
		case commanded && (r.Err == nil || !strings.Contains(r.Err.Error(), "Unknown: unknown command")):
			t.Errorf("%s: %v", key, r.Err)
		case !commanded && r.Err != nil:
			t.Errorf("%s: %v", key, r.Err)
		}
	}
	for _, key := range []string{"process/describe", "process/another parent", "failures/timeout", "occasions/before_call", "occasions/tool_error", "occasions/run_ended", "hostile/cancelled calls", "bounds/memory", "bounds/standard error"} {
		if _, ok := results[key]; !ok {
			t.Errorf("%s was not examined", key)
		}
	}
	if portrait.Name != "conformance" || portrait.Timing == nil || portrait.Timing.Calls == 0 || len(portrait.Timing.ColdStarts) != timedStarts {
		t.Errorf("%+v", portrait)
	}
}

// quickExit is for programs under the race detector, which else wait 1 s when they end.
const quickExit = "GORACE=atexit_sleep_ms=0"

func TestExamIsFailed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for name, c := range map[string]struct {
		only, key, want string
	}{
		"garrulous":   {"standard error", "bounds/standard error", "the longest line of"},
		"with memory": {"memory", "bounds/memory", "MiB before"},
		"slow":        {"timeout", "failures/timeout", "DeadlineExceeded"},
		"invalid":     {"timeout", "failures/timeout", "delay"},
		"mortal":      {"timeout", "failures/timeout", "the process ended"},
		"touchy":      {"describe", "process/configuration", "no thanks"},
		"wordy":       {"tool_error", "occasions/tool_error", "words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exam := Exam{Command: Command{Args: []string{os.Args[0]}, Env: []string{"FLAWED=" + name, quickExit}}, Deadline: 300 * time.Millisecond}
			exam.Wanted = func(topic, name string) bool { return name == c.only || c.only != "memory" && name == "unknown" }
			results, _ := examine(t, exam)
			if r := results[c.key]; r.Err == nil || !strings.Contains(r.Err.Error(), c.want) {
				t.Errorf("%v, want %q of %s; there are %v", r.Err, c.want, c.key, results)
			}
		})
	}
}

// Every kind is asked about in every shape, and an event is one that a host could send.
func TestQuestions(t *testing.T) {
	questions := kindQuestions()
	if len(questions) != len(failure.Kinds()) {
		t.Errorf("%d questions", len(questions))
	}
	for _, q := range slices.Concat(questions, hostileQuestions()) {
		for _, talk := range q.Talks {
			if !talk.Any {
				t.Errorf("%s/%s judges", q.Name, talk.Name)
			}
			if _, err := talk.request(0); err != nil {
				t.Errorf("%s/%s: %v", q.Name, talk.Name, err)
			}
		}
	}
	for _, q := range questions {
		m := &mulliganv1.RunErrorRequest{}
		if err := protojson.Unmarshal(q.Talks[0].Event, m); err != nil || m.GetFailure().GetKind() == 0 {
			t.Errorf("%s: kind %v, %v", q.Name, m.GetFailure().GetKind(), err)
		}
	}
}

func TestExamStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	exam := Exam{Command: Command{Args: []string{"sleep", "60"}}, Report: func(r Result) { t.Errorf("reported %s", r.Name) }}
	if _, err := exam.Hold(ctx); err == nil {
		t.Error("no error")
	}
}

func TestNoise(t *testing.T) {
	c := &collected{}
	for _, piece := range []string{"one\ntw", "o\nthree", " and more\n\n"} {
		_, _ = c.Write([]byte(piece))
	}
	if c.size != 24 || c.lines != 4 || c.longest != len("three and more\n") {
		t.Errorf("%d bytes, %d lines, the longest of %d", c.size, c.lines, c.longest)
	}
}
