package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Limits on a problem document, whatever was sent (S12).
const (
	maxFaults  = 10       // errors in it
	maxEcho    = 128      // bytes of a value, and of its location
	maxMessage = 512      // bytes of a sentence
	maxProblem = 16 << 10 // bytes of the whole document
)

// boundProblem is a huma.Transformer that keeps problems short and says when to retry.
func boundProblem(ctx huma.Context, _ string, answer any) (any, error) {
	problem, ok := answer.(*huma.ErrorModel)
	if !ok {
		return answer, nil
	}
	if problem.Status == http.StatusServiceUnavailable {
		ctx.SetHeader("Retry-After", seconds(soon))
	}
	short := *problem
	if n := len(problem.Errors); n > maxFaults {
		short.Errors = problem.Errors[:maxFaults]
		short.Detail += ": " + strconv.Itoa(n) + " faults, of which these are the first " + strconv.Itoa(maxFaults)
	}
	short.Detail = clip(short.Detail, maxMessage)
	faults := make([]*huma.ErrorDetail, 0, len(short.Errors))
	for _, f := range short.Errors {
		if f != nil {
			faults = append(faults, &huma.ErrorDetail{
				Message: clip(f.Message, maxMessage), Location: clip(f.Location, maxEcho), Value: echo(f.Value),
			})
		}
	}
	for short.Errors = faults; tooLong(&short); {
		short.Errors = short.Errors[:len(short.Errors)-1]
	}
	return &short, nil
}

// tooLong reports whether a problem is too long once it is escaped.
func tooLong(p *huma.ErrorModel) bool {
	data, err := json.Marshal(p)
	return err == nil && len(data) >= maxProblem && len(p.Errors) > 0
}

// echo is a value as a problem repeats it: the beginning of a long string, nothing of
// other long values.
func echo(value any) any {
	const quotes = 2
	if text, ok := value.(string); ok {
		value = clip(text, maxEcho-quotes)
	}
	if data, err := json.Marshal(value); err != nil || len(data) > maxEcho {
		return nil
	}
	return value
}

func clip(text string, most int) string { return words.Clip(text, most) }
