package gateway

import (
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// framesSchema describes a stream of server-sent events. OpenAPI 3.1 cannot describe streams, so
// it is a list in which each item is one frame with its fields, and data is parsed.
func framesSchema(schemas huma.Registry) *huma.Schema {
	of := func(v any) *huma.Schema { return schemas.Schema(reflect.TypeOf(v), true, "") }
	nothing := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false}
	frames := []*huma.Schema{
		frameSchema("event", "What happened to the run, durable: its id is its sequence number.", eventSchema(schemas)),
		frameSchema("situation", "What a person should see and can do from now on.", of(recovery.Situation{})),
		frameSchema("delta", "A live piece of an attempt's text.", of(Delta{})),
		frameSchema("notice", "A line for people.", of(notice{})),
		frameSchema("resync", "Something live is lost: come back with the last id that you saw.", nothing),
		frameSchema("end", "Nothing follows.", nothing),
	}
	for _, frame := range frames[1:] {
		delete(frame.Properties, "id")
		frame.Required = []string{"event", "data"}
	}
	stream := &huma.Schema{
		Type: huma.TypeArray, Description: "Server-sent events. Each item is one of them, with its data parsed.",
		Items: &huma.Schema{OneOf: frames},
	}
	stream.PrecomputeMessages()
	return stream
}

// frameSchema is the schema of one kind of frame.
func frameSchema(name, description string, data *huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Title: name, Description: description, Required: []string{"event", "id", "data"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"event": {Type: huma.TypeString, Enum: []any{name}},
			"id":    {Type: huma.TypeString, Pattern: "^[0-9]+$"},
			"data":  data,
		},
	}
}

// schemaName returns the usual name for a type, except where the document has two types with the same
// name, as with those of other protocols.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[llm.Usage]() {
		return "ModelUsage"
	}
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	for room, prefix := range map[string]string{"/gateway/internal/aisdk": "AISDK", "/gateway/internal/agui": "AGUI", "/gateway/internal/tell": "Client"} {
		if strings.HasSuffix(t.PkgPath(), room) {
			return prefix + name
		}
	}
	return name
}

// eventSchema is an event's stored form, by type. Readers must keep unknown types, because newer
// versions add some.
func eventSchema(schemas huma.Registry) *huma.Schema {
	events := schemas.Map()
	all := &huma.Schema{Title: "Event", Description: "An event, by its type. A newer version has more types: keep what you do not know."}
	for _, body := range recovery.Bodies() {
		t := reflect.TypeOf(body)
		name := "Event" + t.Name()
		kind := recovery.Event{Body: body}.Type()
		events[name] = &huma.Schema{
			Type: huma.TypeObject, Title: strings.ReplaceAll(kind, "_", " "),
			Required: []string{"v", "run", "seq", "time", "type", "data"},
			Properties: map[string]*huma.Schema{
				"v":     {Type: huma.TypeInteger, Description: "The version of the form."},
				"run":   {Type: huma.TypeString},
				"seq":   {Type: huma.TypeInteger, Description: "1, 2, 3, … without a gap."},
				"time":  schemas.Schema(reflect.TypeFor[time.Time](), true, ""),
				"type":  {Type: huma.TypeString, Enum: []any{kind}},
				"text":  {Type: huma.TypeString, Description: "One line for people."},
				"inbox": {Type: huma.TypeInteger, Description: "The command that the event answers."},
				"data":  huma.SchemaFromType(schemas, t), // schemas.Schema would give the other type named Answered
			},
		}
		events[name].PrecomputeMessages()
		all.OneOf = append(all.OneOf, &huma.Schema{Ref: "#/components/schemas/" + name})
	}
	all.PrecomputeMessages()
	events["Event"] = all
	return &huma.Schema{Ref: "#/components/schemas/Event"}
}
