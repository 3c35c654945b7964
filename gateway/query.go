package gateway

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// query is embedded in inputs with query parameters. A parameter without a value is refused:
// it would count as absent, and ?label= would list everybody's runs.
type query struct{}

// Resolve implements huma.Resolver.
func (query) Resolve(ctx huma.Context) []error {
	var wrong []error
	at := ctx.URL()
	values := at.Query()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if slices.Contains(values[name], "") {
			wrong = append(wrong, &huma.ErrorDetail{Location: "query." + name, Message: "it has no value: leave it out, or give it one"})
		}
	}
	return wrong
}
