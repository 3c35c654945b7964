package runner_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/timeline"
)

// goOnFromThere has every failure answered by another attempt that goes on from the text.
func goOnFromThere() hooks.Hook {
	return advise(recovery.Vote{Action: recovery.ActionRetry, Adjust: recovery.Adjust{Continue: true}})
}

func refuses(kind failure.Kind, detail string) *failure.Failure {
	f := failure.NewFailure(kind, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	f.HTTPStatus, f.Detail = 400, detail
	return f
}

func cutOff() *failure.Failure {
	return failure.NewFailure(failure.KindStreamInterrupted, failure.OriginModel, failure.PhaseMidStream, nil)
}

// attemptsOf lists the attempts of the only run of log.
func attemptsOf(t *testing.T, log timeline.Log) (list []recovery.Began, repaired []llm.Repair) {
	t.Helper()
	runs, err := log.List(t.Context(), timeline.Query{})
	if err != nil || len(runs) == 0 {
		t.Fatal(runs, err)
	}
	events, err := log.Read(t.Context(), runs[0].Run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case recovery.Began:
			list = append(list, b)
		case recovery.Repaired:
			repaired = append(repaired, b.Repairs...)
		}
	}
	return list, repaired
}

// untilHeard holds back what follows a step's text until a follower has seen that text. A follower
// is shown the text while the attempt runs; one that comes later gets it from the attempt's event.
func untilHeard(heard <-chan struct{}, says step) step {
	return func(ctx context.Context, hear func(llm.Delta) bool) error {
		return says(ctx, func(d llm.Delta) bool {
			more := hear(d)
			if d.Kind == llm.DeltaText {
				<-heard
			}
			return more
		})
	}
}

// TestI09GoesOn: the next attempt is asked for the rest only, whose text is shown behind what
// was there; the answer is the whole, and the tokens of both parts count once.
func TestI09GoesOn(t *testing.T) {
	heard := [...]chan struct{}{make(chan struct{}), make(chan struct{})} // what each attempt says
	model := script(untilHeard(heard[0], fails("It is 14 ", cutOff())), untilHeard(heard[1], answers(" degrees.")))
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHook("h", goOnFromThere()), runner.WithAutoRecover(true))
	run, err := r.Start(t.Context(), runner.Request{Prompt: "how warm?"})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[uint64]string{}
	for item, err := range run.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if d := item.Delta; d != nil {
			if shown[d.Attempt] == "" {
				shown[d.Attempt] = shown[d.Attempt-1]
				close(heard[d.Attempt-1])
			}
			have := shown[d.Attempt]
			if d.Offset > len(have) {
				t.Fatalf("a piece at %d after %q", d.Offset, have)
			}
			// Who follows when something was said already gets that as one piece, from 0.
			if d.Offset+len(d.Text) > len(have) {
				shown[d.Attempt] = have[:d.Offset] + d.Text
			}
		}
	}
	result, err := run.Wait(t.Context())
	if err != nil || result.Text != "It is 14 degrees." || shown[2] != result.Text {
		t.Errorf("%q, shown %q: %v", result.Text, shown[2], err)
	}
	if u := result.State.Usage; u.InputTokens != 10 || u.OutputTokens != 5 {
		t.Errorf("%+v", u)
	}
	list, _ := attemptsOf(t, log)
	if len(list) != 2 || list[1].Continues != 1 || list[1].Withdraws != 0 {
		t.Errorf("%+v", list)
	}
	asked := model.calls()[1].Messages
	if len(asked) != 3 || asked[1].Text() != "It is 14 " || !strings.Contains(asked[2].Text(), "<end>It is 14 </end>") {
		t.Errorf("%+v", asked)
	}
}

// TestPrefillRefused: a provider that takes no last message of the model's own is asked with a
// user's message, in the same attempt, and from then on at once.
func TestPrefillRefused(t *testing.T) {
	refused := refuses(failure.KindInvalidRequest, "This model does not support assistant message prefill. The conversation must end with a user message.")
	model := script(fails("It is 14", cutOff()), refusesAll(refused), answers(" degrees."), fails("It was 12", cutOff()), answers(" degrees then."))
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel(primary, able{model, llm.Capabilities{Prefill: true}}), runner.WithLog(log),
		runner.WithHook("h", goOnFromThere()), runner.WithAutoRecover(true))
	if text, err := r.Run(t.Context(), "how warm?"); err != nil || text != "It is 14 degrees." {
		t.Fatalf("%q, %v", text, err)
	}
	if list, _ := attemptsOf(t, log); len(list) != 2 {
		t.Errorf("%+v", list)
	}
	if text, err := r.Run(t.Context(), "and yesterday?"); err != nil || text != "It was 12 degrees then." {
		t.Fatalf("%q, %v", text, err)
	}
	var last []llm.Role
	for _, call := range model.calls() {
		last = append(last, call.Messages[len(call.Messages)-1].Role)
	}
	if want := []llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleUser, llm.RoleUser, llm.RoleUser}; !slices.Equal(last, want) {
		t.Errorf("the last word was of %q", last)
	}
}

// refusesAll fails before anything is heard.
func refusesAll(f *failure.Failure) step {
	return func(context.Context, func(llm.Delta) bool) error { return f }
}

// TestBegunAnew: what does not go on from there is a failure, of which nothing is shown; nobody
// is asked to go on from that, and the answer begins anew.
func TestBegunAnew(t *testing.T) {
	model := script(fails("The quick brown fox jumps over the lazy dog", cutOff()), answers("The quick brown fox jumps over the fence."), answers("All of it."))
	log := timeline.NewMemory()
	r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHook("h", goOnFromThere()), runner.WithAutoRecover(true))
	if text, err := r.Run(t.Context(), "go"); err != nil || text != "All of it." {
		t.Fatalf("%q, %v", text, err)
	}
	if list, _ := attemptsOf(t, log); len(list) != 3 || list[1].Continues != 1 || list[2].Continues != 0 || list[2].Withdraws != 2 {
		t.Errorf("%+v", list)
	}
}

// going is a caller that can be told at which byte an attempt continues.
type going struct {
	*listener
	mu   sync.Mutex
	goes int
}

func (g *going) GoesOn(uint64, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.goes++
}

// TestI53CallGoesOn: what a caller has seen goes on from there, also where nothing of it is
// kept; a caller that cannot be told so sees nothing follow.
func TestI53CallGoesOn(t *testing.T) {
	for _, told := range []bool{true, false} {
		model := script(fails(secret+" is", cutOff()), answers(" it."))
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, model), runner.WithLog(log), runner.WithHook("h", advise(retryNow)))
		c := &listener{shown: recovery.ShownPart}
		req := callOf(r, c, true)
		req.Policy.Delivery = recovery.DeliverContinued
		req.Call.Request.Tools = nil
		on := &going{listener: c}
		if told {
			req.Call.Caller = on
		}
		run, err := r.Start(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Wait(t.Context())
		want, calls := secret+" is it.", 2
		if !told {
			want, calls = secret+" is", 1
		}
		if c.text != want || len(model.calls()) != calls || (err == nil) != told {
			t.Errorf("told %v: it heard %q of %d calls: %v", told, c.text, len(model.calls()), err)
		}
		if told && (on.goes != 1 || len(c.began) != 1) {
			t.Errorf("%d attempts went on", on.goes)
		}
	}
}

// TestI38ReasoningRefused: a provider that does not take the model's own reasoning back is asked
// once more without, in the same attempt, and no longer with it in that session.
func TestI38ReasoningRefused(t *testing.T) {
	for name, detail := range map[string]string{
		"anthropic": "messages.1.content.0: Invalid `signature` in `thinking` block",
		"openai":    "The encrypted content gAAA... could not be verified. invalid_encrypted_content",
	} {
		thinks := func(ctx context.Context, hear func(llm.Delta) bool) error {
			hear(llm.Delta{Kind: llm.DeltaThinking, Text: "hm", Signature: "sig"})
			return callsTool("1", "weather", "{}")(ctx, hear)
		}
		refused := refuses(failure.KindInvalidRequest, detail)
		model := script(thinks, refusesAll(refused), answers("14 °C"), answers("Bye."))
		tool := runner.Tool{Name: "weather", Run: func(context.Context, runner.ToolCall) (string, error) { return "14 °C", nil }}
		log := timeline.NewMemory()
		r := runner.New(runner.WithModel(primary, model), runner.WithTools(tool), runner.WithLog(log))
		run, err := r.Start(t.Context(), runner.Request{Prompt: "how warm?", Session: "oslo"})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "14 °C" {
			t.Fatalf("%s: %+v, %v", name, result, err)
		}
		list, repaired := attemptsOf(t, log)
		if len(list) != 2 || len(repaired) != 1 || repaired[0] != (llm.Repair{Kind: llm.RepairReasoning, Count: 1}) {
			t.Errorf("%s: %+v %+v", name, list, repaired)
		}
		run, err = r.Start(t.Context(), runner.Request{Prompt: "thanks", Session: "oslo"})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := run.Wait(t.Context()); err != nil || result.Text != "Bye." {
			t.Fatalf("%s: %+v, %v", name, result, err)
		}
		var thoughts []int
		for _, call := range model.calls() {
			n := 0
			for _, m := range call.Messages {
				for _, p := range m.Parts {
					if p.Thinking != nil {
						n++
					}
				}
			}
			thoughts = append(thoughts, n)
		}
		if !slices.Equal(thoughts, []int{0, 1, 0, 0}) {
			t.Errorf("%s: reasoning was told %v times", name, thoughts)
		}
	}
}

// TestI38NativeReasoningRefused: a caller's own request that is refused for its reasoning is asked
// once more as a translated one, and what was heard of the refusal does not count.
func TestI38NativeReasoningRefused(t *testing.T) {
	refused := func(_ context.Context, hear func(llm.Delta) bool) error {
		hear(llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Status: 400}})
		return refuses(failure.KindInvalidRequest, "Invalid `signature` in `thinking` block")
	}
	model := script(refused, answers("14 °C"))
	r := runner.New(runner.WithModel(primary, model))
	c := &listener{}
	req := callOf(r, c, false)
	req.Call.Request.Native = &llm.Native{Wire: "anthropic", Body: []byte("{}")}
	req.Call.Request.Messages = []llm.Message{llm.User("hi"), {Role: llm.RoleAssistant, Parts: []llm.Part{{Thinking: &llm.Thinking{Signature: "s"}}, {Text: "yes?"}}}, llm.User("how warm?")}
	run, err := r.Start(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = run.Wait(t.Context()); err != nil || c.text != "14 °C" || len(c.began) != 2 {
		t.Fatalf("%q of %q: %v", c.text, c.began, err)
	}
	if second := model.calls()[1]; second.Native != nil || len(second.Messages[1].Parts) != 1 {
		t.Errorf("%+v", second)
	}
}

// TestRefusedForGood: what is refused for another reason, or once more, is not asked again.
func TestRefusedForGood(t *testing.T) {
	model := script(refusesAll(refuses(failure.KindInvalidRequest, "messages.1: Invalid `signature` in `thinking` block")))
	r := runner.New(runner.WithModel(primary, model))
	if _, err := r.Run(t.Context(), "hi"); err == nil || len(model.calls()) != 1 {
		t.Errorf("asked %d times: %v", len(model.calls()), err)
	}
}
