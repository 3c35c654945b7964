package pi

import (
	"strconv"

	"github.com/mulligan-run/mulligan/llm"
)

// terms are what a Pi is started with, besides its model and its conversation. Different terms need
// another process.
type terms struct {
	system string
	limit  int // tokens of an answer; 0 = Pi's own
}

func termsOf(r llm.Request) terms {
	return terms{r.System, max(0, r.MaxOutputTokens)}
}

// arguments are the arguments and variables that tell Pi the terms.
func (t terms) arguments(f folder) (args, variables []string, err error) {
	if t.system != "" {
		path, err := f.system(t.system)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, "--append-system-prompt", path)
	}
	if t.limit > 0 {
		args = append(args, "--extension", f.extension(limitFile))
		variables = append(variables, "MULLIGAN_PI_LIMIT="+strconv.Itoa(t.limit))
	}
	return args, variables, nil
}
