package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTours(t *testing.T) {
	tours := 0
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"node_modules", "target", "testdata"}, entry.Name())):
			return filepath.SkipDir
		case entry.Name() != "doc.go":
			return nil
		}
		doc, err := os.ReadFile(name)
		report(t, CheckTour(filepath.Dir(name), string(doc)))
		tours++
		return err
	})
	if err != nil || tours < 70 {
		t.Errorf("%d tours were looked at: %v", tours, err)
	}
}

func TestCheckTour(t *testing.T) {
	for doc, want := range map[string]string{
		"// tour.go and check.go, sizes are size*.go": "",
		"// --- a/hooks/occasion.go":                  "",
		"//\tgone.go  what is not there":              "gone.go",
		"// which gone_*.go have":                     "gone_*.go",
	} {
		found := CheckTour(".", doc)
		if (want != "") != (len(found) == 1) || want != "" && !strings.Contains(found[0].What, "speaks of "+want+",") {
			t.Errorf("%s: %v, not %q", doc, found, want)
		}
	}
}
