package responses

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/openaikind"
)

// Decode reads a request of this wire. An error is a *wire.RequestError.
func Decode(data []byte) (wire.Asked, error) {
	if err := body.Check(data); err != nil {
		return wire.Asked{}, err
	}
	r := &reading{calls: body.Calls{}}
	if err := body.Read(r, data, members, r.LeaveMember); err != nil {
		return wire.Asked{}, err
	}
	r.Usage = true
	r.Serve(r.served)
	r.Request.System = joined(append([]string{r.instructions}, r.system...))
	return r.Asked, nil
}

// reading is a request that is being read.
type reading struct {
	wire.Asked
	calls        body.Calls
	instructions string
	system       []string // of the items before all others
	served       []string // tools that are not functions
}

// members says how each member of a request's body is read.
var members = body.Table[*reading]{
	"model":             func(r *reading, v []byte) error { return body.Into("model", v, &r.Model) },
	"stream":            func(r *reading, v []byte) error { return body.Into("stream", v, &r.Stream) },
	"max_output_tokens": func(r *reading, v []byte) error { return body.Into("max_output_tokens", v, &r.Request.MaxOutputTokens) },
	"temperature":       func(r *reading, v []byte) error { return body.Into("temperature", v, &r.Request.Temperature) },
	"top_p":             func(r *reading, v []byte) error { return body.Into("top_p", v, &r.Request.TopP) },
	"instructions":      func(r *reading, v []byte) error { return body.Into("instructions", v, &r.instructions) },
	"prompt_cache_key":  func(r *reading, v []byte) error { return body.Into("prompt_cache_key", v, &r.Session) },

	"input":       (*reading).input,
	"tools":       (*reading).tools,
	"tool_choice": (*reading).toolChoice,
	"reasoning":   (*reading).reasoning,
	"text":        (*reading).text,
	"include":     (*reading).include,

	"previous_response_id": body.Noted((*reading).BindWhole, "a conversation that the provider keeps (previous_response_id)"),
	"conversation":         body.Noted((*reading).BindWhole, "a conversation that the provider keeps (conversation)"),
	"prompt":               body.Noted((*reading).BindWhole, "a prompt that the provider keeps (prompt)"),
	"background":           body.Unless("false", (*reading).BindWhole, "an answer that the provider keeps for later (background)"),
	"top_logprobs":         body.Unless("0", (*reading).BindWhole, "how likely each word was (top_logprobs)"),
	"parallel_tool_calls":  body.Unless("true", (*reading).Leave, "one tool call at a time (parallel_tool_calls)"),
	"truncation":           body.Unless(`"disabled"`, (*reading).Leave, "that the provider shortens the conversation (truncation)"),
	"context_management":   body.Noted((*reading).Leave, "the provider's care of a long conversation (context_management)"),
	"max_tool_calls":       body.Noted((*reading).Leave, "a limit of the provider's tool calls (max_tool_calls)"),

	"user": nil, "safety_identifier": nil, "metadata": nil, "client_metadata": nil, "store": nil, "service_tier": nil,
	"prompt_cache_retention": nil, "prompt_cache_options": nil, "stream_options": nil,
}

func (r *reading) reasoning(value []byte) error {
	var reasoning wireReasoning
	err := body.Into("reasoning", value, &reasoning)
	r.Request.ReasoningEffort = wire.Effort(reasoning.Effort)
	return err
}

// include reads what the answer is to contain in addition.
func (r *reading) include(value []byte) error {
	return body.List("include", value, func(field string, element []byte) error {
		switch what := string(element); what {
		case `"reasoning.encrypted_content"`: // reasoning that only this wire has
		case `"message.output_text.logprobs"`:
			r.BindWhole("how likely each word was (" + field + ")")
		default:
			r.Leave("what the answer is to have beside the usual (" + field + ")")
		}
		return nil
	})
}

func (r *reading) text(value []byte) error {
	var text struct {
		Format    wireFormat      `json:"format"`
		Verbosity json.RawMessage `json:"verbosity"`
	}
	if err := body.Into("text", value, &text); err != nil {
		return err
	}
	if !body.Null(text.Verbosity) {
		r.Leave("how much is to be said (text.verbosity)")
	}
	f := text.Format
	openaikind.Format(&r.Asked, "text.format", cmp.Or(f.Type, "text"), llm.Format{Name: f.Name, Schema: f.Schema, Strict: f.Strict})
	return nil
}

func (r *reading) toolChoice(value []byte) error {
	return openaikind.ToolChoice(&r.Asked, value, func(c wireToolChoice) (kind, name string) { return c.Type, c.Name })
}

func (r *reading) tools(value []byte) error {
	return body.List("tools", value, func(field string, element []byte) error {
		var tool wireTool
		if err := body.Into(field, element, &tool); err != nil {
			return err
		}
		switch {
		case tool.Type == "custom":
			r.served = append(r.served, fmt.Sprintf("the tool %s, which takes any text (%s)", tool.Name, field))
		case tool.Type == "namespace":
			r.served = append(r.served, fmt.Sprintf("the group of tools %s (%s)", tool.Name, field))
		case tool.Type != "function":
			r.served = append(r.served, fmt.Sprintf("the provider's tool %s (%s)", tool.Type, field))
		default:
			if tool.Strict {
				r.Leave("that tools are called by their schemas to the letter (tools.strict)")
			}
			r.Request.Tools = append(r.Request.Tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Parameters})
		}
		return nil
	})
}
