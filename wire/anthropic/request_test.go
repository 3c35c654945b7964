package anthropic

import (
	"path/filepath"
	"testing"

	"github.com/mulligan-run/mulligan/internal/golden"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/internal/requests"
)

func TestGolden(t *testing.T) {
	for name, request := range map[string]llm.Request{
		"plain": {Messages: []llm.Message{llm.User("hi")}},
		"full":  requests.Full(requests.Conversation("anthropic/m-1")),
	} {
		request.Model = "anthropic/m-1"
		got, _, err := Encode(wire.Target{Model: "m-1"}, request)
		if err != nil {
			t.Fatal(err)
		}
		golden.JSON(t, filepath.Join("testdata", name+".json"), got)
	}
}
