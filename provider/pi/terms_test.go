package pi

import (
	"slices"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
)

// TestTerms has what Pi is started with.
func TestTerms(t *testing.T) {
	f := folder{path: t.TempDir()}
	if err := f.prepare(); err != nil {
		t.Fatal(err)
	}
	args, variables, err := termsOf(llm.Request{MaxOutputTokens: -1, ReasoningEffort: "low"}).arguments(f)
	if err != nil || len(args)+len(variables) > 0 {
		t.Errorf("%v, %v, %v", args, variables, err)
	}
	args, variables, err = termsOf(llm.Request{System: "Be kind.", MaxOutputTokens: 1234}).arguments(f)
	system, _ := f.system("Be kind.")
	if err != nil || !slices.Equal(args, []string{"--append-system-prompt", system, "--extension", f.extension(limitFile)}) || !slices.Equal(variables, []string{"MULLIGAN_PI_LIMIT=1234"}) {
		t.Errorf("%v, %v, %v", args, variables, err)
	}
}

// A turn that is told how much to think is told so before its prompt, and Pi is brought back
// to what was before when the turn is over.
func TestEffort(t *testing.T) {
	e := fake(t, modern+known+`> get_state
< {"id":"@","type":"response","command":"get_state","success":true,"data":{"thinkingLevel":"medium"}}
> set_thinking_level
< {"id":"@","type":"response","command":"set_thinking_level","success":true}
`+prompted+begun+
		`< {"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Fine."}],"usage":{"input":1},"stopReason":"stop"}}
`+done+quietly+`> set_thinking_level
< {"id":"@","type":"response","command":"set_thinking_level","success":true}
`)
	request := ask()
	request.ReasoningEffort = "low"
	answer, f := hear(t.Context(), t, e, request)
	if f != nil || answer.Message("pi/fa/m").Text() != "Fine." {
		t.Fatalf("%+v, %+v", answer, f)
	}
	s, err := e.session("s")
	if err != nil {
		t.Fatal(err)
	}
	defer e.leave(s)
	if level := s.thought(); level != "" {
		t.Errorf("%s was not brought back", level)
	}
}
