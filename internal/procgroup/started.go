package procgroup

import "strings"

// place is where a process's number is unique.
type place struct{ machine, boot, namespace string }

// Life says whether a process still runs, identified by its number and its start.
type Life int

// The possible answers.
const (
	LifeGone      Life = iota
	LifeGoesOn         // the same process runs
	LifeElsewhere      // on another machine or in another container: unknown here
)

// StartedAt identifies a process by where and when it started, in four words that no other
// process with the same number has.
func StartedAt(pid int) (string, error) {
	when, err := Began(pid)
	p := thisPlace()
	return strings.Join([]string{p.machine, p.boot, p.namespace, when}, " "), err
}

// Namespace is the namespace of this process's number, such as a container's; one word.
func Namespace() string { return thisPlace().namespace }

// LifeOf looks for the process that had that number and started then; numbers are reused.
func LifeOf(pid int, started string) Life {
	fields := strings.Fields(started)
	p := thisPlace()
	switch {
	case len(fields) != 4 || pid <= 0:
		return LifeGone
	case fields[0] != p.machine:
		return LifeElsewhere
	case fields[1] != p.boot:
		return LifeGone
	case fields[2] != p.namespace:
		return LifeElsewhere
	}
	if when, err := Began(pid); err == nil && when == fields[3] {
		return LifeGoesOn
	}
	return LifeGone
}

// oneWord makes a text that can stand between spaces.
func oneWord(text string) string {
	if text = strings.Join(strings.Fields(text), "_"); text == "" {
		return "-"
	}
	return text
}
