package client_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/advice"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// TestTheWordsAreTheGateways: whatever the client says or reads has that name there.
func TestTheWordsAreTheGateways(t *testing.T) {
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[client.Start](), reflect.TypeFor[gateway.Start]()},
		{reflect.TypeFor[client.Answer](), reflect.TypeFor[gateway.Answer]()},
		{reflect.TypeFor[client.Run](), reflect.TypeFor[gateway.Run]()},
		{reflect.TypeFor[client.Attempt](), reflect.TypeFor[gateway.Attempt]()},
		{reflect.TypeFor[client.CutShort](), reflect.TypeFor[gateway.CutShort]()},
		{reflect.TypeFor[client.Answered](), reflect.TypeFor[gateway.Answered]()},
		{reflect.TypeFor[client.Meta](), reflect.TypeFor[gateway.Meta]()},
		{reflect.TypeFor[client.Listed](), reflect.TypeFor[gateway.Listed]()},
		{reflect.TypeFor[client.Asked](), reflect.TypeFor[gateway.Asked]()},
		{reflect.TypeFor[client.Defaults](), reflect.TypeFor[gateway.Defaults]()},
		{reflect.TypeFor[client.Session](), reflect.TypeFor[gateway.Session]()},
		{reflect.TypeFor[client.SessionListed](), reflect.TypeFor[gateway.SessionListed]()},
		{reflect.TypeFor[client.Model](), reflect.TypeFor[gateway.Model]()},
		{reflect.TypeFor[client.Plugin](), reflect.TypeFor[gateway.Plugin]()},
		{reflect.TypeFor[client.Delta](), reflect.TypeFor[gateway.Delta]()},
		{reflect.TypeFor[client.KindListed](), reflect.TypeFor[gateway.KindListed]()},
		{reflect.TypeFor[client.Lesson](), reflect.TypeFor[gateway.Lesson]()},
		{reflect.TypeFor[client.Failed](), reflect.TypeFor[advice.Question]()},
		{reflect.TypeFor[client.Evidence](), reflect.TypeFor[advice.Evidence]()},
		{reflect.TypeFor[client.TriedCall](), reflect.TypeFor[advice.TriedCall]()},
		{reflect.TypeFor[client.ToolsRan](), reflect.TypeFor[advice.Tools]()},
		{reflect.TypeFor[client.Advice](), reflect.TypeFor[advice.Reply]()},
		{reflect.TypeFor[client.Outcome](), reflect.TypeFor[advice.Outcome]()},
	} {
		known := words(pair[1])
		for word := range words(pair[0]) {
			if !known[word] {
				t.Errorf("%s has %q, which %s has not", pair[0], word, pair[1])
			}
		}
	}
}

// words are the names of a type's fields in JSON.
func words(of reflect.Type) map[string]bool {
	all := map[string]bool{}
	for field := range of.Fields() {
		if word, _, _ := strings.Cut(field.Tag.Get("json"), ","); word != "-" {
			all[word] = true
		}
	}
	return all
}
