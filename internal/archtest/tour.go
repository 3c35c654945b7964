package archtest

import (
	"fmt"
	"path/filepath"
	"regexp"
)

// goFile matches the name of a Go file, which may be a pattern; one in another folder is an example.
var goFile = regexp.MustCompile(`(?:^|[^\w*/.-])([\w*-]+\.go)\b`)

const staleTour = "a doc.go is the table of contents: who reads it looks for the files that it names"

// CheckTour finds files that doc, the text of the doc.go in dir, names and that are neither in dir nor
// one folder below it.
func CheckTour(dir, doc string) []Violation {
	var found []Violation
	for _, m := range goFile.FindAllStringSubmatch(doc, -1) {
		here, _ := filepath.Glob(filepath.Join(dir, m[1])) // the pattern is a valid one
		below, _ := filepath.Glob(filepath.Join(dir, "*", m[1]))
		if len(here)+len(below) == 0 {
			found = append(found, Violation{fmt.Sprintf("%s speaks of %s, which is not there", filepath.Join(dir, "doc.go"), m[1]), staleTour})
		}
	}
	return found
}
