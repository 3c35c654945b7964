package procgroup

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// MaxNote bounds a note, in bytes.
const MaxNote = 200

// Note identifies this process in a file, for ReadNote: its number and start.
func Note() ([]byte, error) {
	started, err := StartedAt(os.Getpid())
	return []byte(strconv.Itoa(os.Getpid()) + " " + started), err
}

// ReadNote says whether the process that wrote the Note in the file at path still runs. An
// error says that it is not a note.
func ReadNote(path string) (Life, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return LifeElsewhere, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxNote {
		return LifeElsewhere, fmt.Errorf("%s does not name a process", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return LifeElsewhere, err
	}
	number, started, _ := strings.Cut(string(text), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || started == "" {
		return LifeElsewhere, fmt.Errorf("%s does not name a process", path)
	}
	return LifeOf(pid, started), nil
}
