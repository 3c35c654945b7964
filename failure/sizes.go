package failure

import (
	"slices"
	"strconv"
	"strings"
)

// sizes are the words that tell which figure of a message is what a request has and which is what a model takes.
// There are countless ways to say that a prompt is too long, but those that give figures give two: a bound, and a
// larger number.
type sizes struct {
	names  []string // what is counted
	bounds []string // what may stand before the figure that is the bound
	after  []string // or after it
	unless []string // what tells of other limits: of time, of money, of an answer
}

var tokenSizes = sizes{
	names: []string{"tokens", "token limit", "token count", "token window", "token context", "token prompt", "token input", "个 token", "个token", "token 数", "token数", "token 上限", "token上限", "токен", "トークン", "토큰", "令牌", "jeton"},
	bounds: []string{
		"max", "limit", "only", "at most", "allow", "accept", "takes", "can take", "holds", "tops out", "ceiling", "capped", "less than", "fewer than", "below", "under ", "<", "≤", "support", "capacity", "window", "context", "exceed", "more than", "larger than",
		"greater than", "longer than", "bigger than", "higher than", "over ", "above", "beyond", "no more", ">", "fits", "cap ",
		"máx", "límite", "höchstens", "最大", "上限", "限制", "最多", "超过", "최대", "한도", "макс", "лимит", "предел", "не более",
	},
	after: []string{" available", " fit", " max", " limit", " allowed", " accepted", " supported", " are allowed", " is the limit", " is the max", " at most", " window", "-token limit", "-token window", "-token context", " tokens are allowed", " tokens allowed", " tokens are accepted", " tokens accepted", " tokens max", " tokens at most", " token limit", " token max", " token window", " token context"},
	unless: []string{
		"rate limit", "rate_limit", "per min", "/min", "per second", "/s", "per hour", "per day", "/day", "tpm", "tpd", "rpm", "daily", "weekly", "monthly", "hour", "quota", "usage", "used", "remaining",
		"credit", "afford", "budget", "balance", "spend", "cost", "$", "output", "completion", "max_tokens", "max tokens", "maxtokens", "thinking", "reset", "retry", "try again", "wait",
		"分钟", "每天", "每日", "额度", "配额", "余额", "输出",
	},
}

// The figures that may be sizes of a request.
const (
	minSize = 600 // no status
	maxSize = 100_000_000

	maxDecimals = 3
)

// bySizes reads the figures of a request that is too long, in whatever words they are told.
func (c *reading) bySizes() (verdict, bool) {
	if _, named := c.saysAny(tokenSizes.names); !named {
		return verdict{}, false
	}
	if _, other := c.saysAny(tokenSizes.unless); other {
		return verdict{}, false
	}
	has, takes := tokenSizes.of(c.text)
	if takes == 0 || has <= takes {
		return verdict{}, false
	}
	return verdict{kind: KindContextOverflow, by: c.words(joinPhrases(strconv.Itoa(has), strconv.Itoa(takes)))}, true
}

// of gives the largest figure of text that is no bound, and the smallest one that is; 0 for one that is not there.
func (s sizes) of(text string) (has, takes int) {
	last := 0
	start, end, n := nextSize(text, 0)
	for n > 0 {
		next, nextEnd, following := nextSize(text, end)
		after := text[end:next]
		if following > 0 && slices.Contains(s.after, strings.TrimRight(after, " =:(")) {
			after = "" // it names the next one: limit=200000
		}
		if !s.isBound(text[last:start], after) {
			has = max(has, n)
		} else if takes == 0 || n < takes {
			takes = n
		}
		last, start, end, n = end, next, nextEnd, following
	}
	return has, takes
}

// isBound reports whether a figure between two pieces of text is what is allowed.
func (s sizes) isBound(before, after string) bool {
	before = before[strings.LastIndexAny(before, ",.;\n")+1:]
	for _, word := range s.bounds {
		if strings.Contains(before, word) {
			return true
		}
	}
	for _, word := range s.after {
		if strings.HasPrefix(after, word) {
			return true
		}
	}
	return false
}

// nextSize finds the next figure in text, from i on, that may be a size, and where it begins and ends; n is 0, and
// start the end of the text, if there is none.
func nextSize(text string, i int) (start, end, n int) {
	for ; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		end = figureEnd(text, i)
		if n = sizeOf(text[i:end]); n > 0 && !isJoined(text, i, end) {
			return i, end, n
		}
		i = end - 1
	}
	return len(text), len(text), 0
}

// figureEnd is where the figure that begins at i ends: 131072, 131,072, 131_072, 128k, 1.05m.
func figureEnd(text string, i int) int {
	for i < len(text) && (isDigit(text[i]) || (text[i] == ',' || text[i] == '_') && i+1 < len(text) && isDigit(text[i+1])) {
		i++
	}
	part := i
	if part < len(text) && text[part] == '.' {
		for part++; part < len(text) && part <= i+maxDecimals && isDigit(text[part]); part++ {
		}
	}
	if part != i+1 && part < len(text) && (text[part] == 'k' || text[part] == 'm') {
		return part + 1
	}
	return i
}

// isJoined reports whether a figure is part of a name, a date or a fraction.
func isJoined(text string, start, end int) bool {
	if start > 0 && (isASCIILetter(text[start-1]) || strings.IndexByte("_-./:#$", text[start-1]) >= 0) {
		return true
	}
	if end == len(text) {
		return false
	}
	next := text[end]
	return isASCIILetter(next) || next == '_' || next == '%' || strings.IndexByte("-./:", next) >= 0 && end+1 < len(text) && isDigit(text[end+1])
}

// sizeOf is the number that a figure means, 0 if no request is of that size.
func sizeOf(figure string) int {
	times := int64(1)
	switch figure[len(figure)-1] {
	case 'k':
		figure, times = figure[:len(figure)-1], 1000
	case 'm':
		figure, times = figure[:len(figure)-1], 1_000_000
	}
	figure, decimals, _ := strings.Cut(figure, ".")
	if len(figure) > 12 {
		return 0
	}
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(figure), 10, 64)
	n *= times
	for _, digit := range decimals {
		times /= 10
		n += int64(digit-'0') * times
	}
	if err != nil || n < minSize || n > maxSize {
		return 0
	}
	return int(n)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
