package command

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// escapes matches terminal sequences: colours, cursor movements, titles, links. To compile it takes
// longer than most packages take to start, and most programs that have this one run no command.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|[ -/]*[0-~])`)
})

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// clean makes program output fit for a model: valid UTF-8, without control characters except tabs
// and line ends, which are one character each.
func clean(b []byte) string {
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	s = lineEnds.Replace(escapes().ReplaceAllString(s, ""))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}
