package faultlab

import "time"

// What the demo is about: a question that needs one tool call. It is asked of a model that fails
// twice and then runs out of capacity, and is finally answered by another model on the other wire.
const (
	DemoModel    = "fable-1" // Anthropic wire
	DemoFallback = "atlas-1" // OpenAI wire
	DemoPrompt   = "What should I wear in Oslo today?"
	DemoTool     = "get_weather" // called once, with {"city":"Oslo"}
	DemoAnswer   = "It is 14 °C and clear in Oslo: a light jacket is enough."
)

const demoPace = 40 * time.Millisecond

// Demo returns a lab with the demo's scripts:
//
//	fable-1   asks for the tool; is cut off in the middle of its answer; 503; 529 from then on
//	atlas-1   answers
func Demo(opts ...Option) *Lab {
	l := New(append([]Option{WithPace(demoPace)}, opts...)...)
	l.Script(DemoModel, demoScript()...)
	l.Script(DemoFallback, Answer(DemoAnswer))
	return l
}

func demoScript() []Step {
	return []Step{
		ToolCalls("Let me look at the weather.", Call{Name: DemoTool, Args: `{"city":"Oslo"}`}),
		CutAfter("It is 14 °C and clear in Os"),
		Unavailable(),
		Overloaded(),
	}
}
