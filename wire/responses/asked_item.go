package responses

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/body"
	"github.com/mulligan-run/mulligan/wire/internal/openaikind"
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// askedItem holds what is read of an item of any type.
type askedItem struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Input   string          `json:"input"`  // of a custom tool's call
	Action  json.RawMessage `json:"action"` // of a shell's call
	Output  json.RawMessage `json:"output"`

	Encrypted string          `json:"encrypted_content"`
	Summary   json.RawMessage `json:"summary"`
}

// input reads a text, or the items of the conversation.
func (r *reading) input(value []byte) error {
	if body.IsText(value) {
		if text := scan.Text(value); text != "" {
			r.say(llm.RoleUser, llm.Part{Text: text})
		}
		return nil
	}
	return body.List("input", value, func(field string, element []byte) error {
		var it askedItem
		if err := body.Into(field, element, &it); err != nil {
			return err
		}
		return r.item(field, &it)
	})
}

// say adds parts to the last message if it has the same role, since one message of a model may be
// several items here; a user's item is a message of its own.
func (r *reading) say(role llm.Role, parts ...llm.Part) {
	n := len(r.Request.Messages)
	if n > 0 && role != llm.RoleUser && r.Request.Messages[n-1].Role == role {
		r.Request.Messages[n-1].Parts = append(r.Request.Messages[n-1].Parts, parts...)
		return
	}
	body.Say(&r.Request.Messages, role, parts...)
}

func (r *reading) item(field string, it *askedItem) error {
	switch it.Type {
	case "", "message":
		return r.message(field, it)
	case "reasoning":
		return r.thought(field, it)
	case "function_call":
		r.say(llm.RoleAssistant, r.calls.Made(llm.ToolCall{ID: it.CallID, Name: it.Name, Args: []byte(it.Args)}))
	case "custom_tool_call":
		r.say(llm.RoleAssistant, r.calls.Made(llm.ToolCall{ID: it.CallID, Name: it.Name, Args: wire.Append(nil, map[string]string{"input": it.Input})}))
	case "local_shell_call", "shell_call":
		r.say(llm.RoleAssistant, r.calls.Made(llm.ToolCall{ID: it.CallID, Name: strings.TrimSuffix(it.Type, "_call"), Args: it.Action}))
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output":
		return r.output(field, it)
	case "item_reference", "compaction":
		r.BindWhole("a part of the conversation that only the provider can read (" + field + ")")
	default:
		if strings.HasSuffix(it.Type, "_call") || strings.HasPrefix(it.Type, "mcp_") {
			r.Leave(fmt.Sprintf("what a provider's tool did (%s, %s)", it.Type, field))
			return nil
		}
		r.BindWhole(fmt.Sprintf("an item of type %q (%s)", it.Type, field))
	}
	return nil
}

func (r *reading) message(field string, it *askedItem) error {
	parts, err := r.content(field+".content", it.Content)
	if err != nil {
		return err
	}
	switch it.Role {
	case "system", "developer":
		if len(r.Request.Messages) == 0 {
			r.system = append(r.system, llm.Message{Parts: parts}.Text())
			return nil
		}
		r.Leave("that a message is the system's (" + field + ")")
		r.say(llm.RoleUser, parts...)
	case "user", "assistant":
		r.say(llm.Role(it.Role), parts...)
	default:
		return wire.BadRequest(field+".role", "is %q, which is nobody's", it.Role)
	}
	return nil
}

// content reads a text, or a list of parts.
func (r *reading) content(field string, value []byte) ([]llm.Part, error) {
	return openaikind.Content(field, value, func(field string, element []byte) (part llm.Part, ok bool, err error) {
		var p struct {
			wireText
			Image string `json:"image_url"`
		}
		if err := body.Into(field, element, &p); err != nil {
			return part, false, err
		}
		switch p.Type {
		case "input_text", "output_text", "text", "refusal":
			part.Text = p.Text + p.Refusal
			return part, part.Text != "", nil
		case "input_image":
			part, ok = r.PictureAt(field, p.Image)
			return part, ok, nil
		}
		r.Bind(fmt.Sprintf("a part of type %q (%s)", p.Type, field))
		return part, false, nil
	})
}

func (r *reading) thought(field string, it *askedItem) error {
	var summary []wireText
	if !body.Null(it.Summary) {
		if err := body.Into(field+".summary", it.Summary, &summary); err != nil {
			return err
		}
	}
	texts := make([]string, 0, len(summary))
	for _, s := range summary {
		texts = append(texts, s.Text)
	}
	thought := llm.Thinking{Text: joined(texts), Signature: Sign(it.ID, it.Encrypted)}
	if thought != (llm.Thinking{}) {
		r.say(llm.RoleAssistant, llm.Part{Thinking: &thought})
	}
	return nil
}

// output is a tool result, followed by its images.
func (r *reading) output(field string, it *askedItem) error {
	if it.Type == "shell_call_output" { // one output for each command
		r.say(llm.RoleTool, r.calls.Came(it.CallID, string(it.Output), false))
		return nil
	}
	said, err := r.content(field+".output", it.Output)
	if err != nil {
		return err
	}
	text, failed := wire.Given(llm.Message{Parts: said}.Text())
	r.say(llm.RoleTool, r.calls.Came(it.CallID, text, failed))
	for _, p := range said {
		if p.Image != nil {
			r.say(llm.RoleTool, p)
		}
	}
	return nil
}

// joined joins the texts that are not empty, with a blank line between them.
func joined(texts []string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}
