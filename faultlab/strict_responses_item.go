package faultlab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func (item responsesItem) check(at string) *complaint {
	if c := item.checkID(at + ".id"); c != nil {
		return c
	}
	switch item.Type {
	case "message":
		return item.checkMessage(at)
	case "function_call", "custom_tool_call":
		return item.checkCall(at)
	case "local_shell_call":
		return item.checkCallID(at + ".call_id")
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return item.checkOutput(at)
	case "reasoning":
		if item.Summary == nil {
			return missingParameter(at + ".summary")
		}
	}
	return nil
}

// checkID checks an item's id: it may be left out or blank; otherwise its prefix must fit the type.
func (item responsesItem) checkID(at string) *complaint {
	prefix := responsesShapes[item.Type].prefix
	switch {
	case item.ID == "" || prefix == "":
		return nil
	case item.Type == "function_call_output" && strings.HasPrefix(item.ID, "fco_"): // Codex's own
	case !strings.HasPrefix(item.ID, prefix+"_"):
		return &complaint{at, "invalid_value", fmt.Sprintf("Invalid '%s': '%s'. Expected an ID that begins with '%s'.", at, item.ID, prefix)}
	}
	return tooLong(item.ID, at)
}

func tooLong(id, at string) *complaint {
	if len(id) <= responsesMaxID {
		return nil
	}
	return &complaint{at, "string_above_max_length", fmt.Sprintf("Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", at, responsesMaxID, len(id))}
}

func (item responsesItem) checkMessage(at string) *complaint {
	if !slices.Contains(responsesRoles, item.Role) {
		return unsupportedValue(at+".role", item.Role, responsesRoles)
	}
	parts := responsesGiven
	if item.Role == "assistant" {
		parts = responsesSaid
	}
	return checkParts(item.Content, at+".content", parts)
}

// checkParts checks a content: a string, or a list of parts of certain types.
func checkParts(raw json.RawMessage, at string, types []string) *complaint {
	if len(raw) == 0 {
		return missingParameter(at)
	}
	var text *string
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return nil
	}
	var list []responsesPart
	if c := decode(raw, &list, at); c != nil {
		return c
	}
	if list == nil {
		return &complaint{at, "invalid_type", fmt.Sprintf("Invalid type for '%s': expected one of an array of objects or string, but got null instead.", at)}
	}
	for i, p := range list {
		if c := p.check(fmt.Sprintf("%s[%d]", at, i), types); c != nil {
			return c
		}
	}
	return nil
}

func (p responsesPart) check(at string, types []string) *complaint {
	switch {
	case !slices.Contains(types, p.Type):
		return unsupportedValue(at, p.Type, types)
	case strings.HasSuffix(p.Type, "_text") && p.Text == nil:
		return missingParameter(at + ".text")
	case p.Type == "refusal" && p.Refusal == nil:
		return missingParameter(at + ".refusal")
	case p.Type == "input_image" && p.FileID == "" && !imageURL.MatchString(p.ImageURL):
		at += ".image_url"
		return &complaint{at, "invalid_value", fmt.Sprintf("Invalid '%s'. Expected a valid URL, but got a value with an invalid format.", at)}
	}
	return nil
}

func (item responsesItem) checkCall(at string) *complaint {
	switch {
	case item.Name == nil:
		return missingParameter(at + ".name")
	case !openaiTool.MatchString(*item.Name):
		return wrongName(at + ".name")
	case item.Type == "function_call" && item.Arguments == nil:
		return missingParameter(at + ".arguments")
	case item.Type == "custom_tool_call" && item.Input == nil:
		return missingParameter(at + ".input")
	}
	return item.checkCallID(at + ".call_id")
}

func wrongName(at string) *complaint {
	return &complaint{at, "invalid_value", fmt.Sprintf("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", at, openaiTool)}
}

func (item responsesItem) checkOutput(at string) *complaint {
	if c := checkParts(item.Output, at+".output", responsesGiven); c != nil {
		return c
	}
	return item.checkCallID(at + ".call_id")
}

func (item responsesItem) checkCallID(at string) *complaint {
	switch {
	case item.CallID == nil:
		return missingParameter(at)
	case *item.CallID == "":
		return &complaint{at, "empty_string", fmt.Sprintf("Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", at)}
	}
	return tooLong(*item.CallID, at)
}
