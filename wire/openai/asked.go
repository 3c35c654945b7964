package openai

import (
	"encoding/json"
	"fmt"
	"strings"

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
	r.Serve(r.served)
	r.Request.System = strings.Join(r.first, "\n\n")
	return r.Asked, nil
}

// reading is a request that is being read.
type reading struct {
	wire.Asked
	calls  body.Calls
	first  []string // system texts before all other messages
	served []string // tools that are not functions
}

// members says how each member of a request's body is read.
var members = body.Table[*reading]{
	"model":  func(r *reading, v []byte) error { return body.Into("model", v, &r.Model) },
	"stream": func(r *reading, v []byte) error { return body.Into("stream", v, &r.Stream) },

	"max_completion_tokens": func(r *reading, v []byte) error { return r.limit("max_completion_tokens", v) },
	"max_tokens":            func(r *reading, v []byte) error { return r.limit("max_tokens", v) },
	"temperature":           func(r *reading, v []byte) error { return body.Into("temperature", v, &r.Request.Temperature) },
	"top_p":                 func(r *reading, v []byte) error { return body.Into("top_p", v, &r.Request.TopP) },
	"reasoning_effort":      (*reading).effort,
	"prompt_cache_key":      func(r *reading, v []byte) error { return body.Into("prompt_cache_key", v, &r.Session) },

	"messages": (*reading).messages,

	"stream_options":  (*reading).streamOptions,
	"tools":           (*reading).tools,
	"tool_choice":     (*reading).toolChoice,
	"response_format": (*reading).responseFormat,
	"stop":            (*reading).stop,
	"n":               (*reading).choices,
	"modalities":      (*reading).modalities,

	"parallel_tool_calls": body.Unless("true", (*reading).Leave, "one tool call at a time (parallel_tool_calls)"),
	"logprobs":            body.Unless("false", (*reading).BindWhole, "how likely each word was (logprobs)"),
	"frequency_penalty":   body.Unless("0", (*reading).Leave, "the penalty of words that were used often (frequency_penalty)"),
	"presence_penalty":    body.Unless("0", (*reading).Leave, "the penalty of words that were used (presence_penalty)"),
	"logit_bias":          body.Unless("{}", (*reading).Leave, "which words are to be more likely (logit_bias)"),
	"functions":           body.Unless("[]", (*reading).BindWhole, "tools as they were declared before there was \"tools\" (functions)"),

	"audio":              body.Noted((*reading).BindWhole, "an answer that is spoken (audio)"),
	"web_search_options": body.Noted((*reading).Leave, "the provider's search of the web (web_search_options)"),
	"prediction":         body.Noted((*reading).Leave, "the guess at the answer (prediction)"),
	"seed":               body.Noted((*reading).Leave, "the seed (seed)"),
	"verbosity":          body.Noted((*reading).Leave, "how much is to be said (verbosity)"),

	"function_call": nil, // belongs to functions
	"top_logprobs":  nil, // belongs to logprobs
	"user":          nil, "safety_identifier": nil, "metadata": nil, "store": nil, "service_tier": nil,
	"prompt_cache_retention": nil, "prompt_cache_options": nil,
}

// limit keeps the smaller output limit if there are two.
func (r *reading) limit(field string, value []byte) error {
	var limit int
	err := body.Into(field, value, &limit)
	if now := r.Request.MaxOutputTokens; now == 0 || limit < now {
		r.Request.MaxOutputTokens = limit
	}
	return err
}

func (r *reading) effort(value []byte) error {
	var level string
	err := body.Into("reasoning_effort", value, &level)
	r.Request.ReasoningEffort = wire.Effort(level)
	return err
}

func (r *reading) streamOptions(value []byte) error {
	var options wireOptions
	err := body.Into("stream_options", value, &options)
	r.Usage = options.Usage
	return err
}

func (r *reading) stop(value []byte) error {
	switch {
	case body.IsText(value), body.IsList(value) && string(value) != "[]":
		r.BindWhole("the words at which the answer is to stop (stop)")
	case !body.IsList(value):
		return wire.BadRequest("stop", "is neither a text nor a list")
	}
	return nil
}

func (r *reading) choices(value []byte) error {
	var n int
	err := body.Into("n", value, &n)
	if n > 1 {
		r.BindWhole(fmt.Sprintf("%d answers at once (n)", n))
	}
	return err
}

func (r *reading) modalities(value []byte) error {
	return body.List("modalities", value, func(field string, element []byte) error {
		if string(element) != `"text"` {
			r.BindWhole("an answer that is not text (" + field + ")")
		}
		return nil
	})
}

func (r *reading) responseFormat(value []byte) error {
	var format wireFormat
	if err := body.Into("response_format", value, &format); err != nil {
		return err
	}
	openaikind.Format(&r.Asked, "response_format", format.Type, llm.Format(format.Schema))
	return nil
}

func (r *reading) toolChoice(value []byte) error {
	return openaikind.ToolChoice(&r.Asked, value, func(c wireToolChoice) (kind, name string) { return c.Type, c.Function.Name })
}

func (r *reading) tools(value []byte) error {
	return body.List("tools", value, func(field string, element []byte) error {
		var tool struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
				Strict      bool            `json:"strict"`
			} `json:"function"`
		}
		if err := body.Into(field, element, &tool); err != nil {
			return err
		}
		f := tool.Function
		if tool.Type != "function" {
			r.served = append(r.served, fmt.Sprintf("a tool of type %q (%s)", tool.Type, field))
			return nil
		}
		if f.Strict {
			r.Leave("that tools are called by their schemas to the letter (tools.function.strict)")
		}
		r.Request.Tools = append(r.Request.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
		return nil
	})
}
