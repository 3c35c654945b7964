package catalogue

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed rows
var files embed.FS

// Wires are the wires that scripts may be for: the Messages API, Chat Completions, the Responses
// API and Gemini's streamGenerateContent.
func Wires() []string { return []string{"anthropic", "openai", "responses", "gemini"} }

// Answer is the Kind of an Expectation that is not a failure.
const Answer = "answer"

// Script is one answer to one request on one wire, and what a client must make of it.
type Script struct {
	Row     string // the row's id
	Variant string // "" for the row's main script
	Wire    string // "" if nothing is played on a wire: see Transport and Client
	Expect  Expectation

	Status int         // of HTTP; 0 = raw: the connection carries only the acts
	Header [][2]string // names and values, in order; values may contain placeholders
	Acts   []Act       // the body; without a Hang, Reset or Cut it ends properly

	Transport string // the broken transport that plays the row below HTTP; "" = none
	Client    string // why no server can play it: the client does it to itself
}

// Expectation is what a client must make of an answer.
type Expectation struct {
	Kind      string         // a kind of failure, or [Answer]
	Answer    bool           // Kind is [Answer]
	Retryable *bool          // with the same input; nil only for an answer
	Wait      *time.Duration // the retry hint of the failure; 0 = it has none; nil = unspecified
	ResetsAt  time.Time      // when the limit ends; zero = unspecified
	Text      string         // what an answer says; "" = unspecified
	Note      string         // why it differs from the row
}

// Name is the row's id, with the variant if there is one: "O12-server_error".
func (s Script) Name() string {
	if s.Variant == "" {
		return s.Row
	}
	return s.Row + "-" + s.Variant
}

// Act is one thing that happens in a body.
type Act struct {
	Do    Do
	Data  string        // Send, Raw: the bytes, which may contain placeholders
	For   time.Duration // Pause
	Size  int64         // Big: bytes
	Times int           // Repeat: 0 = for ever
	Acts  []Act         // Repeat
}

// Do says what an Act does.
type Do uint8

// The acts. Hang, Reset and Cut end a body.
const (
	Send Do = iota
	Raw     // Send, and from here on past the framing of HTTP
	Pause
	Big // letters x
	Repeat
	Hang
	Reset
	Cut
)

// Scripts returns the scripts of a row: the main ones first, then those of each variant, one for
// every wire.
func (r Row) Scripts() []Script {
	var scripts []Script
	for _, s := range loadScripts() {
		if s.Row == r.ID {
			scripts = append(scripts, s)
		}
	}
	return scripts
}

// Scripts returns the scripts with the name of a row ("A03") or of a variant ("O12-server_error"):
// one for each wire. It is empty for an unknown name.
func Scripts(name string) []Script {
	var scripts []Script
	for _, s := range loadScripts() {
		if s.Name() == name {
			scripts = append(scripts, s)
		}
	}
	return scripts
}

// All returns every script, in the order of the rows.
func All() []Script { return slices.Clone(loadScripts()) }

// loadScripts reads all scripts. It panics if a file is wrong; the tests rule that out.
var loadScripts = sync.OnceValue(func() []Script {
	scripts, err := readScripts()
	if err != nil {
		panic("catalogue: " + err.Error())
	}
	return scripts
})

func readScripts() ([]Script, error) {
	entries, err := files.ReadDir("rows")
	if err != nil {
		return nil, err
	}
	var scripts []Script
	for _, entry := range entries {
		data, err := files.ReadFile("rows/" + entry.Name())
		if err != nil {
			return nil, err
		}
		parsed, err := parse(strings.TrimSuffix(entry.Name(), ".txt"), string(data))
		if err != nil {
			return nil, fmt.Errorf("rows/%s: %w", entry.Name(), err)
		}
		scripts = append(scripts, parsed...)
	}
	slices.SortStableFunc(scripts, func(a, b Script) int {
		return cmp.Or(cmp.Compare(place(a.Row), place(b.Row)), cmp.Compare(a.Variant, b.Variant))
	})
	return scripts, nil
}

// place is the index of a row in the catalogue.
func place(id string) int {
	return slices.IndexFunc(loadRows(), func(r Row) bool { return r.ID == id })
}
