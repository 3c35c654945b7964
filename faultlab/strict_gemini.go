package faultlab

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/wire"
)

type geminiRequest struct {
	model    string
	contents []geminiContent
	issued   func(seal string) bool
}

type geminiContent struct {
	role  string
	parts []geminiPart
}

type geminiPart struct {
	kind      string // which of geminiData it has
	name      string // of the function, if it is a call or a response
	signature string
}

// anySignature is what the service accepts instead of a signature that is lost.
const anySignature = "skip_thought_signature_validator"

const (
	callTurn     = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
	responseTurn = "Please ensure that function response turn comes immediately after a function call turn."
	partCount    = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	oneofData    = "* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field"
)

var (
	geminiTool = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

	// The names that a request and its parts may have, in camel case; the service also accepts
	// snake case.
	geminiMembers = strings.Fields("contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent model labels serviceTier store continuationToken")
	geminiData    = strings.Fields("text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse")
	partMembers   = append(strings.Fields("thought thoughtSignature videoMetadata partMetadata mediaResolution"), geminiData...)
	toolMembers   = strings.Fields("functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext computerUse googleMaps fileSearch mcpServers")
	declarations  = strings.Fields("name description parameters parametersJsonSchema response responseJsonSchema behavior")
	schemaMembers = strings.Fields(`type format title description nullable enum maxItems minItems properties required
		minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum`)
)

func checkGemini(in query) (ask, *wire.Report) {
	model, method, _ := geminiTarget(in.url.Path)
	a := in.ask()
	a.model, a.stream = model, method == geminiStreaming
	a.array = a.stream && in.url.Query().Get("alt") != "sse"
	if len(model) > maxModelName {
		return a, geminiInvalid(400, "* GenerateContentRequest.model: unexpected model name format")
	}
	q := &geminiRequest{model: model, issued: func(seal string) bool { return seal == anySignature || in.issued(model, seal) }}
	if c := q.read(in.body); c != nil {
		return a, geminiInvalid(400, c.message)
	}
	if c := first(q.turns, q.signatures); c != nil {
		return a, geminiInvalid(400, c.message)
	}
	return a, nil
}

// read decodes the request and checks each piece by itself.
func (q *geminiRequest) read(body []byte) *complaint {
	if !json.Valid(body) {
		return complain("Invalid JSON payload received. Unexpected token.")
	}
	object, c := protoObject(body, "", geminiMembers)
	if c != nil {
		return c
	}
	contents, c := protoList(object["contents"], "contents")
	if c != nil {
		return c
	}
	if len(contents) == 0 {
		return complain("* GenerateContentRequest.contents: contents is not specified")
	}
	for i, raw := range contents {
		content, c := readContent(raw, fmt.Sprintf("contents[%d]", i))
		if c != nil {
			return c
		}
		q.contents = append(q.contents, content)
	}
	if raw := object["systemInstruction"]; len(raw) > 0 {
		if _, c := readContent(raw, "system_instruction"); c != nil {
			return c
		}
	}
	return checkTools(object["tools"])
}

func readContent(raw json.RawMessage, at string) (geminiContent, *complaint) {
	var content geminiContent
	object, c := protoObject(raw, at, []string{"role", "parts"})
	if c != nil {
		return content, c
	}
	if content.role, c = protoText(object["role"], at+".role"); c != nil {
		return content, c
	}
	parts, c := protoList(object["parts"], at+".parts")
	if c != nil {
		return content, c
	}
	if len(parts) == 0 {
		return content, complain("* GenerateContentRequest.%s.parts: contents.parts must not be empty.", at)
	}
	for i, raw := range parts {
		part, c := readPart(raw, fmt.Sprintf("%s.parts[%d]", at, i))
		if c != nil {
			return content, c
		}
		content.parts = append(content.parts, part)
	}
	return content, nil
}

func readPart(raw json.RawMessage, at string) (geminiPart, *complaint) {
	var p geminiPart
	object, c := protoObject(raw, at, partMembers)
	if c != nil {
		return p, c
	}
	if p.signature, c = protoText(object["thoughtSignature"], at+".thought_signature"); c != nil {
		return p, c
	}
	for _, kind := range geminiData {
		switch {
		case object[kind] == nil:
		case p.kind != "":
			return p, complain("Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", at, kind)
		default:
			p.kind = kind
		}
	}
	return p, p.readData(object[p.kind], at)
}

func (p *geminiPart) readData(raw json.RawMessage, at string) *complaint {
	switch p.kind {
	case "":
		return complain(oneofData, at)
	case "text":
		words, c := protoText(raw, at+".text")
		if c == nil && words == "" && p.signature == "" {
			c = complain(oneofData, at)
		}
		return c
	case "inlineData":
		return checkBlob(raw, at+".inline_data")
	case "functionCall":
		return p.readFunction(raw, at+".function_call", "args", strings.Fields("id name args"))
	case "functionResponse":
		return p.readFunction(raw, at+".function_response", "response", strings.Fields("id name response willContinue scheduling parts"))
	}
	return nil
}

// checkBlob checks an image or another file that is part of the request.
func checkBlob(raw json.RawMessage, at string) *complaint {
	object, c := protoObject(raw, at, strings.Fields("mimeType data displayName"))
	if c != nil {
		return c
	}
	data, c := protoText(object["data"], at+".data")
	if c != nil {
		return c
	}
	kind, c := protoText(object["mimeType"], at+".mime_type")
	switch _, err := base64.StdEncoding.DecodeString(data); {
	case c != nil:
		return c
	case err != nil || data == "":
		return complain("Invalid value at '%s.data' (TYPE_BYTES), Base64 decoding failed for %q", at, clip(data))
	case kind == "":
		return complain("* GenerateContentRequest.%s.mime_type: must not be empty", at)
	}
	return nil
}

// readFunction reads a call or a response with its payload, which must be an object. Only a call
// may have none.
func (p *geminiPart) readFunction(raw json.RawMessage, at, payload string, names []string) *complaint {
	object, c := protoObject(raw, at, names)
	if c != nil {
		return c
	}
	if p.name, c = protoText(object["name"], at+".name"); c != nil {
		return c
	}
	if !geminiTool.MatchString(p.name) {
		return invalidFunction(at)
	}
	if given := object[payload]; !isObject(given) && (given != nil || payload == "response") {
		return complain("Invalid value at '%s.%s' (type.googleapis.com/google.protobuf.Struct), %s", at, payload, clip(string(given)))
	}
	return nil
}

func invalidFunction(at string) *complaint {
	return complain("* GenerateContentRequest.%s.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.", at)
}

// functions lists the names of a content's calls, or of its responses.
func (c geminiContent) functions(kind string) []string {
	var names []string
	for _, p := range c.parts {
		if p.kind == kind {
			names = append(names, p.name)
		}
	}
	return names
}

// turns checks who speaks when: calls come after a user, and their responses, all of them and no
// others, after the calls.
func (q *geminiRequest) turns() *complaint {
	var open []string // the calls of the content before it
	for i, c := range q.contents {
		calls, responses := c.functions("functionCall"), c.functions("functionResponse")
		isUser := c.role == "user" || c.role == "" && len(q.contents) == 1
		switch {
		case !isUser && c.role != "model":
			return complain("Please use a valid role: user, model.")
		case i == 0 && !isUser:
			return complain("Please ensure that multiturn requests start with a user role.")
		case len(calls) > 0 && (isUser || q.contents[i-1].role != "user"):
			return complain(callTurn)
		case len(responses) > 0 && (!isUser || len(open) == 0):
			return complain(responseTurn)
		case len(responses) != len(open):
			return complain(partCount)
		case !slices.Equal(slices.Sorted(slices.Values(open)), slices.Sorted(slices.Values(responses))):
			return complain("Please ensure that the names of function response parts are those of the function call parts of the function call turn.")
		}
		open = calls
	}
	if len(open) > 0 {
		return complain("Please ensure that multiturn requests end with a user role or a function response.")
	}
	return nil
}

// signatures checks the signatures that are there, and those that are missing.
func (q *geminiRequest) signatures() *complaint {
	for i, content := range q.contents {
		for _, p := range content.parts {
			if p.signature != "" && !q.issued(p.signature) {
				return complain("Thought signature is not valid.")
			}
		}
		call := slices.IndexFunc(content.parts, func(p geminiPart) bool { return p.kind == "functionCall" })
		if call >= 0 && content.parts[call].signature == "" && signsCalls(q.model) {
			return complain("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", content.parts[call].name, i+1)
		}
	}
	return nil
}

func checkTools(raw json.RawMessage) *complaint {
	tools, c := protoList(raw, "tools")
	if c != nil {
		return c
	}
	seen := map[string]bool{}
	for i, raw := range tools {
		at := fmt.Sprintf("tools[%d]", i)
		object, c := protoObject(raw, at, toolMembers)
		if c != nil {
			return c
		}
		at += ".function_declarations"
		declared, c := protoList(object["functionDeclarations"], at)
		if c != nil {
			return c
		}
		for j, raw := range declared {
			if c := checkDeclaration(raw, fmt.Sprintf("%s[%d]", at, j), seen); c != nil {
				return c
			}
		}
	}
	return nil
}

func checkDeclaration(raw json.RawMessage, at string, seen map[string]bool) *complaint {
	object, c := protoObject(raw, at, declarations)
	if c != nil {
		return c
	}
	name, c := protoText(object["name"], at+".name")
	switch {
	case c != nil:
		return c
	case !geminiTool.MatchString(name):
		return invalidFunction(at)
	case seen[name]:
		return complain("Duplicate function declaration found: %s", name)
	case object["parametersJsonSchema"] != nil && !isObject(object["parametersJsonSchema"]):
		return wrongValue(at+".parameters_json_schema", object["parametersJsonSchema"])
	case object["parameters"] != nil && object["parametersJsonSchema"] != nil:
		return complain("* GenerateContentRequest.%s: only one of parameters and parameters_json_schema may be set", at)
	case object["parameters"] != nil:
		c = checkSchema(object["parameters"], at+".parameters", maxSchemaDepth)
	}
	seen[name] = true
	return c
}

const maxSchemaDepth = 64

// checkSchema checks "parameters", which is not JSON Schema but a part of OpenAPI's: what is not in
// that part is refused, at any depth.
func checkSchema(raw json.RawMessage, at string, depth int) *complaint {
	if depth == 0 {
		return complain("Invalid JSON payload received. Message too deep. Max recursion depth reached.")
	}
	object, c := protoObject(raw, at, schemaMembers)
	if c != nil {
		return c
	}
	inner, c := protoList(object["anyOf"], at+".any_of")
	if c != nil {
		return c
	}
	if object["items"] != nil {
		inner = append(inner, object["items"])
	}
	var properties map[string]json.RawMessage
	if given := object["properties"]; given != nil && json.Unmarshal(given, &properties) != nil {
		return wrongValue(at+".properties", given)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		inner = append(inner, properties[name])
	}
	for i, raw := range inner {
		if c := checkSchema(raw, fmt.Sprintf("%s[%d]", at, i), depth-1); c != nil {
			return c
		}
	}
	return nil
}
