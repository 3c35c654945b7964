package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
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
	r.settle()
	return r.Asked, nil
}

// reading is a request that is being read.
type reading struct {
	wire.Asked
	calls    body.Calls
	thinking askedThinking
	effort   string   // from output_config
	served   []string // tools that the provider itself runs
}

type askedThinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

// members says how each member of a request's body is read.
var members = body.Table[*reading]{
	"model":      func(r *reading, v []byte) error { return body.Into("model", v, &r.Model) },
	"stream":     func(r *reading, v []byte) error { return body.Into("stream", v, &r.Stream) },
	"max_tokens": func(r *reading, v []byte) error { return body.Into("max_tokens", v, &r.Request.MaxOutputTokens) },
	"temperature": func(r *reading, v []byte) error {
		return body.Into("temperature", v, &r.Request.Temperature)
	},
	"top_p": func(r *reading, v []byte) error { return body.Into("top_p", v, &r.Request.TopP) },
	"top_k": body.Noted((*reading).Leave, "the choice among few words (top_k)"),

	"system":   (*reading).system,
	"messages": (*reading).messages,

	"tools":          (*reading).tools,
	"tool_choice":    (*reading).toolChoice,
	"mcp_servers":    (*reading).mcpServers,
	"container":      body.Noted((*reading).Leave, "the provider's container (container)"),
	"thinking":       func(r *reading, v []byte) error { return body.Into("thinking", v, &r.thinking) },
	"output_config":  (*reading).outputConfig,
	"output_format":  (*reading).outputFormat, // the member's name in the beta
	"stop_sequences": (*reading).stopSequences,
	"metadata":       (*reading).metadata,

	"context_management": body.Noted((*reading).Leave, "the provider's care of a long conversation (context_management)"),

	"cache_control": nil, "service_tier": nil, "inference_geo": nil, "speed": nil, "diagnostics": nil,
}

// settle completes the request when everything has been read.
func (r *reading) settle() {
	r.Usage = true
	r.Serve(r.served)
	switch r.thinking.Type {
	case "enabled":
		r.Request.ReasoningEffort = wire.EffortOf(r.thinking.Budget)
	case "adaptive":
		r.Request.ReasoningEffort = wire.Effort(r.effort)
		if r.effort == "" {
			r.Request.ReasoningEffort = "high" // the API's default
		}
	}
	r.room()
}

// room subtracts from the output limit what Encode will add to it for thinking: on this wire the
// limit includes both.
func (r *reading) room() {
	if left := r.Request.MaxOutputTokens - wire.Budget(r.Request.ReasoningEffort); left > 0 {
		r.Request.MaxOutputTokens = left
	}
}

// metadata finds the id of the session in what the request says about the user, where Claude Code
// puts it: as JSON or, in earlier versions, after a mark.
func (r *reading) metadata(value []byte) error {
	var data struct {
		User string `json:"user_id"`
	}
	var user struct {
		Session string `json:"session_id"`
	}
	if err := body.Into("metadata", value, &data); err != nil {
		return err
	}
	if json.Unmarshal([]byte(data.User), &user) == nil && user.Session != "" {
		r.Session = user.Session
	} else if _, session, ok := strings.Cut(data.User, "_session_"); ok {
		r.Session = session
	}
	return nil
}

func (r *reading) stopSequences(value []byte) error {
	var list []string
	err := body.Into("stop_sequences", value, &list)
	if len(list) > 0 {
		r.BindWhole("the words at which the answer is to stop (stop_sequences)")
	}
	return err
}

func (r *reading) outputConfig(value []byte) error {
	var config struct {
		Effort string          `json:"effort"`
		Format json.RawMessage `json:"format"`
	}
	if err := body.Into("output_config", value, &config); err != nil {
		return err
	}
	r.effort = config.Effort
	if body.Null(config.Format) {
		return nil
	}
	return r.outputFormat(config.Format)
}

func (r *reading) outputFormat(value []byte) error {
	var format wireFormat
	if err := body.Into("output_config.format", value, &format); err != nil {
		return err
	}
	if format.Type != "json_schema" || body.Null(format.Schema) {
		r.BindWhole(fmt.Sprintf("a form of the answer of type %q (output_config.format)", format.Type))
		return nil
	}
	r.NeedWhole("the form of the answer (output_config.format)")
	r.Request.Format = &llm.Format{Schema: format.Schema}
	return nil
}

func (r *reading) toolChoice(value []byte) error {
	var choice struct {
		wireToolChoice
		Single bool `json:"disable_parallel_tool_use"`
	}
	if err := body.Into("tool_choice", value, &choice); err != nil {
		return err
	}
	switch choice.Type {
	case "none":
		r.Request.ToolChoice.Mode = llm.ToolNone
	case "any", "tool":
		r.Request.ToolChoice = llm.ToolChoice{Mode: llm.ToolRequired, Name: choice.Name}
		r.NeedWhole("a tool that has to be called (tool_choice)")
	}
	if choice.Single {
		r.Leave("one tool call at a time (tool_choice.disable_parallel_tool_use)")
	}
	return nil
}

func (r *reading) mcpServers(value []byte) error {
	return body.List("mcp_servers", value, func(field string, _ []byte) error {
		r.served = append(r.served, "tools of an MCP server that the provider asks ("+field+")")
		return nil
	})
}

func (r *reading) tools(value []byte) error {
	return body.List("tools", value, func(field string, element []byte) error {
		var tool struct {
			Type        string          `json:"type"`
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		}
		if err := body.Into(field, element, &tool); err != nil {
			return err
		}
		if tool.Type != "" && tool.Type != "custom" {
			r.served = append(r.served, fmt.Sprintf("the provider's tool %s (%s)", tool.Type, field))
			return nil
		}
		r.Request.Tools = append(r.Request.Tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
		return nil
	})
}
