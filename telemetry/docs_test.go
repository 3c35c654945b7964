package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/telemetry"
	"github.com/mulligan-run/mulligan/timeline"
)

var (
	metricName = regexp.MustCompile(`\bmulligan_[a-z_]+\b`)
	sample     = regexp.MustCompile(`(?m)^(mulligan_[a-z_]+)(?:\{(.*)\})? `)
	label      = regexp.MustCompile(`([a-z_]+)="`)
	series     = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// everything is what Prometheus reads after each thing that is measured has happened: the
// labels of each metric, by its name.
func everything(t *testing.T) map[string][]string {
	t.Helper()
	log := timeline.NewMemory()
	told, err := telemetry.New(t.Context(), telemetry.Config{
		Prometheus: true, Spans: unsent{}, Log: log,
		Plugins: func() []telemetry.Plugin { return []telemetry.Plugin{{Name: "helper", State: "ready"}} },
	})
	if err != nil {
		t.Fatal(err)
	}
	run := &recovery.Run{}
	for _, body := range []recovery.Body{
		recovery.Started{Model: "a/b", Input: []llm.Message{llm.User("hi")}, Policy: recovery.Policy{Prices: map[string]recovery.Price{"a/b": {Input: 1e6}}}},
		recovery.Claimed{Owner: "me", Epoch: 2},
		recovery.Began{Attempt: 1, Round: 1, Model: "a/b"},
		recovery.Failed{Attempt: 1, Failure: *failure.NewFailure(failure.KindTimeout, failure.OriginModel, failure.PhaseMidStream, nil), Usage: llm.Usage{InputTokens: 5}},
		recovery.Voted{Occasion: "run_error/4", Vote: recovery.Vote{Plugin: "helper", Action: recovery.ActionRetry}},
		recovery.Decided{Occasion: "run_error/4", Decision: recovery.Decision{Action: recovery.ActionRetry}},
		recovery.Suggested{Suggestion: recovery.Suggestion{ID: "s1", SuggestedAction: recovery.ActionRetry, Actions: []recovery.Button{{ID: "a1", Kind: recovery.ButtonRetry, Effect: recovery.EffectRunner}}}},
		recovery.Accepted{Suggestion: "s1", Action: "a1"},
		recovery.Waiting{ID: "w1", For: recovery.WaitTime},
		recovery.Due{Timer: failure.TimerWait, Failure: 4},
		recovery.Began{Attempt: 2, Round: 1, Model: "a/b"},
		recovery.Answered{Attempt: 2, FirstEvent: 7, Usage: llm.Usage{InputTokens: 5}, Message: llm.Message{
			Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &llm.ToolCall{ID: "c1", Name: "search"}}},
		}},
		recovery.ToolBegan{CallID: "c1", Name: "search"},
		recovery.ToolReturned{CallID: "c1", Outcome: recovery.OutcomeOK},
		recovery.Paused{Reason: "its disk is full", For: 5},
		recovery.Ended{Status: recovery.StatusCompleted, StopReason: "completed"},
	} {
		e := recovery.Event{Run: "r", Seq: run.Seq + 1, Time: time.Now(), Body: body}
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		told.Happened(run, e)
	}
	told.Left(run)
	for range told.Followed(log).Follow(t.Context(), "r", 0) {
		break
	}
	time.Sleep(time.Minute) // until spans are exported, which fails
	read := httptest.NewRecorder()
	told.Handler().ServeHTTP(read, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if err := told.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, line := range sample.FindAllStringSubmatch(read.Body.String(), -1) {
		name := line[1]
		if strings.Contains(read.Body.String(), "# TYPE "+series.ReplaceAllString(name, "")+" histogram") {
			name = series.ReplaceAllString(name, "")
		}
		for _, l := range label.FindAllStringSubmatch(line[2], -1) {
			if l[1] != "le" && !slices.Contains(found[name], l[1]) {
				found[name] = append(found[name], l[1])
			}
		}
		if found[name] == nil {
			found[name] = []string{}
		}
		slices.Sort(found[name])
	}
	return found
}

// unsent is an exporter that reaches nobody.
type unsent struct{}

func (unsent) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("nobody there")
}

func (unsent) Shutdown(context.Context) error { return nil }

// The page lists each metric that there is, with its labels, and no other.
func TestEveryMetricIsDocumented(t *testing.T) {
	page := read(t, "../docs/observability.md")
	row := regexp.MustCompile("(?m)^\\| `(mulligan_[a-z_]+)` \\| [a-z]+ \\|(.*?)\\|")
	documented := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		documented[m[1]] = strings.Fields(strings.ReplaceAll(m[2], "`", ""))
		slices.Sort(documented[m[1]])
	}
	synctest.Test(t, func(t *testing.T) {
		there := everything(t)
		for name, labels := range there {
			if said, ok := documented[name]; !ok {
				t.Errorf("docs/observability.md does not list %s", name)
			} else if !slices.Equal(said, labels) {
				t.Errorf("docs/observability.md says that %s has the labels %v; they are %v", name, said, labels)
			}
		}
		for name := range documented {
			if there[name] == nil {
				t.Errorf("docs/observability.md lists %s, which there is not", name)
			}
		}
	})
}

// Each panel of the dashboard asks for metrics that there are, by labels that they have.
func TestEveryPanelHasItsMetrics(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query any } }
	}
	if err := json.Unmarshal([]byte(read(t, "../docs/grafana.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	selector := regexp.MustCompile(`(mulligan_[a-z_]+)\{([^}]*)\}`)
	grouping := regexp.MustCompile(`by \(([a-z_, ]+)\)`)
	synctest.Test(t, func(t *testing.T) {
		there := everything(t)
		var asked []string
		for _, p := range dashboard.Panels {
			if len(p.Targets) == 0 {
				t.Errorf("the panel %q asks for nothing", p.Title)
			}
			for _, target := range p.Targets {
				names := metricName.FindAllString(target.Expr, -1)
				if len(names) == 0 {
					t.Errorf("the panel %q asks for no metric: %s", p.Title, target.Expr)
				}
				var labels []string
				for _, name := range names {
					base := name
					if there[name] == nil {
						base = series.ReplaceAllString(name, "")
					}
					if there[base] == nil {
						t.Errorf("the panel %q asks for %s, which there is not", p.Title, name)
					}
					asked, labels = append(asked, base), append(labels, there[base]...)
				}
				wanted := strings.FieldsFunc(strings.Join(grouping.FindStringSubmatch(target.Expr), " "), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz_", r) })
				for _, s := range selector.FindAllStringSubmatch(target.Expr, -1) {
					for _, l := range regexp.MustCompile(`([a-z_]+)[=!]`).FindAllStringSubmatch(s[2], -1) {
						wanted = append(wanted, l[1])
					}
				}
				for _, l := range wanted {
					if !slices.Contains(append(labels, "by", "le", "instance"), l) {
						t.Errorf("the panel %q asks for the label %s, which its metrics do not have: %s", p.Title, l, target.Expr)
					}
				}
			}
		}
		for name := range there {
			if !slices.Contains(asked, name) {
				t.Errorf("no panel shows %s", name)
			}
		}
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
