package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// commander obeys commands.
type commander struct {
	config config
	meeting
}

// do carries one command out; rest is what follows its first word.
func (c *commander) do(ctx context.Context, e plugin.Event, verb, rest string) (plugin.Decision, error) {
	switch verb {
	case "", "none":
		return plugin.None, nil
	case "retry":
		after, err := seconds(rest)
		return plugin.Retry(after), err
	case "switch":
		return plugin.Switch(rest, ""), nil
	case "contract":
		return plugin.Decision{Action: "switch", NewModel: rest}, nil
	case "fail":
		return plugin.Fail(""), nil
	case "nonsense":
		return plugin.Decision{Action: "nonsense"}, nil
	case "actions":
		return buttons(), nil
	case "adjust":
		return adjust(rest)
	case "restrict":
		return restrict(rest)
	case "say":
		value, err := say(e, rest)
		return plugin.Fail(value), err
	case "count":
		n, err := count(e, rest)
		return plugin.Fail(strconv.Itoa(n)), err
	case "config":
		return plugin.Fail(c.config.Greeting), nil
	case "values":
		return playValues(ctx, rest)
	case "state":
		return plugin.Fail(filepath.Base(plugin.StateDir())), nil
	}
	return plugin.None, c.act(ctx, verb, rest)
}

// act carries out a command that has an effect and no opinion.
func (c *commander) act(ctx context.Context, verb, rest string) error {
	switch verb {
	case "print":
		fmt.Println(rest)
	case "flood":
		n, err := strconv.Atoi(rest)
		fmt.Println(strings.Repeat("x", n))
		return err
	case "log":
		plugin.Log(ctx).Info(rest)
	case "raise":
		return errors.New(rest)
	case "panic":
		panic(rest)
	case "sleep":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	case "meet":
		n, err := strconv.Atoi(rest)
		c.meet(ctx, n)
		return err
	default:
		return fmt.Errorf("unknown command %q", verb)
	}
	return nil
}

func seconds(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text + "s")
}

func buttons() plugin.Decision {
	d := plugin.Retry(0)
	d.Actions = []recovery.Button{
		{Kind: recovery.ButtonEdit, Label: "Edit the message", Effect: recovery.EffectClient},
		{Kind: recovery.ButtonSwitchModel, Label: "Use GPT", Effect: recovery.EffectRunner, Model: "openai/gpt-5.2", Primary: true},
		{Kind: "status", Label: "See the status", Effect: recovery.EffectClient, URL: "https://status.example.com/?q=a&b=c#now"},
	}
	return d
}

func adjust(pairs string) (plugin.Decision, error) {
	d := plugin.Retry(0)
	var err error
	for pair := range strings.FieldsSeq(pairs) {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "compact":
			d.Adjust.Compact, err = strconv.ParseBool(value)
		case "continue":
			d.Adjust.Continue, err = strconv.ParseBool(value)
		case "max_output_tokens":
			d.Adjust.MaxOutputTokens, err = strconv.Atoi(value)
		case "reasoning_effort":
			d.Adjust.ReasoningEffort = value
		default:
			err = fmt.Errorf("unknown adjustment %q", key)
		}
		if err != nil {
			return plugin.None, err
		}
	}
	return d, nil
}

func restrict(pairs string) (plugin.Decision, error) {
	var what recovery.Restrict
	var err error
	for pair := range strings.FieldsSeq(pairs) {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "never":
			what.Never = strings.Split(value, ",")
		case "max_output_price":
			what.MaxOutputPrice, err = strconv.ParseInt(value, 10, 64)
		case "local":
			what.Local, err = strconv.ParseBool(value)
		default:
			err = fmt.Errorf("unknown restriction %q", key)
		}
		if err != nil {
			return plugin.None, err
		}
	}
	return plugin.Forbid(what, ""), nil
}
