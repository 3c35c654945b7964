package timeline

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Every append decodes and encodes the run's course, which nearly always has numbers only: those are
// done here, in the form that encoding/json gives them.

// numberNames are the members of a Course that are numbers, in the order of its fields.
var numberNames = [...]string{"attempts", "failed", "tokens", "wasted", "microdollars", "wastedMicrodollars"}

type numbers [len(numberNames)]int64

func (c *Course) numbers() numbers {
	return numbers{int64(c.Attempts), int64(c.Failed), c.Tokens, c.Wasted, c.Microdollars, c.WastedMicrodollars}
}

func (n numbers) course() Course {
	return Course{Attempts: int(n[0]), Failed: int(n[1]), Tokens: n[2], Wasted: n[3], Microdollars: n[4], WastedMicrodollars: n[5]}
}

// text encodes c.
func (c *Course) text() CourseText {
	if c.Provider != "" || c.Approval != "" || len(c.Offers) > 0 || len(c.Prices) > 0 {
		text, _ := json.Marshal(c) // strings and numbers can always be encoded
		return CourseText(text)
	}
	var room [128]byte
	text := room[:0]
	for i, value := range c.numbers() {
		if value != 0 {
			text = append(append(append(text, `,"`...), numberNames[i]...), `":`...)
			text = strconv.AppendInt(text, value, 10)
		}
	}
	if len(text) == 0 {
		return ""
	}
	text[0] = '{'
	return CourseText(append(text, '}'))
}

// read decodes text if it has numbers only.
func (n *numbers) read(text string) bool {
	inside, opens := strings.CutPrefix(text, "{")
	inside, closes := strings.CutSuffix(inside, "}")
	if !opens || !closes {
		return false
	}
	i := 0
	for more := true; more; {
		var member string
		member, inside, more = strings.Cut(inside, ",")
		name, value, _ := strings.Cut(member, ":")
		for i < len(numberNames) && name != `"`+numberNames[i]+`"` {
			i++
		}
		var err error
		if i == len(numberNames) {
			return false
		} else if n[i], err = strconv.ParseInt(value, 10, 64); err != nil {
			return false
		}
	}
	return true
}
