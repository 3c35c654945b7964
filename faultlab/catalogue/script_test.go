package catalogue

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEveryRowHasItsScripts: on the wires that its provider speaks, or with a reason.
func TestEveryRowHasItsScripts(t *testing.T) {
	for _, row := range Rows() {
		scripts := row.Scripts()
		if len(scripts) == 0 || len(Scripts(row.ID)) == 0 {
			t.Errorf("%s: no main script", row.ID)
			continue
		}
		for _, s := range scripts {
			if s.Wire == "" && s.Transport == "" && s.Client == "" {
				t.Errorf("%s: nothing plays it", s.Name())
			}
			if s.Wire != "" && !slices.Contains(allowedWires(row), s.Wire) {
				t.Errorf("%s: %s does not speak %s", s.Name(), row.Provider, s.Wire)
			}
			if row.Provider == "*" && s.Variant == "" && s.Wire != "" && row.ID != "T42" && len(Scripts(row.ID)) != len(Wires()) {
				t.Errorf("%s: not for every wire", s.Name())
			}
		}
	}
}

func allowedWires(row Row) []string {
	switch row.Provider {
	case "*":
		return Wires()
	case "anthropic", "bedrock", "vertex-anthropic":
		return []string{"anthropic"}
	case "gemini":
		return []string{"gemini"}
	case "openai":
		return []string{"openai", "responses"}
	}
	return []string{"openai"}
}

// TestScriptsKeepToTheirRows: a script says what its row says, unless it says why not.
func TestScriptsKeepToTheirRows(t *testing.T) {
	for _, s := range All() {
		row, _ := Find(s.Row)
		if status, err := strconv.Atoi(row.Status); err == nil && s.Status != 0 && s.Status != status {
			t.Errorf("%s: status %d, the row's is %d", s.Name(), s.Status, status)
		}
		e, said := s.Expect, row.expectation()
		if row.Kind != "-" && e.Kind != row.Kind && e.Note == "" && s.Variant == "" {
			t.Errorf("%s: %s, the row says %s, and there is no note", s.Name(), e.Kind, row.Kind)
		}
		if !e.Answer && row.Kind != "-" && said.Retryable != nil && *said.Retryable != *e.Retryable && e.Note == "" {
			t.Errorf("%s: retryable %v, the row says %s, and there is no note", s.Name(), *e.Retryable, row.Retryable)
		}
		if (e.Kind == "rate_limit" || e.Kind == "quota") && e.Wait == nil && e.ResetsAt.IsZero() {
			t.Errorf("%s: a limit, and no word about the wait", s.Name())
		}
	}
}

// TestScriptsSendWhatTheRowsSay: bodies and headers that the table gives whole.
func TestScriptsSendWhatTheRowsSay(t *testing.T) {
	compared := 0
	for _, row := range Rows() {
		for _, s := range Scripts(row.ID) {
			if s.Wire == "" || s.Status == 0 {
				continue
			}
			for _, h := range strings.Split(row.Headers, "; ") {
				name, value, _ := strings.Cut(h, ": ")
				if !sends(s, name, value) && !slices.Contains([]string{"T59", "T61", "R15"}, row.ID) {
					t.Errorf("%s on %s: no header %s", row.ID, s.Wire, h)
				}
			}
			if (row.Body[0] == '{' || row.Body[0] == '[' || row.Body[0] == '<') && !strings.Contains(row.Body, "…") && row.ID != "T30" && row.ID != "T51" {
				if compared++; s.Acts[0].Data != row.Body+"\n" {
					t.Errorf("%s on %s: %s", row.ID, s.Wire, s.Acts[0].Data)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d bodies compared", compared)
	}
}

func sends(s Script, name, value string) bool {
	if value == "" || name == "transfer-encoding" { // HTTP's own, and prose
		return true
	}
	return slices.ContainsFunc(s.Header, func(h [2]string) bool {
		return h[0] == name && (h[1] == value || strings.HasPrefix(h[1], value+";"))
	})
}

// TestStreamsAreJSON: a script is broken where it means to be, and nowhere else.
func TestStreamsAreJSON(t *testing.T) {
	for _, s := range All() {
		for _, a := range s.Acts {
			if a.Do != Send || s.Row == "T37" || s.Row == "T38" || s.Row == "T34" || s.Row == "T41" {
				continue
			}
			for line := range strings.Lines(a.Data) {
				data, ok := strings.CutPrefix(line, "data: ")
				if ok && !json.Valid([]byte(data)) && strings.TrimSpace(data) != "[DONE]" {
					t.Errorf("%s on %s: %s", s.Name(), s.Wire, data)
				}
			}
		}
	}
}

func TestExpectations(t *testing.T) {
	for name, want := range map[string]struct {
		kind      string
		retryable bool
		wait      time.Duration // -1 = not said
	}{
		"O01":              {"rate_limit", true, 9816 * time.Millisecond},
		"T58":              {"rate_limit", true, 2 * time.Hour},
		"T59":              {"rate_limit", true, 7 * time.Second},
		"T61-huge":         {"rate_limit", true, 0},
		"G25":              {"quota", false, time.Hour},
		"O12":              {"rate_limit", true, 0},
		"O12-server_error": {"unavailable", true, -1},
		"T55":              {"overloaded", false, -1},
		"T56":              {"invalid_request", true, -1},
		"A37":              {"output_truncated", true, -1},
		"T28":              {"unreachable", true, -1},
	} {
		for _, s := range Scripts(name) {
			e := s.Expect
			if e.Kind != want.kind || e.Retryable == nil || *e.Retryable != want.retryable || want.wait < 0 != (e.Wait == nil) || e.Wait != nil && *e.Wait != want.wait {
				t.Errorf("%s on %s: %+v", name, s.Wire, e)
			}
		}
	}
	if e := Scripts("A38")[0].Expect; !e.Answer || e.Retryable != nil || e.Text == "" {
		t.Errorf("%+v", e)
	}
	if e := Scripts("A20")[0].Expect; !e.ResetsAt.Equal(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", e)
	}
}
