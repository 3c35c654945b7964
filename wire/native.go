package wire

import (
	"github.com/mulligan-run/mulligan/wire/internal/scan"
)

// ModelIn is the model that the body of a request names, "" for none. Only a member of exactly that
// name counts, as for the providers. An error is a *RequestError: two readers of a body with two
// models may see different ones.
func ModelIn(body []byte) (model string, err error) {
	if scan.Object(body) != "" {
		return "", nil
	}
	found := false
	for member, at := range scan.Members(body) {
		switch value := at.Of(body); {
		case member != "model":
		case found:
			return "", BadRequest("model", "is there twice")
		default:
			found = true
			if value[0] == '"' {
				model = scan.Text(value)
			}
		}
	}
	return model, nil
}

// WithModel is the body of a request with another model's name in it, and otherwise the same to the
// last byte. A body without a model gets one at its beginning. In a body with several, all are
// replaced, so that all readers see the same one. An error is a *RequestError.
func WithModel(body []byte, model string) ([]byte, error) {
	if problem := scan.Object(body); problem != "" {
		return nil, BadRequest("", "%s", problem)
	}
	name := Append(nil, model)
	out := make([]byte, 0, len(body)+len(name)+len(`"model":,`))
	from := 0
	for member, at := range scan.Members(body) {
		if member == "model" {
			out = append(append(out, body[from:at.From]...), name...)
			from = at.To
		}
	}
	if from > 0 {
		return append(out, body[from:]...), nil
	}
	inside := scan.Inside(body)
	out = append(append(append(out, body[:inside]...), `"model":`...), name...)
	if body[scan.Blank(body, inside)] != '}' {
		out = append(out, ',')
	}
	return append(out, body[inside:]...), nil
}
