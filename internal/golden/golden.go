package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// JSON compares a document, written out on many lines, with a file.
func JSON(t *testing.T, file string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	if *rewrite {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(want, pretty.Bytes()) {
		t.Errorf("%s: %v\n%s", file, err, pretty.Bytes())
	}
}
