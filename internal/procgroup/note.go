package procgroup

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// MaxNote is the most that a note holds, in bytes.
const MaxNote = 200

// Note is this process in the words of a file, for ReadNote: its number and when it began.
func Note() ([]byte, error) {
	started, err := StartedAt(os.Getpid())
	return []byte(strconv.Itoa(os.Getpid()) + " " + started), err
}

// ReadNote says what has become of the process whose Note the file at path is. An error says
// that it is none.
func ReadNote(path string) (Life, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return LifeElsewhere, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxNote {
		return LifeElsewhere, fmt.Errorf("%s is no note of a process", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return LifeElsewhere, err
	}
	number, started, _ := strings.Cut(string(text), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || started == "" {
		return LifeElsewhere, fmt.Errorf("%s is no note of a process", path)
	}
	return LifeOf(pid, started), nil
}
