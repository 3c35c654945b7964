package failure

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// overflows are the ways in which providers say how many tokens a request had (the group "has") and
// how many the model takes ("takes"). The first that matches counts.
var overflows = sync.OnceValue(func() []*regexp.Regexp {
	const n = `[0-9][0-9,_]{2,12}`
	var list []*regexp.Regexp
	for _, form := range []string{
		`(?P<has>N) tokens? > (?P<takes>N)`,
		`token count of (?P<has>N) exceeds the limit of (?P<takes>N)`,
		`token count \(?(?P<has>N)\)? exceeds the maximum number of tokens allowed \(?(?P<takes>N)`,
		`token limit: (?P<takes>N) \(requested: (?P<has>N)\)`,
		`contains (?P<has>N) tokens[^\n]{0,80}?(?P<takes>N) maximum`,
		`context limit: (?P<has>N) \+ N > (?P<takes>N)`,
		`maximum context length (?:is|of) (?P<takes>N)[^\n]{0,80}?(?:resulted in|you requested(?: about)?|request has|at least) (?P<has>N)`,
		`request \((?P<has>N) tokens\) exceeds the available context size \((?P<takes>N)`,
		`(?:maximum context length|context (?:window|length|limit|size))(?: of| is|:)? \(?(?P<takes>N)`,
	} {
		list = append(list, regexp.MustCompile(`(?i)`+strings.ReplaceAll(form, "N", n)))
	}
	return list
})

// overflowOf gives the numbers in a provider's message about a conversation that is too long; 0 for
// one that is not there. has is also 0 if the request would have fitted by these numbers.
func overflowOf(detail string) (has, takes int64) {
	for _, form := range overflows() {
		match := form.FindStringSubmatch(detail)
		if match == nil {
			continue
		}
		number := func(group string) int64 {
			i := form.SubexpIndex(group)
			if i < 0 {
				return 0
			}
			n, _ := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(match[i]), 10, 64)
			return n
		}
		if has, takes = number("has"), number("takes"); has <= takes {
			has = 0
		}
		return has, takes
	}
	return 0, 0
}
