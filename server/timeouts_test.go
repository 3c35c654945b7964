package server

import (
	"os"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// someTimeouts sets idle at every level of a config.
const someTimeouts = `
timeouts: {idle: 100s, run: 2h}
providers:
  mine:
    type: openai
    base_url: https://example.com/v1
    timeouts: {idle: 80s, first_event: 9s}
    models:
      quiet: {thinks_silently: true}
      gpt-5: {thinks_silently: false, timeouts: {idle: 70s}}
  local: {type: ollama, models: {quiet: {thinks_silently: true}}}
`

// resolver gives the timers of models under a config.
func resolver(t *testing.T, source string) (c *config.Config, m *Models, of func(model string, run recovery.Settings) recovery.Timeouts) {
	t.Helper()
	c, err := config.Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	m, err = NewModels(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return c, m, func(model string, run recovery.Settings) recovery.Timeouts { return m.TimeoutsOf(c, model, run) }
}

func TestTimeoutPrecedence(t *testing.T) {
	c, _, of := resolver(t, someTimeouts)
	run := recovery.Settings{failure.TimerIdle: 5_000}
	for _, tt := range []struct {
		model string
		env   recovery.Settings
		run   recovery.Settings
		idle  failure.Millis
	}{
		{"anthropic/claude-sonnet-4-5", nil, nil, 100_000},
		{"mine/quiet", nil, nil, 80_000},
		{"mine/gpt-5", nil, nil, 70_000},
		{"mine/gpt-5", recovery.Settings{failure.TimerIdle: 60_000}, nil, 60_000},
		{"mine/gpt-5", recovery.Settings{failure.TimerIdle: 0}, nil, 0},
		{"mine/gpt-5", recovery.Settings{failure.TimerIdle: 60_000}, run, 5_000},
	} {
		c.Environment = tt.env
		got := of(tt.model, tt.run)
		if got.Idle != tt.idle || got.Run != 7_200_000 || got.MaxTurn != got.Run {
			t.Errorf("%s, environment %v, run %v: %+v", tt.model, tt.env, tt.run, got)
		}
	}
}

func TestBuiltInTimeouts(t *testing.T) {
	const silent = "providers:\n  mine: {type: openai, base_url: https://example.com/v1, models: {quiet: {thinks_silently: true}, gpt-5: {thinks_silently: false}}}\n" +
		"  local: {type: ollama, models: {quiet: {thinks_silently: true}}}\n" +
		"  gateway: {type: openai, base_url: http://127.0.0.1:4001/v1}\n" +
		"  far: {type: vllm, base_url: https://gpu.example.com/v1}\n" +
		"  own: {type: openai, base_url: http://127.0.0.1:8081/v1, local: true}\n"
	_, _, of := resolver(t, silent)
	usual := recovery.DefaultPolicy().Timeouts
	for _, tt := range []struct {
		model                   string
		firstEvent, bytes, idle failure.Millis
	}{
		{"anthropic/claude-sonnet-4-5", usual.FirstEvent, usual.Bytes, usual.Idle},
		{"openai/gpt-5.2", 300_000, usual.Bytes, 300_000},
		{"openrouter/openai/o3", 300_000, usual.Bytes, 300_000},
		{"mine/quiet", 300_000, usual.Bytes, 300_000},
		{"mine/gpt-5", usual.FirstEvent, usual.Bytes, usual.Idle},
		{"local/quiet", 300_000, 300_000, 0},
		{"own/m", 300_000, 300_000, 0},
		{"far/m", 300_000, 300_000, 0},
		{"ollama/m", 300_000, 300_000, 0},
		{"vllm/m", 300_000, 300_000, 0},
		{"llama.cpp/m", 300_000, 300_000, 0},
		{"lmstudio/m", 300_000, 300_000, 0},
		{"gateway/m", usual.FirstEvent, usual.Bytes, usual.Idle}, // that it is on this machine says nothing of what is behind it
		{"litellm/m", usual.FirstEvent, usual.Bytes, usual.Idle},
		{DemoFable, usual.FirstEvent, usual.Bytes, usual.Idle},
	} {
		want := usual
		want.FirstEvent, want.Bytes, want.Idle = tt.firstEvent, tt.bytes, tt.idle
		if got := of(tt.model, nil); got != want {
			t.Errorf("%s: %+v", tt.model, got)
		}
	}
	// What somebody says is not lengthened, even where it is the usual value.
	if got := of("local/quiet", recovery.Settings{failure.TimerFirstEvent: usual.FirstEvent}); got.FirstEvent != usual.FirstEvent {
		t.Errorf("30 s became %d ms", got.FirstEvent)
	}
}

func TestTimeoutTable(t *testing.T) {
	c, models, _ := resolver(t, someTimeouts)
	c.Environment = recovery.Settings{failure.TimerTool: 60_000}
	for model, want := range map[string]string{
		"mine/gpt-5": `
TIMER           LIMIT   FROM
first_event     9 s     providers.mine.timeouts.first_event
connect         10 s    built in
bytes           1 min   built in
idle            1 min 10 s  providers.mine.models.gpt-5.timeouts.idle
step            off     --timeout step
max_turn        2 h     as long as run
run             2 h     timeouts.run
tool            1 min   MULLIGAN_TOOL
progress_after  30 s    built in
patience        30 s    built in
`,
		"local/quiet": `
TIMER           LIMIT   FROM
first_event     5 min   built in, since the model is one of a local model server
connect         10 s    built in
bytes           5 min   built in, since the model is one of a local model server
idle            1 min 40 s  timeouts.idle
step            off     --timeout step
max_turn        2 h     as long as run
run             2 h     timeouts.run
tool            1 min   MULLIGAN_TOOL
progress_after  30 s    built in
patience        30 s    built in
`,
	} {
		var b strings.Builder
		if err := ShowTimeouts(&b, c, models, model, recovery.Settings{failure.TimerStep: 0}); err != nil {
			t.Fatal(err)
		}
		if got := fields(b.String()); got != fields(want) {
			t.Errorf("%s:\n%s", model, b.String())
		}
	}
}

// fields is text without the widths of its columns.
func fields(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

func TestParseTimeouts(t *testing.T) {
	got, err := config.ParseTimeouts([]string{"first-event=10s", "max_turn=0", "idle=1h30m", "idle=2m"})
	want := recovery.Settings{failure.TimerFirstEvent: 10_000, failure.TimerMaxTurn: 0, failure.TimerIdle: 120_000}
	if err != nil || len(got) != len(want) {
		t.Fatal(got, err)
	}
	for timer, value := range want {
		if got[timer] != value {
			t.Errorf("%s is %d", timer, got[timer])
		}
	}
	for setting, want := range map[string]string{
		"soon=1s":         `--timeout soon=1s: "soon" is not a timer; there are: first_event, connect, bytes, idle, step, max_turn, run, tool, progress_after, patience`,
		"idle":            `--timeout idle: "" is not a duration`,
		"idle=5":          `write for example 30s`,
		"idle=-1s":        `idle is negative (-1s); 0 is off`,
		"first-event=1ms": `first_event is too short (1ms): at least 1s, or 0 for off`,
		"run=745h":        `run is longer than 31 days (745h0m0s); 0 is off`,
		"wait=1s":         `"wait" is not a timer`,
	} {
		if _, err := config.ParseTimeouts([]string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// TestTheTimePage: docs/time.md has every timer with its default, and its example is a
// config that comes to the table that it shows.
func TestTheTimePage(t *testing.T) {
	b, err := os.ReadFile("../docs/time.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	usual := recovery.DefaultPolicy().Timeouts
	rows := between(t, page, "<!-- timers -->\n", "<!-- end -->")
	for _, timer := range recovery.SettableTimers() {
		limit := SpellLimit(*usual.Of(timer))
		if timer == failure.TimerMaxTurn {
			limit = "as long as `run`"
		}
		if want := "| `" + string(timer) + "` | " + limit + " | "; !strings.Contains(rows, want) {
			t.Errorf("no row begins with %s", want)
		}
	}
	c, models, _ := resolver(t, between(t, page, "```yaml\n", "```"))
	run, err := config.ParseTimeouts([]string{"connect=3s"})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := ShowTimeouts(&table, c, models, "local/qwen3", run); err != nil {
		t.Fatal(err)
	}
	if shown := between(t, page, "$ mulligan doctor --timers --model local/qwen3 --timeout connect=3s\n", "```"); shown != table.String() {
		t.Errorf("the table is\n%s", table.String())
	}
}

func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	found, _, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatalf("there is nothing between %q and %q", from, to)
	}
	return found
}

// TestStepCountsText: the file says it, the environment overrules the file.
func TestStepCountsText(t *testing.T) {
	for _, tt := range []struct {
		file, env string
		want      bool
	}{{"", "", false}, {"step_counts_text: true", "", true}, {"", "true", true}, {"step_counts_text: true", "false", false}} {
		c, err := config.Parse([]byte(tt.file))
		if err != nil {
			t.Fatal(err)
		}
		err = c.Amend(func(name string) string { return map[string]string{"MULLIGAN_STEP_COUNTS_TEXT": tt.env}[name] })
		p := recovery.DefaultPolicy()
		c.Policy(&p)
		if err != nil || p.StepCountsText != tt.want {
			t.Errorf("%+v: %v, %v", tt, p.StepCountsText, err)
		}
	}
}
