package pi

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCumulative reads an update of an old Pi, which repeats a message of 16 KiB twice.
func BenchmarkCumulative(b *testing.B) {
	message := fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}]}`, strings.Repeat("sixteen letters\n", 1<<10))
	update := fmt.Appendf(nil, `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"x","partial":%s},"message":%s}`, message, message)
	b.SetBytes(int64(len(update)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := readLine(update)
		if err != nil {
			b.Fatal(err)
		}
		if e, err := l.event(); err != nil || e.kind != says {
			b.Fatal(e, err)
		}
	}
}
