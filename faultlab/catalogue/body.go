package catalogue

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	maxActs   = 1024      // of one body
	maxDepth  = 2         // of repeats
	maxPause  = time.Hour // one pause
	maxRepeat = 10_000
	maxBig    = 256 << 20 // bytes
)

// bodyReader reads the body of one section.
type bodyReader struct {
	*reader
	raw   bool
	sent  bool // a raw answer has begun
	acts  int
	ended bool // only empty lines and comments may follow
}

func (r *reader) body(s *Script) error {
	b := &bodyReader{reader: r, raw: s.Status == 0}
	acts, err := b.block(0)
	s.Acts = acts
	return err
}

// block reads up to the end of the section, or up to the @again of a repeat.
func (b *bodyReader) block(depth int) ([]Act, error) {
	var acts []Act
	for line, ok := b.within(); ok; line, ok = b.within() {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case word == "@#":
			continue
		case b.ended && line != "":
			return nil, errors.New("something follows the end")
		case b.ended:
			continue
		case word == "@again" && depth > 0:
			return acts, nil
		case !strings.HasPrefix(line, "@"):
			word, rest = "", line
		}
		act, err := b.act(word, rest, depth)
		if err != nil {
			return nil, err
		}
		if acts, err = b.add(acts, act); err != nil {
			return nil, err
		}
	}
	if depth > 0 {
		return nil, errors.New("a repeat without its @again")
	}
	return acts, nil
}

// add appends an act, if there is one; bytes are joined to those before them.
func (b *bodyReader) add(acts []Act, act *Act) ([]Act, error) {
	if act == nil {
		return acts, nil
	}
	if act.Do == Send || act.Do == Raw {
		b.sent = true
		if err := checkPlaceholders(act.Data); err != nil {
			return nil, err
		}
		if last := len(acts) - 1; act.Do == Send && last >= 0 && acts[last].Do == Send {
			acts[last].Data += act.Data
			return acts, nil
		}
	}
	if b.acts++; b.acts > maxActs {
		return nil, fmt.Errorf("more than %d acts", maxActs)
	}
	return append(acts, *act), nil
}

// act reads one line; the word is "" if the line is sent as it stands.
func (b *bodyReader) act(word, rest string, depth int) (*Act, error) {
	switch word {
	case "":
		return &Act{Do: Send, Data: rest + "\n"}, nil
	case "@send", "@raw":
		data, err := strconv.Unquote(rest)
		if err != nil || data == "" {
			return nil, errors.New("what is sent is not a string as in Go")
		}
		if word == "@raw" {
			b.raw = true
			return &Act{Do: Raw, Data: data}, nil
		}
		return &Act{Do: Send, Data: data}, nil
	case "@pause":
		d, err := time.ParseDuration(rest)
		if err != nil || d <= 0 || d > maxPause {
			return nil, fmt.Errorf("%q is not a pause of at most %v", rest, maxPause)
		}
		return &Act{Do: Pause, For: d}, nil
	case "@big":
		return bigAct(rest)
	case "@repeat":
		return b.repeat(rest, depth)
	}
	if rest != "" || depth > 0 {
		return nil, fmt.Errorf("%s does not belong here", word)
	}
	return b.ending(word)
}

func bigAct(rest string) (*Act, error) {
	number, _ := strings.CutSuffix(rest, "MiB")
	n, err := strconv.Atoi(number)
	if err != nil || number == rest || n <= 0 || n > maxBig>>20 {
		return nil, fmt.Errorf("%q is not a size in MiB, at most %d", rest, maxBig>>20)
	}
	return &Act{Do: Big, Size: int64(n) << 20}, nil
}

func (b *bodyReader) repeat(rest string, depth int) (*Act, error) {
	act := &Act{Do: Repeat}
	if rest != "" {
		n, err := strconv.Atoi(rest)
		if err != nil || n <= 0 || n > maxRepeat {
			return nil, fmt.Errorf("%q is not a number of at most %d", rest, maxRepeat)
		}
		act.Times = n
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("repeats within each other more than %d deep", maxDepth)
	}
	acts, err := b.block(depth + 1)
	act.Acts = acts
	switch {
	case err != nil:
		return nil, err
	case len(acts) == 0:
		return nil, errors.New("a repeat of nothing")
	case act.Times > 0:
		return act, nil
	case depth > 0 || !pauses(acts):
		return nil, errors.New("an endless repeat within another, or without a pause")
	}
	b.ended = true
	return act, b.lasting()
}

func pauses(acts []Act) bool {
	for _, a := range acts {
		if a.Do == Pause || pauses(a.Acts) {
			return true
		}
	}
	return false
}

func (b *bodyReader) ending(word string) (*Act, error) {
	b.ended = true
	switch word {
	case "@end":
		return nil, nil //nolint:nilnil // the proper end is not an act
	case "@hang":
		return &Act{Do: Hang}, b.lasting()
	case "@cut":
		return &Act{Do: Cut}, nil
	case "@reset":
		return &Act{Do: Reset}, nil
	}
	return nil, fmt.Errorf("unknown act %s", word)
}

// lasting refuses acts that never end on a connection that was taken over: nobody would notice that
// the client has gone.
func (b *bodyReader) lasting() error {
	if b.raw && b.sent {
		return errors.New("a raw answer that has begun must end")
	}
	return nil
}
