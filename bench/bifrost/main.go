// Command bifrost makes the call of bench's BenchmarkStream through the core of Bifrost. It is a
// module of its own, so that the core's dependencies are in no other go.mod.
//
//	bifrost http://127.0.0.1:1234 MODEL TEXT
//
// It prints "ready". For each line of its standard input it makes as many calls as the line says,
// and prints one line of JSON: how long each call took, in nanoseconds, the processor time of this
// process for all of them, and how many objects they allocated. Each call must return TEXT. It ends
// with its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/schemas"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bifrost:", err)
		os.Exit(1)
	}
}

// account is one provider, with one key, at one address.
type account struct{ url string }

// GetConfiguredProviders implements schemas.Account.
func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

// GetKeysForProvider implements schemas.Account.
func (account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{ID: "bench", Name: "bench", Value: *schemas.NewEnvVar("sk-bench"), Models: schemas.WhiteList{"*"}, Weight: 1}}, nil
}

// GetConfigForProvider implements schemas.Account.
func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	return &schemas.ProviderConfig{
		NetworkConfig:            schemas.NetworkConfig{BaseURL: a.url, DefaultRequestTimeoutInSeconds: 60},
		ConcurrencyAndBufferSize: schemas.DefaultConcurrencyAndBufferSize,
	}, nil
}

// spent is the cost of a number of calls.
type spent struct {
	Spans  []time.Duration `json:"spans"`
	CPU    time.Duration   `json:"cpu"`
	Allocs uint64          `json:"allocs"`
}

func run(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("usage: bifrost URL MODEL TEXT")
	}
	core, err := bifrost.Init(ctx, schemas.BifrostConfig{
		Account: account{args[0]}, Logger: bifrost.NewDefaultLogger(schemas.LogLevelError),
	})
	if err != nil {
		return err
	}
	defer core.Shutdown()
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			return err
		}
		var s spent
		before, used := allocations(), processorTime()
		for range n {
			began := time.Now()
			text, err := ask(ctx, core, args[1])
			if err == nil && text != args[2] {
				err = fmt.Errorf("the answer is %q", text)
			}
			if err != nil {
				return err
			}
			s.Spans = append(s.Spans, time.Since(began))
		}
		s.CPU, s.Allocs = processorTime()-used, allocations()-before
		if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
			return err
		}
	}
	return nil
}

// ask returns the text of a streamed answer.
func ask(ctx context.Context, core *bifrost.Bifrost, model string) (string, error) {
	prompt := "hi"
	within, cancel := schemas.NewBifrostContextWithTimeout(ctx, time.Minute)
	defer cancel()
	stream, failed := core.ChatCompletionStreamRequest(within, &schemas.BifrostChatRequest{
		Provider: schemas.OpenAI, Model: model,
		Input: []schemas.ChatMessage{{Role: schemas.ChatMessageRoleUser, Content: &schemas.ChatMessageContent{ContentStr: &prompt}}},
	})
	if failed != nil {
		return "", said(failed)
	}
	var text strings.Builder
	for chunk := range stream {
		if chunk.BifrostError != nil {
			return "", said(chunk.BifrostError)
		}
		if chunk.BifrostChatResponse == nil {
			continue
		}
		for _, choice := range chunk.BifrostChatResponse.Choices {
			if s := choice.ChatStreamResponseChoice; s != nil && s.Delta != nil && s.Delta.Content != nil {
				text.WriteString(*s.Delta.Content)
			}
		}
	}
	return text.String(), nil
}

func said(failed *schemas.BifrostError) error {
	if failed.Error == nil {
		return errors.New("bifrost names no error")
	}
	return errors.New(failed.Error.Message)
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
