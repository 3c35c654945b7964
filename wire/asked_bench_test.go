package wire_test

import (
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/requests"
)

// BenchmarkDecode reads requests of a conversation that has gone on for a while, 100 KiB and more.
func BenchmarkDecode(b *testing.B) {
	var messages []llm.Message
	for range 40 {
		messages = append(messages, requests.Conversation("p/m")...)
		messages = append(messages, llm.User(strings.Repeat("Some more of what there is to say.\n", 70)))
	}
	for name, a := range everyAsking() {
		data, _, err := a.encode(wire.Target{Model: a.model}, requests.Full(messages))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := a.decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/model", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := wire.WithModel(data, "other"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
