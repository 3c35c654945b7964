package faultlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
)

type responsesRequest struct {
	Model     string          `json:"model"`
	Input     json.RawMessage `json:"input"`
	Store     *bool           `json:"store"`
	MaxOutput *int            `json:"max_output_tokens"`
	Previous  *string         `json:"previous_response_id"`
	Include   []string        `json:"include"`
	Tools     []responsesTool `json:"tools"`

	members map[string]json.RawMessage
	items   []responsesItem
	issued  func(seal string) bool
}

type responsesTool struct {
	Type       string          `json:"type"`
	Name       *string         `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// responsesItem is one item of an input, of any type.
type responsesItem struct {
	Type      string             `json:"type"`
	ID        string             `json:"id"`
	Role      string             `json:"role"`
	Content   json.RawMessage    `json:"content"`
	CallID    *string            `json:"call_id"`
	Name      *string            `json:"name"`
	Arguments *string            `json:"arguments"`
	Input     *string            `json:"input"`
	Output    json.RawMessage    `json:"output"`
	Summary   *[]json.RawMessage `json:"summary"`
	Encrypted string             `json:"encrypted_content"`
}

type responsesPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Refusal  *string `json:"refusal"`
	ImageURL string  `json:"image_url"`
	FileID   string  `json:"file_id"`
}

const (
	responsesMaxID     = 64 // bytes, of an item's id and of a call_id
	responsesMinTokens = 16
	encryptedReasoning = "reasoning.encrypted_content"
)

var responsesMembers = strings.Fields(`background client_metadata context_management conversation include input instructions
	max_output_tokens max_tool_calls metadata model parallel_tool_calls previous_response_id prompt prompt_cache_key
	prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text
	tool_choice tools top_logprobs top_p truncation user`)

// responsesShape says which members an item of a type may have, and how its id begins.
type responsesShape struct {
	prefix  string
	members []string
}

var responsesShapes = map[string]responsesShape{
	"message":              {"msg", strings.Fields("type id role content status phase")},
	"function_call":        {"fc", strings.Fields("type id call_id name namespace arguments status")},
	"function_call_output": {"fc", strings.Fields("type id call_id output status")},
	"reasoning":            {"rs", strings.Fields("type id summary content encrypted_content status")},
	"item_reference":       {"", strings.Fields("type id")},

	"custom_tool_call":        {"ctc", strings.Fields("type id call_id name input status")},
	"custom_tool_call_output": {"", strings.Fields("type id call_id output status")},
	"local_shell_call":        {"lsh", strings.Fields("type id call_id action status")},
	"local_shell_call_output": {"", strings.Fields("type id call_id output status")},
	"web_search_call":         {"ws", strings.Fields("type id action status")},
}

// responsesCalls are the items that are calls of the caller's tools.
var responsesCalls = []string{"function_call", "custom_tool_call", "local_shell_call"}

var (
	responsesRoles = []string{"assistant", "system", "developer", "user"}
	responsesSaid  = []string{"output_text", "refusal"}
	responsesGiven = []string{"input_text", "input_image", "input_file"}

	imageURL = regexp.MustCompile(`^(https?://.|data:image/)`)
)

func checkResponses(in query) (ask, *wire.Report) {
	q := responsesRequest{}
	err := errors.Join(json.Unmarshal(in.body, &q), json.Unmarshal(in.body, &q.members))
	if err != nil {
		return ask{}, openaiInvalid(400, "We could not parse the JSON body of your request: "+err.Error())
	}
	a := in.ask()
	a.sealed = slices.Contains(q.Include, encryptedReasoning)
	q.issued = func(seal string) bool { return in.issued(q.Model, seal) }
	if c := first(q.head, q.unknown, q.limits, q.read, q.each, q.thoughts, q.pairs, q.tools); c != nil {
		return a, &wire.Report{Status: 400, Type: "invalid_request_error", Code: c.code, Param: c.param, Message: c.message}
	}
	return a, q.unstored()
}

func (q *responsesRequest) head() *complaint {
	switch {
	case q.Model == "":
		return &complaint{"model", "missing_required_parameter", "Missing required parameter: 'model'."}
	case len(q.Model) > maxModelName:
		return &complaint{"model", "string_above_max_length", "Invalid 'model': string too long."}
	}
	return nil
}

// unknown refuses members that the API does not have, above all those that only the Chat
// Completions API has.
func (q *responsesRequest) unknown() *complaint {
	moved := map[string]string{
		"messages": "input", "max_tokens": "max_output_tokens",
		"reasoning_effort": "reasoning.effort", "response_format": "text.format",
	}
	for _, name := range slices.Sorted(maps.Keys(q.members)) {
		if to := moved[name]; to != "" {
			return &complaint{name, "unsupported_parameter", fmt.Sprintf("Unsupported parameter: '%s'. In the Responses API, this parameter has moved to '%s'. Try again with the new parameter.", name, to)}
		}
		if !slices.Contains(responsesMembers, name) {
			return unknownParameter(name)
		}
	}
	return nil
}

func unknownParameter(at string) *complaint {
	return &complaint{at, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", at)}
}

func missingParameter(at string) *complaint {
	return &complaint{at, "missing_required_parameter", fmt.Sprintf("Missing required parameter: '%s'.", at)}
}

func unsupportedValue(at, value string, supported []string) *complaint {
	last := len(supported) - 1
	list := "'" + strings.Join(supported[:last], "', '") + "' and '" + supported[last] + "'"
	return &complaint{at, "invalid_value", fmt.Sprintf("Invalid value: '%s'. Supported values are: %s.", value, list)}
}

func (q *responsesRequest) limits() *complaint {
	switch {
	case q.MaxOutput != nil && *q.MaxOutput < responsesMinTokens:
		return &complaint{"max_output_tokens", "integer_below_min_value", fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= %d, but got %d instead.", responsesMinTokens, *q.MaxOutput)}
	case q.Previous != nil:
		return &complaint{"previous_response_id", "previous_response_not_found", fmt.Sprintf("Previous response with id '%s' not found.", *q.Previous)}
	}
	return nil
}

// read decodes the input. A string is a user's message.
func (q *responsesRequest) read() *complaint {
	var text string
	var list []json.RawMessage
	switch {
	case len(q.Input) > 0 && json.Unmarshal(q.Input, &text) == nil:
		if text != "" {
			return nil
		}
	case len(q.Input) > 0 && json.Unmarshal(q.Input, &list) != nil:
		return &complaint{"input", "invalid_type", "Invalid type for 'input': expected one of an array of objects or string."}
	}
	if len(list) == 0 {
		return &complaint{"input", "missing_required_parameter", `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`}
	}
	for i, raw := range list {
		item, c := readItem(raw, fmt.Sprintf("input[%d]", i))
		if c != nil {
			return c
		}
		q.items = append(q.items, item)
	}
	return nil
}

// readItem reads one item and checks its type and the names of its members.
func readItem(raw json.RawMessage, at string) (responsesItem, *complaint) {
	var item responsesItem
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return item, &complaint{at, "invalid_type", fmt.Sprintf("Invalid type for '%s': expected an object.", at)}
	}
	if c := decode(raw, &item, at); c != nil {
		return item, c
	}
	if item.Type == "" && item.Role != "" {
		item.Type = "message"
	}
	shape, known := responsesShapes[item.Type]
	if !known {
		return item, unsupportedValue(at, item.Type, slices.Sorted(maps.Keys(responsesShapes)))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(shape.members, name) {
			return item, unknownParameter(at + "." + name)
		}
	}
	return item, nil
}

// decode reads a value and names the member that has the wrong type.
func decode(raw json.RawMessage, into any, at string) *complaint {
	err := json.Unmarshal(raw, into)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		at = strings.TrimSuffix(at+"."+wrong.Field, ".")
		return &complaint{at, "invalid_type", fmt.Sprintf("Invalid type for '%s': got %s instead.", at, wrong.Value)}
	}
	if err != nil {
		return &complaint{at, "invalid_type", fmt.Sprintf("Invalid type for '%s'.", at)}
	}
	return nil
}

// each checks the items one by one.
func (q *responsesRequest) each() *complaint {
	seen := map[string]bool{}
	for i, item := range q.items {
		if c := item.check(fmt.Sprintf("input[%d]", i)); c != nil {
			return c
		}
		if seen[item.ID] && item.ID != "" {
			return &complaint{"input", "", fmt.Sprintf("Duplicate item found with id %s. Remove duplicate items from your input and try again.", item.ID)}
		}
		seen[item.ID] = true
	}
	return nil
}

// thoughts demands that reasoning comes before what it led to, and is this lab's.
func (q *responsesRequest) thoughts() *complaint {
	for i, item := range q.items {
		if item.Type == "reasoning" && !q.led(i+1) {
			return complain("Item '%s' of type 'reasoning' was provided without its required following item.", item.ID)
		}
	}
	for _, item := range q.items {
		if item.Type == "reasoning" && item.Encrypted != "" && !q.issued(item.Encrypted) {
			return &complaint{"", "invalid_encrypted_content", fmt.Sprintf("The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", item.ID)}
		}
	}
	return nil
}

// led reports whether the item at i is something that reasoning leads to: what the assistant said
// or called, or more reasoning before that.
func (q *responsesRequest) led(i int) bool {
	if i >= len(q.items) {
		return false
	}
	next := q.items[i]
	return next.Type == "reasoning" || strings.HasSuffix(next.Type, "_call") || next.Type == "message" && next.Role == "assistant"
}

// pairs demands one output for each call, after it.
func (q *responsesRequest) pairs() *complaint {
	var open []string
	for _, item := range q.items {
		switch {
		case slices.Contains(responsesCalls, item.Type):
			open = append(open, *item.CallID)
		case strings.HasSuffix(item.Type, "_call_output"):
			i := slices.Index(open, *item.CallID)
			if i < 0 {
				return &complaint{"input", "", fmt.Sprintf("No tool call found for function call output with call_id %s.", *item.CallID)}
			}
			open = slices.Delete(open, i, i+1)
		}
	}
	if len(open) > 0 {
		return &complaint{"input", "", fmt.Sprintf("No tool output found for function call %s.", open[0])}
	}
	return nil
}

func (q *responsesRequest) tools() *complaint {
	for i, t := range q.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		switch {
		case t.Type == "":
			return missingParameter(at + ".type")
		case t.Type != "function":
			continue
		case t.Name == nil:
			return missingParameter(at + ".name")
		case !openaiTool.MatchString(*t.Name):
			return wrongName(at + ".name")
		case len(t.Parameters) > 0 && string(t.Parameters) != "null" && !isObject(t.Parameters):
			return &complaint{at + ".parameters", "invalid_type", fmt.Sprintf("Invalid type for '%s.parameters': expected an object.", at)}
		}
	}
	return nil
}

// unstored refuses items that only a service that stores responses could fill in. The lab stores
// none, as the real service does not for "store": false.
func (q *responsesRequest) unstored() *wire.Report {
	for _, item := range q.items {
		if item.Type != "item_reference" && (item.Type != "reasoning" || item.Encrypted != "") {
			continue
		}
		message := fmt.Sprintf("Item with id '%s' not found.", item.ID)
		if q.Store != nil && !*q.Store {
			message += " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
		}
		return &wire.Report{Status: 404, Type: "invalid_request_error", Param: "input", Message: message}
	}
	return nil
}
