package pi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/llm"
)

// ask is a request for a model of Pi's.
func ask(messages ...llm.Message) llm.Request {
	if len(messages) == 0 {
		messages = []llm.Message{llm.User("hi")}
	}
	return llm.Request{Model: "pi/fa/m", Session: "s", Messages: messages}
}

// hear collects what Stream yields, and its failure.
func hear(ctx context.Context, t *testing.T, e *Engine, r llm.Request) (llm.Answer, *failure.Failure) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var a llm.Answer
	for d, err := range e.Stream(ctx, r) {
		if err != nil {
			f, ok := failure.AsFailure(err)
			if !ok {
				t.Fatalf("no failure: %v", err)
			}
			return a, f
		}
		a.Add(d)
	}
	return a, nil
}

// The pieces of scripts.
const (
	modern  = "version 1.5.2\n--- start\n"
	ancient = "version 0.73.1\n--- start\n"
	known   = `> get_messages
< {"id":"@","type":"response","command":"get_messages","success":true,"data":{"messages":[]}}
`
	prompted = `> prompt
< {"id":"@","type":"response","command":"prompt","success":true}
< {"type":"agent_start"}
< {"type":"turn_start"}
`
	begun   = `< {"type":"message_start","message":{"role":"assistant","content":[],"stopReason":"pending"}}` + "\n"
	done    = `< {"type":"agent_end","messages":[],"willRetry":false}` + "\n"
	quietly = `< {"type":"agent_settled","aborted":false}` + "\n"
)

func saying(text string) string {
	return fmt.Sprintf("< {\"type\":\"message_update\",\"assistantMessageEvent\":{\"type\":\"text_delta\",\"contentIndex\":0,\"delta\":%q}}\n", text)
}

func ended(text, stop string) string {
	return fmt.Sprintf("< {\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":%q}],\"usage\":{\"input\":3,\"output\":2},\"stopReason\":%q}}\n", text, stop)
}

func failed(said string) string {
	return fmt.Sprintf("< {\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"provider\":\"fa\",\"stopReason\":\"error\",\"errorMessage\":%q}}\n", said)
}

func calls(id, stop, args string) string {
	return fmt.Sprintf(`< {"type":"message_update","assistantMessageEvent":{"type":"toolcall_start","contentIndex":0,"id":%q,"toolName":"bash"}}
< {"type":"message_update","assistantMessageEvent":{"type":"toolcall_delta","contentIndex":0,"delta":%q}}
< {"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":"bash","arguments":{}}],"usage":{"input":1},"stopReason":%q}}
`, id, args, id, stop)
}

// A turn with a tool is two messages; the next begins another turn in the same process.
func TestTurn(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("I ")+saying("look.")+calls("c1", "toolUse", `{"command":"ls"}`)+
		`< {"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{}}
< {"type":"tool_execution_update","toolCallId":"c1","partialResult":{"content":[{"type":"text","text":"a\nb\n"}]}}
< {"type":"something_new","with":{"a":["}"]}}
< {"type":"extension_ui_request","id":"u1","method":"confirm","title":"really?"}
> extension_ui_response
< {"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{"content":[{"type":"text","text":"a\nb\nc\n"}]},"isError":false}
< {"type":"turn_start"}
`+begun+saying("Three.")+ended("Three.", "stop")+done+quietly+
		`> set_model
< {"id":"@","type":"response","command":"set_model","success":true,"data":{}}
> get_messages
< {"id":"@","type":"response","command":"get_messages","success":true,"data":{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"Three."}],"stopReason":"stop"}]}}
`+prompted+begun+saying("Again.")+ended("Again.", "stop")+done+quietly)
	a, f := hear(t.Context(), t, e, ask())
	if f != nil || a.Stop != llm.StopToolUse || a.Message("").Text() != "I look." || len(a.Message("").Calls()) != 1 || a.Usage.InputTokens != 1 {
		t.Fatalf("%+v, %v", a, f)
	}
	call := a.Message("").Calls()[0]
	if call.ID != "c1" || call.Name != "bash" || string(call.Args) != `{"command":"ls"}` {
		t.Errorf("%+v", call)
	}
	result, err := e.Result(t.Context(), "s", call, func(string) {})
	if err != nil || result.Text != "a\nb\nc\n" || result.IsError || result.CallID != "c1" || result.Name != "bash" {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := e.Result(t.Context(), "s", llm.ToolCall{ID: "c9"}, nil); err == nil {
		t.Error("a call that nobody made has a result")
	}
	a, f = hear(t.Context(), t, e, ask())
	if f != nil || a.Stop != llm.StopEnd || a.Message("").Text() != "Three." || a.Usage.OutputTokens != 2 {
		t.Fatalf("%+v, %v", a, f)
	}
	next := ask(llm.User("hi"), llm.Message{Role: llm.RoleAssistant, Model: "pi/fa/m", Parts: []llm.Part{{Text: "Three."}}}, llm.User("more"))
	next.Model = "pi/fa/n"
	if a, f = hear(t.Context(), t, e, next); f != nil || a.Message("").Text() != "Again." {
		t.Fatalf("%+v, %v", a, f)
	}
}

// One failure per attempt, and then Pi goes on from where it stood.
func TestFailureAndOn(t *testing.T) {
	for name, version := range map[string]string{"modern": modern, "ancient": ancient} {
		t.Run(name, func(t *testing.T) {
			const said = `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
			end := done
			if version == modern {
				end += quietly
			}
			e := fake(t, version+known+prompted+begun+saying("half")+failed(said)+
				`< {"type":"turn_end","message":{"role":"assistant","stopReason":"error","errorMessage":"again"}}`+"\n"+end+
				`> get_messages
< {"id":"@","type":"response","command":"get_messages","success":true,"data":{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[],"stopReason":"error"}]}}
`+prompted+begun+saying("whole")+ended("whole", "stop")+end)
			a, f := hear(t.Context(), t, e, ask())
			if f == nil || f.Kind != failure.KindOverloaded || f.HTTPStatus != 529 || f.Provider != "fa" || f.ProviderCode != "overloaded_error" || f.Detail != "Overloaded" {
				t.Fatalf("%+v, %+v", a, f)
			}
			if a, f = hear(t.Context(), t, e, ask()); f != nil || a.Message("").Text() != "whole" || a.Stop != llm.StopEnd {
				t.Fatalf("%+v, %v", a, f)
			}
		})
	}
}

// TestSilentFailures has what Pi takes for an answer and is none, and what it says of
// itself where there is none.
func TestSilentFailures(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   failure.Kind
	}{
		"nothing":                 {ancient + known + prompted + begun + "< {\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"stop\"}}\n" + done, failure.KindEmptyResponse},
		"settled without a word":  {modern + known + prompted + done + quietly, failure.KindEmptyResponse},
		"arguments that are cut":  {ancient + known + prompted + begun + calls("c1", "stop", `{"command":"echo dan`) + "> abort\n< {\"id\":\"@\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n", failure.KindStreamInterrupted},
		"a refused prompt":        {modern + known + "> prompt\n< {\"id\":\"@\",\"type\":\"response\",\"command\":\"prompt\",\"success\":false,\"error\":\"No API key found for fa.\"}\n", failure.KindAuth},
		"a command of Pi's own":   {modern + known + "> prompt\n< {\"id\":\"@\",\"type\":\"response\",\"command\":\"prompt\",\"success\":true,\"data\":{\"disposition\":\"handled\"}}\n", failure.KindUnknown},
		"it ends before it spoke": {modern + "! Error: Failed to load extension\nexit 1\n", failure.KindMisconfigured},
		"it ends in mid-turn":     {modern + known + prompted + begun + saying("ha") + "! boom\nexit 3\n", failure.KindInterrupted},
		"it prints garbage":       {modern + known + prompted + "< nonsense\n", failure.KindMalformedResponse},
		"it breaks its rules":     {modern + known + prompted + "< {\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"usage\":7}}\n", failure.KindMalformedResponse},
		"an abort of its own":     {modern + known + prompted + begun + "< {\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"aborted\",\"errorMessage\":\"Request was aborted.\"}}\n" + done + quietly, failure.KindInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := hear(t.Context(), t, fake(t, c.script), ask())
			if f == nil || f.Kind != c.want || f.Provider != "fa" && c.want != failure.KindMisconfigured || f.Model != "pi/fa/m" || f.Title == "" {
				t.Fatalf("%+v", f)
			}
			if strings.HasPrefix(name, "it ends") && !strings.Contains(f.Detail, "it printed") {
				t.Errorf("what it printed is not told: %q", f.Detail)
			}
		})
	}
}

// TestWhatWasSaidBeforeTheEnd: Pi has ended before anybody reads what it said.
func TestWhatWasSaidBeforeTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		said string
		want failure.Kind
	}{
		"an answer": {begun + saying("fine") + ended("fine", "stop") + done + quietly + "exit 0\n", ""},
		"garbage":   {"< nonsense\n", failure.KindMalformedResponse},
		"a part":    {begun + saying("fi") + "exit 3\n", failure.KindInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fake(t, modern+known+prompted+c.said).session("s")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.begin(t.Context(), ask(), asked{provider: "fa", model: "m"}); err != nil {
				t.Fatal(err)
			}
			<-s.last().gone
			var a llm.Answer
			var f *failure.Failure
			h := &messageStream{session: s, model: "pi/fa/m", provider: "fa", yield: func(d llm.Delta, err error) bool {
				f, _ = failure.AsFailure(err)
				a.Add(d)
				return err == nil
			}}
			h.hear(t.Context())
			switch {
			case c.want != "" && (f == nil || f.Kind != c.want):
				t.Errorf("%+v", f)
			case c.want == "" && (f != nil || a.Message("").Text() != "fine" || a.Stop != llm.StopEnd):
				t.Errorf("%+v, %+v", f, a)
			}
		})
	}
}

// What Pi prints of a key does not reach anybody.
func TestSecrets(t *testing.T) {
	t.Setenv("FA_KEY", "secret-9b2f")
	e := fake(t, modern+known+prompted+begun+"! key secret-9b2f and file-key-77\nexit 3\n", func(c *Config) {
		c.Env = append(c.Env, "FA_KEY")
		c.ConfigDir = filepath.Dir(c.Folder)
		if err := os.WriteFile(filepath.Join(c.ConfigDir, "auth.json"), []byte(`{"fa":{"type":"api_key","key":"file-key-77"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	_, f := hear(t.Context(), t, e, ask())
	if f == nil || strings.Contains(f.Detail, "9b2f") || strings.Contains(f.Detail, "file-key") || !strings.Contains(f.Detail, "[redacted]") {
		t.Errorf("%+v", f)
	}
	info, err := os.Stat(filepath.Join(e.cfg.Folder, authFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// Pi's own retries: each is a failure that says when it comes, and Pi is heard on; another
// model is given to it while it sleeps.
func TestPiRetries(t *testing.T) {
	again := `< {"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":8000,"errorMessage":"503 x"}` + "\n"
	e := fake(t, modern+known+prompted+begun+failed("503 status code (no body)")+`< {"type":"agent_end","messages":[],"willRetry":true}`+"\n"+again+
		`> set_model
< {"id":"@","type":"response","command":"set_model","success":true,"data":{}}
< {"type":"agent_start"}
`+begun+saying("fine")+ended("fine", "stop")+done+quietly, func(c *Config) { c.Retries = RetriesPi })
	_, f := hear(t.Context(), t, e, ask())
	if f == nil || f.Kind != failure.KindOverloaded || f.RetryAfter != 8000 || !f.Retryable {
		t.Fatalf("%+v", f)
	}
	other := ask()
	other.Model = "pi/fa/n"
	if a, f := hear(t.Context(), t, e, other); f != nil || a.Message("").Text() != "fine" {
		t.Fatalf("%+v, %v", a, f)
	}
	settings, err := os.ReadFile(filepath.Join(e.cfg.Folder, settingsFile))
	if err != nil || !strings.Contains(string(settings), `"baseDelayMs":8000`) {
		t.Errorf("%s, %v", settings, err)
	}
}

// Pi's own compaction is waited for, if the answer was too long for the model, and not if
// there is one already.
func TestCompaction(t *testing.T) {
	for name, script := range map[string]string{
		"then it asks again": modern + known + prompted + begun + failed("413 status code (no body)") + done +
			"< {\"type\":\"compaction_start\",\"reason\":\"overflow\"}\n< {\"type\":\"compaction_end\",\"reason\":\"overflow\",\"willRetry\":true}\n< {\"type\":\"agent_start\"}\n" +
			begun + saying("short") + ended("short", "stop") + done + quietly,
		"after the answer": modern + known + prompted + begun + saying("short") + ended("short", "stop") + done + "< {\"type\":\"compaction_start\",\"reason\":\"threshold\"}\n",
	} {
		t.Run(name, func(t *testing.T) {
			if a, f := hear(t.Context(), t, fake(t, script), ask()); f != nil || a.Message("").Text() != "short" || a.Stop != llm.StopEnd {
				t.Errorf("%+v, %v", a, f)
			}
		})
	}
	t.Run("in vain", func(t *testing.T) {
		_, f := hear(t.Context(), t, fake(t, ancient+known+prompted+begun+failed("413 status code (no body)")+done+
			"< {\"type\":\"compaction_start\",\"reason\":\"overflow\"}\n< {\"type\":\"compaction_end\",\"reason\":\"overflow\",\"willRetry\":false,\"errorMessage\":\"no\"}\n"), ask())
		if f == nil || f.Kind != failure.KindContextOverflow {
			t.Errorf("%+v", f)
		}
	})
}

// A Pi that ended goes on in a new process, which is given the session's file. A model that
// it does not list is given to a new one as well.
func TestRestart(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+"exit 1\n--- start\n"+
		`> get_messages
< {"id":"@","type":"response","command":"get_messages","success":true,"data":{"messages":[{"role":"user","content":"hi"}]}}
`+prompted+begun+saying("whole")+ended("whole", "stop")+done+quietly+
		"> set_model\n< {\"id\":\"@\",\"type\":\"response\",\"command\":\"set_model\",\"success\":false,\"error\":\"Model not found: fa/n\"}\n"+
		"--- start\n"+known+prompted+begun+saying("third")+ended("third", "stop")+done+quietly)
	if _, f := hear(t.Context(), t, e, ask()); f == nil || f.Kind != failure.KindInterrupted || !f.Retryable {
		t.Fatalf("%+v", f)
	}
	if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Message("").Text() != "whole" {
		t.Fatalf("%+v, %v", a, f)
	}
	args := strings.Join(e.sessions["s"].last().program.Args, " ")
	if !strings.Contains(args, "--session "+e.folder.session("s")) || !strings.Contains(args, "--provider fa --model m") {
		t.Error(args)
	}
	other := ask(llm.User("hi"), llm.User("more"))
	other.Model = "pi/fa/n"
	if a, f := hear(t.Context(), t, e, other); f != nil || a.Message("").Text() != "third" {
		t.Fatalf("%+v, %v", a, f)
	}
}

// Another model in the middle of a turn: what Pi does is stopped, and it goes on from there.
func TestSwitchInMidTurn(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+calls("c1", "toolUse", `{}`)+
		`> abort
< {"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{"content":[{"type":"text","text":"Command aborted"}]},"isError":true}
< {"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"aborted"}}
`+done+quietly+`< {"id":"@","type":"response","command":"abort","success":true}
> set_model
< {"id":"@","type":"response","command":"set_model","success":true,"data":{}}
> get_messages
< {"id":"@","type":"response","command":"get_messages","success":true,"data":{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"toolCall","id":"c1"}],"stopReason":"toolUse"},{"role":"toolResult","content":"Command aborted"}]}}
`+prompted+begun+saying("Other.")+ended("Other.", "stop")+done+quietly)
	if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Stop != llm.StopToolUse {
		t.Fatalf("%+v, %v", a, f)
	}
	other := ask()
	other.Model = "pi/fa/n"
	if a, f := hear(t.Context(), t, e, other); f != nil || a.Message("").Text() != "Other." {
		t.Fatalf("%+v, %v", a, f)
	}
}

// A Pi that has nothing to do is ended after a while, one that is asked meanwhile is not.
func TestIdle(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("Fine.")+ended("Fine.", "stop")+done+quietly)
	if _, f := hear(t.Context(), t, e, ask()); f != nil {
		t.Fatal(f)
	}
	s := e.sessions["s"]
	p := s.last()
	if s.idle == nil || !s.idle.Stop() {
		t.Fatal("no clock runs")
	}
	if _, err := e.session("s"); err != nil {
		t.Fatal(err)
	}
	e.endIdle(s)
	if procgroup.Within(p.Exited(), 50*time.Millisecond) {
		t.Fatal("a Pi that is asked something was ended")
	}
	e.leave(s)
	e.endIdle(s)
	if !procgroup.Within(p.Exited(), 10*time.Second) || len(e.sessions) > 0 {
		t.Error("a Pi that nobody asks goes on")
	}
}

// A cancelled Stream or Result ends Pi's turn soon; a Pi that does not listen is ended.
func TestCancel(t *testing.T) {
	aborts := "> abort\n< {\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"aborted\"}}\n" + done + quietly + "< {\"id\":\"@\",\"type\":\"response\",\"command\":\"abort\",\"success\":true}\n"
	for name, script := range map[string]string{"listens": aborts, "does not listen": ""} {
		t.Run("Stream/"+name, func(t *testing.T) {
			e := fake(t, modern+known+prompted+begun+saying("x")+script)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			why := errors.New("enough")
			var got error
			began := time.Now()
			for d, err := range e.Stream(ctx, ask()) {
				if got = err; d.Kind == llm.DeltaText {
					began = time.Now()
					cancel(why)
				}
			}
			if !errors.Is(got, why) || time.Since(began) > 10*time.Second {
				t.Errorf("%v after %v", got, time.Since(began))
			}
			if p := e.sessions["s"]; name == "listens" && (p == nil || p.process() == nil) {
				t.Error("a Pi that stopped in order was ended")
			}
		})
		t.Run("Result/"+name, func(t *testing.T) {
			e := fake(t, modern+known+prompted+begun+calls("c1", "toolUse", `{}`)+script)
			a, _ := hear(t.Context(), t, e, ask())
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := e.Result(ctx, "s", a.Message("").Calls()[0], func(string) {}); err == nil {
				t.Error("a call without a result has one")
			}
		})
	}
	t.Run("Release", func(t *testing.T) {
		e := fake(t, modern+known+prompted+begun+calls("c1", "toolUse", `{}`)+aborts)
		if a, f := hear(t.Context(), t, e, ask()); a.Stop != llm.StopToolUse {
			t.Fatal(f)
		}
		p := e.sessions["s"].last()
		e.Release("s")
		if !procgroup.Within(p.Exited(), 0) {
			t.Error("Pi outlives its release")
		}
		e.Release("s")
		e.Release("another")
	})
}

// Two messages without a call between them are one answer, and an answer that nobody heard
// is told again.
func TestAnswers(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("One.")+ended("One.", "stop")+done+"< {\"type\":\"agent_start\"}\n"+begun+saying("Two.")+ended("Two.", "length")+done+quietly)
	if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Message("").Text() != "One.\n\nTwo." || a.Stop != llm.StopLength {
		t.Errorf("%+v, %v", a, f)
	}
	e = fake(t, modern+`> get_messages
< {"id":"@","type":"response","command":"get_messages","success":true,"data":{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"Known."}],"usage":{"output":4},"stopReason":"stop"}]}}
`)
	if a, f := hear(t.Context(), t, e, ask()); f != nil || a.Message("").Text() != "Known." || a.Stop != llm.StopEnd || a.Usage.OutputTokens != 4 {
		t.Errorf("%+v, %v", a, f)
	}
}

// A request without a session, as for a summary, is one by itself: it may run no tool, and
// leaves neither a file nor a process.
func TestWithoutSession(t *testing.T) {
	e := fake(t, modern+known+prompted+begun+saying("Short.")+ended("Short.", "stop")+done+quietly)
	r := ask()
	r.Session = ""
	var args string
	for _, err := range e.Stream(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range e.sessions {
			args = strings.Join(s.last().program.Args, " ")
		}
	}
	if !strings.Contains(args, "--no-session --no-tools") || strings.Contains(args, "--session ") || len(e.sessions) > 0 {
		t.Errorf("%q, %d sessions", args, len(e.sessions))
	}
}

func TestNotInstalled(t *testing.T) {
	e, err := New(Config{Command: []string{"no-such-program-anywhere"}, Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	_, f := hear(t.Context(), t, e, ask())
	if f == nil || f.Line() != "Pi is not set up correctly. There is no program no-such-program-anywhere; "+install+"." || f.Kind != failure.KindMisconfigured || e.Installed() || !strings.Contains(e.Warning(t.Context()), "npm install") {
		t.Errorf("%+v", f)
	}
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"relative folder": {Folder: "here"}, "retries": {Folder: "/x", Retries: "twice"}, "command": {Folder: "/x", Command: []string{""}},
	} {
		if _, err := New(cfg); err == nil {
			t.Error(name)
		}
	}
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"pi/", "pi/fa", "pi//m", "pi/-x/m"} {
		r := ask()
		r.Model = model
		if _, f := hear(t.Context(), t, e, r); f == nil || f.Kind != failure.KindPromptFailure {
			t.Errorf("%s: %+v", model, f)
		}
	}
	e.Close()
	for _, err := range e.Stream(t.Context(), ask()) {
		if err == nil {
			t.Error("a closed engine answers")
		}
	}
}

// An old Pi is warned of, once, and its names for a call are found where it has them.
func TestOldPi(t *testing.T) {
	e := fake(t, ancient+known+prompted+begun+
		`< {"type":"message_update","assistantMessageEvent":{"type":"toolcall_start","contentIndex":1,"partial":{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"toolCall","id":"c7","name":"read"}]}},"message":{}}
< {"type":"message_update","assistantMessageEvent":{"type":"toolcall_delta","contentIndex":1,"delta":"{}","partial":{}},"message":{"content":[{"a":"}"}]}}
< {"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c7","name":"read","arguments":{}}],"usage":{"input":1},"stopReason":"toolUse"}}
`)
	e.version = nil
	a, f := hear(t.Context(), t, e, ask())
	if call := a.Message("").Calls(); f != nil || len(call) != 1 || call[0].ID != "c7" || call[0].Name != "read" {
		t.Errorf("%+v, %v", a, f)
	}
	if !strings.Contains(e.Warning(t.Context()), "0.73.1") {
		t.Error(e.Warning(t.Context()))
	}
}
