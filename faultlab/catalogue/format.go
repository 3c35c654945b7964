package catalogue

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the script's section as it is in a file, without the line that names its wires. It is
// empty if nothing is played on a wire.
func (s Script) String() string {
	if s.Wire == "" {
		return ""
	}
	var b strings.Builder
	if s.Status == 0 {
		b.WriteString("raw\n")
	} else {
		fmt.Fprintln(&b, s.Status)
	}
	for _, line := range s.Header {
		fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
	}
	b.WriteString("\n")
	formatActs(&b, s.Acts)
	return b.String()
}

func formatActs(b *strings.Builder, acts []Act) {
	for _, a := range acts {
		switch a.Do {
		case Send:
			formatSent(b, a.Data)
		case Raw:
			fmt.Fprintf(b, "@raw %s\n", strconv.Quote(a.Data))
		case Pause:
			fmt.Fprintf(b, "@pause %s\n", a.For)
		case Big:
			fmt.Fprintf(b, "@big %dMiB\n", a.Size>>20)
		case Repeat:
			b.WriteString(strings.TrimSuffix("@repeat "+strconv.Itoa(a.Times), " 0") + "\n")
			formatActs(b, a.Acts)
			b.WriteString("@again\n")
		case Hang:
			b.WriteString("@hang\n")
		case Reset:
			b.WriteString("@reset\n")
		case Cut:
			b.WriteString("@cut\n")
		}
	}
}

// formatSent writes lines as they are, unless they could be misread.
func formatSent(b *strings.Builder, data string) {
	for line := range strings.Lines(data) {
		text, whole := strings.CutSuffix(line, "\n")
		if whole && !strings.HasPrefix(line, "@") && !strings.HasPrefix(line, sectionMark) && isPlain(text) {
			b.WriteString(line)
			continue
		}
		fmt.Fprintf(b, "@send %s\n", strconv.Quote(line))
	}
}

func isPlain(text string) bool {
	for _, r := range text {
		if r != '\t' && !strconv.IsPrint(r) || r == '�' {
			return false
		}
	}
	return true
}
