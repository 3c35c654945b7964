package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/provider"
	"github.com/mulligan-run/mulligan/provider/pi/pitest"
)

var rewrite = flag.Bool("rewrite", false, "write anew what the rows of testdata/pi come to")

// recordings are the real Pis' output for every row of the behaviour matrix.
const recordings = "../../provider/pi/testdata"

// piRow is a row of a table in testdata/pi: what a person sees and does, line by line. These lines
// are what the test does; all others are what must be seen:
//
//	asks     the model, in Pi's words
//	retries  who retries: "pi"; else the runner, when the button is pressed
//	plays    what the model's provider does, where the real Pi asks it
//	begin    how long it may take to begin, where that is not the usual time
//	silence  how long it may be silent in mid-stream, likewise
//	presses  a button, of what was seen last
type piRow struct {
	name          string
	asks, retries string
	plays         string
	begin         time.Duration
	silence       time.Duration
	presses       []string
	table         string // all its lines
}

// readRows reads a table.
func readRows(t *testing.T, path string) (rows []piRow) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(source), "\n== ")[1:] {
		name, table, _ := strings.Cut(block, "\n")
		r := piRow{name: name, table: strings.TrimSpace(table)}
		for line := range strings.Lines(table) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch value = strings.TrimSpace(value); key {
			case "asks":
				r.asks = value
			case "retries":
				r.retries = value
			case "plays":
				r.plays = value
			case "begin":
				r.begin, err = time.ParseDuration(value)
			case "silence":
				r.silence, err = time.ParseDuration(value)
			case "presses":
				r.presses = append(r.presses, value)
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// models are the run's models: the one that is asked, another one of the same provider and, if a
// person chooses from a card, one of another account.
func (r piRow) models() []string {
	provider, _, _ := strings.Cut(r.asks, "/")
	list := []string{"pi/" + r.asks, "pi/" + provider + "/two"}
	if r.retries == "" {
		list = append(list, "pi/"+map[string]string{"fakean": "fakeoa", "fakeoa": "fakean"}[provider]+"/two")
	}
	return list
}

// seen writes a table's lines.
type seen struct {
	strings.Builder
	partial []string // the text of failed attempts
}

func (s *seen) line(key string, values ...string) {
	values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
	if value := strings.Join(values, " | "); value != "" {
		fmt.Fprintf(s, "%-9s%s\n", key, value)
	}
}

// TestPi shows every row of Pi's behaviour matrix, in both generations, to a person at the page and
// to one at the terminal: recorded output of the real Pi is replayed to the real runner behind the
// real gateway. Both see one card per failure, with the same words and buttons. One of them presses
// a button; then the run recovers, and all that is left of the failure is a line.
func TestPi(t *testing.T) {
	player := buildPlayer(t)
	for _, generation := range []string{"0.73", "1.5"} {
		t.Run(generation, func(t *testing.T) {
			path := filepath.Join("testdata", "pi", generation+".txt")
			rows := readRows(t, path)
			complete(t, generation, rows)
			buildPi(t).playAll(t, path, rows, func(t *testing.T, r piRow) provider.Engine {
				script, err := filepath.Abs(filepath.Join(recordings, generation, r.name+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				return provider.Engine{Command: pitest.Command(player, script, filepath.Join(t.TempDir(), "place"))}
			})
		})
	}
}

// TestRealPi plays some rows, one of each class, with the real Pis and a provider that fails.
func TestRealPi(t *testing.T) {
	path := filepath.Join("testdata", "pi", "live.txt")
	rows := readRows(t, path)
	for generation, command := range pitest.Real(t, "../..") {
		t.Run(generation, func(t *testing.T) {
			buildPi(t).playAll(t, path, rows, func(t *testing.T, r piRow) provider.Engine {
				return provider.Engine{Command: command, ConfigDir: asked(t, r.plays)}
			})
		})
	}
}

// asked is a folder of a person's Pi whose providers are a lab. The model one plays the script, and
// the other model answers.
func asked(t *testing.T, script string) string {
	t.Helper()
	steps, err := faultlab.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	lab := faultlab.New()
	lab.Script("one", steps...)
	lab.Script("two", faultlab.Answer("Fine."))
	t.Cleanup(func() { _ = lab.Close() })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "models.json"), pitest.Models(listen(t, lab)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// playAll plays the rows, each with an engine of its own, and compares what is seen with the table.
func (h *piHarness) playAll(t *testing.T, path string, rows []piRow, engine func(t *testing.T, r piRow) provider.Engine) {
	t.Helper()
	table, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			e := engine(t, r)
			e.Retries = r.retries
			h.drive(t, e, r)
			got := strings.TrimSpace(h.play(t, r, i%2 == 0))
			if *rewrite {
				table = []byte(strings.Replace(string(table), "== "+r.name+"\n"+r.table, "== "+r.name+"\n"+got, 1))
			} else if got != r.table {
				t.Errorf("%s has\n%s\nnot\n%s", path, r.table, got)
			}
		})
	}
	if *rewrite {
		if err := os.WriteFile(path, table, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// complete requires a row for every recording.
func complete(t *testing.T, generation string, rows []piRow) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(recordings, generation, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if !slices.ContainsFunc(rows, func(r piRow) bool { return r.name == name }) {
			t.Errorf("no row for the recording %s", name)
		}
	}
}

// play asks, looks and presses as the row says, at the page or at the terminal, and returns what
// both saw.
func (h *piHarness) play(t *testing.T, r piRow, atThePage bool) string {
	t.Helper()
	h.window.timeout = timeout + r.begin + r.silence
	var s seen
	s.line("asks", r.asks)
	s.line("retries", r.retries)
	s.line("plays", r.plays)
	if r.begin > 0 {
		s.line("begin", r.begin.String())
	}
	if r.silence > 0 {
		s.line("silence", r.silence.String())
	}
	run, screen := h.ask(t)
	for n, press := range r.presses {
		if r.retries == "pi" {
			h.seesWait(t, &s, screen)
		} else {
			h.seesCard(t, &s, screen)
		}
		failures := h.failures(t, run.id)
		if len(failures) != n+1 {
			t.Fatalf("%d failures after %d presses: %+v", len(failures), n, failures)
		}
		s.line("kind", string(failures[n].Kind))
		s.line("presses", press)
		if atThePage {
			h.press(press)
		} else {
			screen.press(full(press))
		}
		h.wait(fmt.Sprintf(`document.querySelectorAll('.chosen').length === %d`, n+1))
		screen.says("You chose: " + full(press))
	}
	h.seesEnd(t, &s, screen, len(r.presses))
	return s.String()
}

// seesCard checks the one card of a failure.
func (h *piHarness) seesCard(t *testing.T, s *seen, screen *terminal) {
	t.Helper()
	h.wait(`document.querySelectorAll('.card:not([data-answering])').length === 1 && document.querySelector('.run').dataset.status === 'failed'`)
	if n := eval[int](h.window, `document.querySelectorAll('.card, .trouble, .banner').length`); n != 1 {
		t.Errorf("the page shows %d errors", n)
	}
	title, message := h.text(".card h3"), lasted.ReplaceAllString(h.text(".card .message"), "n s")
	buttons := eval[[]string](h.window, `[...document.querySelectorAll('.card .buttons button > span')].map((b) => b.textContent)`)
	screen.wait(title, func(words string) bool {
		return strings.Contains(lasted.ReplaceAllString(words, "n s"), title+" "+message)
	})
	if n := screen.cards(); n != 1 {
		t.Errorf("the terminal shows %d cards:\n%s", n, screen.screen())
	}
	if at := screen.buttons(); !slices.Equal(at, atTheTerminal(buttons)) {
		t.Errorf("the page's buttons are %q, the terminal's %q", buttons, at)
	}
	partial := h.prose()
	s.partial = append(s.partial, partial...)
	for _, text := range partial {
		screen.says(text)
	}
	s.line("partial", partial...)
	s.line("card", title, message)
	s.line("buttons", buttons...)
}

// full is a label of the page with the model's full name, as the terminal has it.
func full(label string) string { return strings.Replace(label, " fake", " pi/fake", 1) }

// atTheTerminal are the page's buttons as the terminal has them: it puts models other than the
// suggested one behind one entry, if there are several.
func atTheTerminal(labels []string) (at []string) {
	others := 0
	for i, label := range labels {
		if i > 0 && strings.HasPrefix(label, "Switch to ") {
			others++
		}
	}
	for i, label := range labels {
		switch other := i > 0 && others > 1 && strings.HasPrefix(label, "Switch to "); {
		case !other:
			at = append(at, full(label))
		case !slices.Contains(at, behind):
			at = append(at, behind)
		}
	}
	return at
}

// behind is the terminal's entry for other models.
const behind = "Switch model…"

// What differs from test to test: countdowns, and how long attempts took.
var (
	counting = regexp.MustCompile(`\d+ s…`)
	lasted   = regexp.MustCompile(`[\d.]+ m?s\b`)
)

// seesWait checks the line that counts down while Pi waits. The run continues meanwhile, and is
// followed.
func (h *piHarness) seesWait(t *testing.T, s *seen, screen *terminal) {
	t.Helper()
	h.wait(`document.querySelector('.status[data-state=retry_wait], .status[data-state=switching]') && document.querySelector('.lineactions')`)
	h.lacks(".card")
	if status := eval[string](h.window, `document.querySelector('.run').dataset.status`); status != "waiting" {
		t.Errorf("the run is %s", status)
	}
	line := counting.ReplaceAllString(h.text(".status .line"), "n s…")
	buttons := strings.Split(h.text(".lineactions"), "\n")
	screen.wait(quote(line), func(words string) bool { return strings.Contains(counting.ReplaceAllString(words, "n s…"), line) })
	if at := append(screen.buttons(), "Stop"); !slices.Equal(at, atTheTerminal(buttons)) { // at the terminal Stop is the key Esc
		t.Errorf("the page's buttons are %q, the terminal's %q", buttons, at)
	}
	if n := screen.cards(); n != 0 {
		t.Errorf("the terminal shows %d cards:\n%s", n, screen.screen())
	}
	if !eval[bool](h.window, `!!document.querySelector('.stop') && !document.querySelector('.reconnecting')`) {
		t.Error("the page does not follow the run any more:", h.text("body"))
	}
	left := h.secondsLeft()
	for end := time.Now().Add(timeout); h.secondsLeft() >= left; time.Sleep(25 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the page does not count down from %d s", left)
		}
	}
	s.line("line", line)
	s.line("buttons", buttons...)
}

// secondsLeft is the countdown in the page's line.
func (h *piHarness) secondsLeft() int {
	return eval[int](h.window, `parseInt(document.querySelector('.status .tick')?.innerText.replace(/\D+/g, '') || '0')`)
}

// seesEnd checks what is left when the run is over.
func (h *piHarness) seesEnd(t *testing.T, s *seen, screen *terminal, failures int) {
	t.Helper()
	h.wait(`['completed', 'cancelled'].includes(document.querySelector('.run')?.dataset.status) || document.querySelector('.status[data-state=stopped]')`)
	h.lacks(".card, .trouble, .banner, .partial")
	recovered := h.text(".recovery summary")
	if n := eval[int](h.window, `document.querySelectorAll('.attempts > li').length`); recovered != "" && n != failures || recovered == "" && n != 0 {
		t.Errorf("the page lists %d failures, of %d", n, failures)
	}
	answer := h.prose()
	badges := eval[[]string](h.window, `[...document.querySelectorAll('.badge')].map((b) => b.innerText.replace('Written by', '').trim())`)
	for _, text := range append(slices.Clone(answer), full(recovered)) {
		screen.says(text)
	}
	for _, badge := range badges {
		screen.says("pi/" + strings.TrimSuffix(badge, " · Pi"))
	}
	words := screen.words()
	for _, text := range answer {
		if n := strings.Count(words, text); n != 1 {
			t.Errorf("the terminal shows %q %d times:\n%s", text, n, screen.screen())
		}
	}
	for _, text := range s.partial {
		if strings.Contains(words, text) && !slices.Contains(answer, text) {
			t.Errorf("the terminal keeps what failed:\n%s", screen.screen())
		}
	}
	if screen.cards() != 0 || strings.Contains(words, "Recovered") != (recovered != "") {
		t.Errorf("the terminal shows\n%s", screen.screen())
	}
	s.line("tools", eval[[]string](h.window, `[...document.querySelectorAll('.tool')].map((t) => t.querySelector('code').innerText + ' ' + [...t.classList].filter((c) => c !== 'tool').join(' '))`)...)
	s.line("answer", answer...)
	s.line("by", badges...)
	s.line("then", recovered, h.text(".status:not(.sr) .line"))
}

// prose is the models' text on the page.
func (h *piHarness) prose() []string {
	return eval[[]string](h.window, `[...document.querySelectorAll('.prose')].map((p) => p.innerText)`)
}
