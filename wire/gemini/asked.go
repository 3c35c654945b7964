package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// Decode reads a request of this wire. The model, and whether the answer is to be streamed, are
// in its path. An error is a *wire.RequestError.
func Decode(data []byte) (wire.Asked, error) {
	if err := body.Check(data); err != nil {
		return wire.Asked{}, err
	}
	r := &reading{calls: body.Calls{}, waiting: map[string][]string{}}
	if err := body.Read(r, camel(data), members, r.LeaveMember); err != nil {
		return wire.Asked{}, err
	}
	r.settle()
	return r.Asked, nil
}

// reading is a request that is being read.
type reading struct {
	wire.Asked
	calls   body.Calls
	made    int                 // calls so far, to make ids, which earlier models do not give
	waiting map[string][]string // by function name, the ids made for calls without one: their results have only the name
	served  []string            // tools that are not functions
	mime    string              // of the answer
}

// members says how each member of a request's body is read.
var members = body.Table[*reading]{
	"contents":          (*reading).contents,
	"systemInstruction": (*reading).system,
	"tools":             (*reading).tools,
	"toolConfig":        (*reading).toolConfig,
	"generationConfig": func(r *reading, v []byte) error {
		if v[0] != '{' {
			return wire.BadRequest("generationConfig", "is not an object")
		}
		return body.Read(r, camel(v), generationMembers, func(name string) { r.LeaveMember("generationConfig." + name) })
	},
	"cachedContent":  body.Noted((*reading).BindWhole, "a part of the conversation that the provider keeps (cachedContent)"),
	"safetySettings": body.Noted((*reading).Leave, "what the provider is to filter (safetySettings)"),

	"model": nil, "labels": nil, "serviceTier": nil, "store": nil,
}

var generationMembers = body.Table[*reading]{
	"maxOutputTokens": func(r *reading, v []byte) error {
		return body.Into("generationConfig.maxOutputTokens", v, &r.Request.MaxOutputTokens)
	},
	"temperature": func(r *reading, v []byte) error {
		return body.Into("generationConfig.temperature", v, &r.Request.Temperature)
	},
	"topP":           func(r *reading, v []byte) error { return body.Into("generationConfig.topP", v, &r.Request.TopP) },
	"thinkingConfig": (*reading).thinking,
	"responseMimeType": func(r *reading, v []byte) error {
		return body.Into("generationConfig.responseMimeType", v, &r.mime)
	},
	"responseJsonSchema": func(r *reading, v []byte) error {
		r.Request.Format = &llm.Format{Schema: v}
		return nil
	},
	"responseSchema": func(r *reading, v []byte) error {
		r.Request.Format = &llm.Format{Schema: jsonSchema(v)}
		return nil
	},
	"candidateCount":     body.Unless("1", (*reading).BindWhole, "several answers at once (generationConfig.candidateCount)"),
	"stopSequences":      body.Unless("[]", (*reading).BindWhole, "the words at which the answer is to stop (generationConfig.stopSequences)"),
	"responseLogprobs":   body.Unless("false", (*reading).BindWhole, "how likely each word was (generationConfig.responseLogprobs)"),
	"responseModalities": body.Unless(`["TEXT"]`, (*reading).BindWhole, "an answer that is not text alone (generationConfig.responseModalities)"),
	"speechConfig":       body.Noted((*reading).BindWhole, "an answer that is spoken (generationConfig.speechConfig)"),
	"imageConfig":        body.Noted((*reading).BindWhole, "an answer that is a picture (generationConfig.imageConfig)"),
	"topK":               body.Noted((*reading).Leave, "the choice among few words (generationConfig.topK)"),
	"seed":               body.Noted((*reading).Leave, "the seed (generationConfig.seed)"),
	"presencePenalty":    body.Unless("0", (*reading).Leave, "the penalty of words that were used (generationConfig.presencePenalty)"),
	"frequencyPenalty":   body.Unless("0", (*reading).Leave, "the penalty of words that were used often (generationConfig.frequencyPenalty)"),
	"mediaResolution":    body.Noted((*reading).Leave, "how closely pictures are looked at (generationConfig.mediaResolution)"),

	"logprobs": nil, // belongs to responseLogprobs
}

func (r *reading) thinking(value []byte) error {
	var thinking wireThinking
	err := into("generationConfig.thinkingConfig", value, &thinking)
	switch {
	case thinking.Level != "":
		r.Request.ReasoningEffort = wire.Effort(strings.ToLower(thinking.Level))
	case thinking.Budget < 0: // as much as the model likes
		r.Request.ReasoningEffort = "medium"
	default:
		r.Request.ReasoningEffort = wire.EffortOf(thinking.Budget)
	}
	return err
}

// settle completes the request when everything has been read.
func (r *reading) settle() {
	r.Usage = true
	r.Serve(r.served)
	switch {
	case r.Request.Format != nil:
		r.NeedWhole("the form of the answer (generationConfig.responseJsonSchema)")
	case r.mime != "" && r.mime != "text/plain":
		r.BindWhole(fmt.Sprintf("a form of the answer of type %q (generationConfig.responseMimeType)", r.mime))
	}
}

func (r *reading) toolConfig(value []byte) error {
	var config struct {
		Calling json.RawMessage `json:"functionCallingConfig"`
	}
	var calling wireCalling
	if err := into("toolConfig", value, &config); err != nil || body.Null(config.Calling) {
		return err
	}
	if err := into("toolConfig.functionCallingConfig", config.Calling, &calling); err != nil {
		return err
	}
	switch calling.Mode {
	case "NONE":
		r.Request.ToolChoice.Mode = llm.ToolNone
		return nil
	case "ANY":
		r.Request.ToolChoice.Mode = llm.ToolRequired
		r.NeedWhole("a tool that has to be called (toolConfig)")
	}
	switch len(calling.Allowed) {
	case 0:
	case 1:
		r.Request.ToolChoice.Name = calling.Allowed[0]
	default:
		r.Bind("a choice among some of the tools (toolConfig)")
	}
	return nil
}

func (r *reading) tools(value []byte) error {
	return body.List("tools", value, func(field string, element []byte) error {
		if element[0] != '{' {
			return wire.BadRequest(field, "is not an object")
		}
		object := camel(element)
		for name, at := range scan.Members(object) {
			switch declared := at.Of(object); {
			case body.Null(declared):
			case name == "functionDeclarations":
				if err := body.List(field+"."+name, declared, r.function); err != nil {
					return err
				}
			default:
				r.served = append(r.served, fmt.Sprintf("the provider's tool %s (%s)", name, field))
			}
		}
		return nil
	})
}

func (r *reading) function(field string, element []byte) error {
	var f struct {
		wireFunction
		Older json.RawMessage `json:"parameters"`
	}
	err := into(field, element, &f)
	if body.Null(f.Schema) && !body.Null(f.Older) {
		f.Schema = jsonSchema(f.Older)
	}
	r.Request.Tools = append(r.Request.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Schema})
	return err
}
