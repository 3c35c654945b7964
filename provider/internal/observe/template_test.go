package observe

import (
	"strings"
	"testing"
)

// TestTemplateWaitsForLittle: what looks like ends without end is told but for the last of it,
// which alone is looked at again with each piece.
func TestTemplateWaitsForLittle(t *testing.T) {
	for _, piece := range []string{"</s>", "</s> ", strings.Repeat("<|eos|>", 1000), "</s>" + strings.Repeat(" ", 1000)} {
		var tokens template
		var said strings.Builder
		for range 1000 {
			said.WriteString(tokens.push(piece))
			if len(tokens.held) > maxEnd {
				t.Fatalf("%d bytes of %.10q wait", len(tokens.held), piece)
			}
		}
		if text := said.String() + tokens.flush(); text != strings.Repeat(piece, 1000) {
			t.Errorf("of %d bytes of %.10q %d came out", 1000*len(piece), piece, len(text))
		}
	}
}
