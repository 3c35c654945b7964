package failure

import (
	"slices"
	"strconv"
	"sync"

	"github.com/mulligan-run/mulligan/failure/words"
)

// Diagnosis is a Failure, and the evidence by which it was recognised.
type Diagnosis struct {
	Failure    *Failure   `json:"failure"`
	Confidence int        `json:"confidence"`         // 0 to 100: of a hundred unseen failures recognised in the same way, how many are of this kind; 0 = not known
	RunnerUp   *Candidate `json:"runnerUp,omitempty"` // the next kind without the evidence that decided; nil = no other kind
	Evidence   []Clue     `json:"evidence"`           // never empty; the first clue decided the kind
}

// Candidate is another kind that a failure might have been.
type Candidate struct {
	Kind       Kind `json:"kind"`
	Confidence int  `json:"confidence"` // what Diagnosis.Confidence would be if By had decided
	By         Clue `json:"by"`
}

// certain is the Confidence of a Failure made by code that knew what happened.
const certain = 100

// Clue is one piece of evidence from a failed attempt. Of a provider's words it holds no more than
// the phrase that a rule knows.
type Clue struct {
	Source  ClueSource `json:"source"`
	Where   string     `json:"where,omitempty"` // where it was found: "body", "error", the name of a header or field
	Value   string     `json:"value"`           // one line of valid UTF-8, at most 200 bytes
	Decided bool       `json:"decided"`         // false: it was seen, but changed nothing
	Note    ClueNote   `json:"note,omitempty"`  // "": the kind
}

// ClueSource says what sort of thing a Clue is.
type ClueSource string

// The sources of clues.
const (
	ClueFailure   ClueSource = "failure"   // a Failure made by code that knew what happened
	ClueLocal     ClueSource = "local"     // a row of a Local; Where names the row
	ClueAdapter   ClueSource = "adapter"   // the adapter knew the kind for sure
	ClueCode      ClueSource = "code"      // the provider's code
	ClueStatus    ClueSource = "status"    // an HTTP status, or a status that a body or message names
	ClueWords     ClueSource = "words"     // words of the provider, or of a gateway or library that passed its failure on
	ClueHeader    ClueSource = "header"    // Where is the header's name, in lower case
	ClueTransport ClueSource = "transport" // words of the network's error, or the way in which the answer ended
	CluePage      ClueSource = "page"      // a page for people came instead of an API's answer
	ClueQuotaID   ClueSource = "quota id"
	ClueHint      ClueSource = "hint"    // a field that says when to try again; Where is its name
	ClueNothing   ClueSource = "nothing" // nothing that a rule knows
)

// ClueNote says what a Clue is about, unless that is the kind of the failure, or why it decided
// nothing.
type ClueNote string

// The notes on clues.
const (
	NoteVariant   ClueNote = "variant"
	NoteRetryable ClueNote = "retryable"
	NoteWait      ClueNote = "wait"
	NoteOverruled ClueNote = "overruled" // it says something else, but a better clue was found
	NoteSeen      ClueNote = "seen"      // it says the same, or nothing of its own
)

// maxClueValue is the longest quote in a Clue, in bytes.
const maxClueValue = 200

// String is a short phrase: code "insufficient_quota" in the body; status 429; words "try again in
// 9.816s"; header retry-after: 7.
func (c Clue) String() string {
	quoted := `"` + c.Value + `"`
	switch c.Source {
	case ClueFailure:
		return c.Value + ", as the failure itself says"
	case ClueLocal:
		return c.Value + ", as " + c.Where + " says"
	case ClueAdapter:
		return c.Value + ", as the adapter saw"
	case ClueCode:
		if c.Where != clueBody && c.Where != clueError {
			return "code " + quoted + " in the header " + c.Where
		}
		return "code " + quoted + " in the " + c.Where
	case ClueStatus:
		if c.Where != "" {
			return "status " + c.Value + " in the " + c.Where
		}
		return "status " + c.Value
	case ClueHeader:
		return "header " + c.Where + ": " + c.Value
	case ClueTransport:
		return "transport error " + quoted
	case CluePage:
		return "a web page, by its " + c.Where + " " + quoted
	case ClueHint:
		return c.Where + " " + quoted + " in the body"
	case ClueNothing:
		return "nothing that is known"
	}
	return string(c.Source) + " " + quoted
}

// The values of Clue.Where, besides the names of headers and fields.
const (
	clueBody    = "body"
	clueError   = "error"
	clueMessage = "message"
)

// sure is c marked as the clue that decided something.
func (c Clue) sure(note ClueNote) Clue {
	c.Decided, c.Note = true, note
	return c
}

func (c Clue) isZero() bool { return c.Source == "" }

func statusClue(status int, where string) Clue {
	return Clue{Source: ClueStatus, Where: where, Value: strconv.Itoa(status)}
}

// evidence lists the clues, strongest first, cleaned so that they can be shown to people.
func (c *reading) evidence(v verdict, retry Clue, h hint, f *Failure) []Clue {
	list := make([]Clue, 0, 6)
	list = append(list, v.by.sure(""))
	if !v.finer.isZero() {
		list = append(list, v.finer.sure(NoteVariant))
	}
	if !retry.isZero() {
		list = append(list, retry.sure(NoteRetryable))
	}
	if !h.by.isZero() && (f.RetryAfter > 0 || !f.ResetsAt.IsZero()) {
		list = append(list, h.by.sure(NoteWait))
	}
	if !h.overruled.isZero() {
		h.overruled.Note = NoteOverruled
		list = append(list, h.overruled)
	}
	list = c.otherwise(list, v)
	for i := range list {
		list[i].Value = oneLine(list[i].Value, maxClueValue)
	}
	return list
}

// otherwise appends the status and the first known code, unless they decided.
func (c *reading) otherwise(list []Clue, v verdict) []Clue {
	if status := c.e.Status; status != 0 && (v.by.Source != ClueStatus || v.by.Where != "") {
		kind, _ := kindOfStatus(status)
		if kind != "" || status/100 == 2 && !c.streaming() {
			clue := statusClue(status, "")
			clue.Note = noteFor(kind, v.kind)
			list = append(list, clue)
		}
	}
	for _, code := range c.codes {
		if kind := codeKinds()[code.flat]; kind != "" && code.lower != v.code {
			return append(list, Clue{Source: ClueCode, Where: code.where, Value: code.written, Note: noteFor(kind, v.kind)})
		}
	}
	return list
}

func noteFor(says, decided Kind) ClueNote {
	if says == decided {
		return NoteSeen
	}
	return NoteOverruled
}

// codeKinds maps each code to the kind that it means by itself.
var codeKinds = sync.OnceValue(func() map[string]Kind {
	kinds := map[string]Kind{}
	for _, code := range invalidCodes {
		kinds[code] = KindInvalidRequest
	}
	for _, r := range slices.Concat(strongCodes, generalCodes, serverCodes) {
		for _, code := range r.codes {
			if kinds[code] == "" {
				kinds[code] = r.kind
			}
		}
	}
	return kinds
})

// oneLine makes text one line of valid UTF-8, at most n bytes.
func oneLine(text string, n int) string {
	if len(text) <= n && words.IsTidy(text) {
		return text
	}
	return words.Clip(words.Tidy(words.Clip(text, n)), n)
}
