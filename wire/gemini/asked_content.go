package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

type askedContent struct {
	Role  string          `json:"role"`
	Parts json.RawMessage `json:"parts"`
}

// askedPart holds what is read of a part of any kind.
type askedPart struct {
	Text      string          `json:"text"`
	Thought   bool            `json:"thought"`
	Signature string          `json:"thoughtSignature"`
	Inline    json.RawMessage `json:"inlineData"`
	File      json.RawMessage `json:"fileData"`
	Call      json.RawMessage `json:"functionCall"`
	Response  json.RawMessage `json:"functionResponse"`
	Code      json.RawMessage `json:"executableCode"`
	CodeSaid  json.RawMessage `json:"codeExecutionResult"`
}

func (r *reading) system(value []byte) error {
	if body.IsText(value) { // the SDKs accept this form, and so does the API
		r.Request.System = scan.Text(value)
		return nil
	}
	var content askedContent
	if err := into("systemInstruction", value, &content); err != nil || body.Null(content.Parts) {
		return err
	}
	var texts []string
	err := body.List("systemInstruction.parts", content.Parts, func(field string, element []byte) error {
		var p askedPart
		err := into(field, element, &p)
		texts = append(texts, p.Text)
		return err
	})
	r.Request.System = strings.Join(texts, "\n\n")
	return err
}

func (r *reading) contents(value []byte) error {
	return body.List("contents", value, func(field string, element []byte) error {
		var content askedContent
		if err := into(field, element, &content); err != nil || body.Null(content.Parts) {
			return err
		}
		role := llm.RoleUser
		switch content.Role {
		case "model":
			role = llm.RoleAssistant
		case "user", "", "function", "tool":
		default:
			return wire.BadRequest(field+".role", "is %q, and neither user nor model", content.Role)
		}
		var results, said []llm.Part
		err := body.List(field+".parts", content.Parts, func(field string, element []byte) error {
			var p askedPart
			if err := into(field, element, &p); err != nil {
				return err
			}
			if !body.Null(p.Response) {
				parts, err := r.response(field+".functionResponse", p.Response)
				results = append(results, parts...)
				return err
			}
			parts, err := r.part(field, &p)
			said = append(said, parts...)
			return err
		})
		body.Say(&r.Request.Messages, llm.RoleTool, results...)
		body.Say(&r.Request.Messages, role, said...)
		return err
	})
}

// part reads a part that is neither a call nor a result. The signature of a text becomes a part
// after it.
func (r *reading) part(field string, p *askedPart) (parts []llm.Part, err error) {
	switch {
	case !body.Null(p.Call):
		return r.call(field+".functionCall", p)
	case !body.Null(p.Inline):
		return r.inline(field+".inlineData", p.Inline)
	case !body.Null(p.File):
		r.Bind("a file that the provider keeps or is to fetch (" + field + ".fileData)")
		return nil, nil
	case !body.Null(p.Code), !body.Null(p.CodeSaid):
		r.Leave("what the provider's execution of code did (" + field + ")")
		return nil, nil
	case p.Thought:
		return []llm.Part{{Thinking: &llm.Thinking{Text: p.Text, Signature: p.Signature}}}, nil
	}
	if p.Text != "" {
		parts = append(parts, llm.Part{Text: p.Text})
	}
	if p.Signature != "" {
		parts = append(parts, llm.Part{Thinking: &llm.Thinking{Signature: p.Signature}})
	}
	return parts, nil
}

func (r *reading) inline(field string, value []byte) ([]llm.Part, error) {
	var inline struct {
		MIMEType string `json:"mimeType"`
		Data     string `json:"data"`
	}
	if err := into(field, value, &inline); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(inline.MIMEType, "image/") {
		r.Bind(fmt.Sprintf("a part of type %q (%s)", inline.MIMEType, field))
		return nil, nil
	}
	if part, ok := r.Picture(field, inline.MIMEType, inline.Data); ok {
		return []llm.Part{part}, nil
	}
	return nil, nil
}

// call reads a call. A call without an id gets one, by which its result will be found.
func (r *reading) call(field string, p *askedPart) ([]llm.Part, error) {
	var call wireCall
	if err := into(field, p.Call, &call); err != nil {
		return nil, err
	}
	r.made++
	if call.ID == "" {
		call.ID = fmt.Sprintf("call_%d", r.made)
		r.waiting[call.Name] = append(r.waiting[call.Name], call.ID)
	}
	if p.Signature == unsigned {
		p.Signature = ""
	}
	return []llm.Part{r.calls.Made(llm.ToolCall{ID: call.ID, Name: call.Name, Args: call.Args, Signature: p.Signature})}, nil
}

// response is a tool result, followed by its images.
func (r *reading) response(field string, value []byte) ([]llm.Part, error) {
	var response struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
		Parts    json.RawMessage `json:"parts"`
	}
	if err := into(field, value, &response); err != nil {
		return nil, err
	}
	if ids := r.waiting[response.Name]; response.ID == "" && len(ids) > 0 {
		response.ID, r.waiting[response.Name] = ids[0], ids[1:]
	}
	text, failed := given(response.Response)
	parts := []llm.Part{r.calls.Came(response.ID, text, failed)}
	if body.Null(response.Parts) {
		return parts, nil
	}
	err := body.List(field+".parts", response.Parts, func(field string, element []byte) error {
		var p askedPart
		if err := into(field, element, &p); err != nil {
			return err
		}
		if body.Null(p.Inline) {
			r.Bind("a part of a tool's result that is not a picture (" + field + ")")
			return nil
		}
		pictures, err := r.inline(field+".inlineData", p.Inline)
		parts = append(parts, pictures...)
		return err
	})
	return parts, err
}

// given is the text of a response, and whether it is an error: the value of its only member if the
// API knows that member's name, otherwise the whole response.
func given(response json.RawMessage) (text string, failed bool) {
	var only string
	members := 0
	if len(response) > 0 && response[0] == '{' {
		for name, at := range scan.Members(response) {
			members++
			only = name
			if value := at.Of(response); body.IsText(value) {
				text = scan.Text(value)
			} else {
				text = string(value)
			}
		}
	}
	if members == 1 && slices.Contains([]string{"output", "result", "error"}, only) {
		return text, only == "error"
	}
	return string(response), false
}
