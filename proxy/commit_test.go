package proxy

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
)

// heardOf draws what an attempt may say, in any order but for its end, after which nothing comes.
func heardOf(t *rapid.T) []llm.Delta {
	said := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Delta {
		kind := rapid.SampledFrom([]llm.DeltaKind{
			llm.DeltaPing, llm.DeltaStart, llm.DeltaFrame, llm.DeltaText, llm.DeltaThinking, llm.DeltaCall, llm.DeltaArgs, llm.DeltaUsage,
		}).Draw(t, "kind")
		d := llm.Delta{Kind: kind, Text: rapid.SampledFrom([]string{"", "a", "b c"}).Draw(t, "text")}
		if kind == llm.DeltaFrame || kind != llm.DeltaPing && rapid.Bool().Draw(t, "framed") {
			d.Frame = &llm.Frame{Data: []byte("data: " + rapid.StringN(1, 3, 3).Draw(t, "frame") + "\n\n")}
		}
		if d.Text != "" && rapid.Bool().Draw(t, "joined") {
			d.Ends = []int{1, len(d.Text)}
		}
		return d
	}), 0, 12).Draw(t, "heard")
	if rapid.Bool().Draw(t, "ends") {
		said = append(said, llm.Delta{Kind: llm.DeltaStop})
	}
	return said
}

// kinds are what deltas are, and what they say.
func kinds(deltas []llm.Delta) (list []string) {
	for _, d := range deltas {
		frame := ""
		if d.Frame != nil {
			frame = string(d.Frame.Data)
		}
		list = append(list, fmt.Sprint(d.Kind, d.Text, frame, d.Ends))
	}
	return list
}

// lent is d with a frame and ends that last only until over is called.
func lent(d llm.Delta) (copied llm.Delta, over func()) {
	var frame llm.Frame
	ends := slices.Clone(d.Ends)
	if d.Ends = ends; d.Frame != nil {
		frame.Data = slices.Clone(d.Frame.Data)
		d.Frame = &frame
	}
	return d, func() {
		clear(frame.Data)
		frame.Data = nil
		clear(ends)
	}
}

// TestI53Commit: of every attempt the caller gets what was heard, in its order, each once; what
// it does not have yet is held; and of an attempt that is over it gets no more.
func TestI53Commit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]Mode{ModeContinue, ModeHold, ModeError}).Draw(t, "mode")
		c := commit{mode: mode}
		for attempt := uint64(1); attempt <= 3; attempt++ {
			c.began(attempt, "p/m")
			var got, want []string
			for _, d := range heardOf(t) {
				heard, over := lent(d)
				out, ok := c.heard(attempt, heard)
				if !ok {
					t.Fatalf("attempt %d is not heard", attempt)
				}
				got = append(got, kinds(out)...)
				over()
				if d.Frame != nil {
					want = append(want, kinds([]llm.Delta{{Kind: llm.DeltaFrame, Frame: d.Frame}})...)
				}
				if d.Frame = nil; d.Kind != llm.DeltaFrame && d.Kind != llm.DeltaPing {
					want = append(want, kinds([]llm.Delta{d})...)
				}
				if mode == ModeHold && len(got) > 0 {
					t.Fatalf("shown before it was whole: %v", got)
				}
				if seen := append(slices.Clone(got), kinds(c.held)...); !slices.Equal(seen, want) {
					t.Fatalf("seen and held: %v, heard: %v", seen, want)
				}
				if stopped := slices.ContainsFunc(out, func(d llm.Delta) bool { return d.Kind == llm.DeltaStop }); stopped {
					t.Fatal("the end is shown before somebody found that it is an answer")
				}
			}
			shown := c.shown
			if over := rapid.Bool().Draw(t, "answered"); over {
				if got = append(got, kinds(c.whole())...); !slices.Equal(got, want) {
					t.Fatalf("the answer is %v, heard: %v", got, want)
				}
			} else if said := c.seal(attempt); said != shown {
				t.Fatalf("the caller has %v of it, and is said to have %v", shown, said)
			}
			if _, ok := c.heard(attempt, llm.Delta{Kind: llm.DeltaText, Text: "late"}); ok {
				t.Fatal("an attempt that is over says more")
			}
			if c.shown != recovery.ShownNothing {
				return // what follows goes on from there, or nothing does
			}
		}
	})
}

// TestAskedOtherwise: an attempt whose provider refused how it was asked begins once more, and what
// it says then is its answer.
func TestAskedOtherwise(t *testing.T) {
	refusal := llm.Delta{Kind: llm.DeltaFrame, Frame: &llm.Frame{Status: 400, Data: []byte("no")}}
	for name, again := range map[string]func(*commit, uint64, string){"anew": (*commit).began, "going on": (*commit).goesOn} {
		c := commit{mode: ModeHold}
		again(&c, 1, "p/m")
		c.heard(1, refusal)
		again(&c, 1, "p/m")
		if _, ok := c.heard(1, llm.Delta{Kind: llm.DeltaText, Text: "a"}); !ok {
			t.Fatalf("%s: it is not heard", name)
		}
		if out := c.whole(); len(out) != 1 || out[0].Text != "a" || c.attempts != 1 {
			t.Errorf("%s: %v after %d attempts", name, kinds(out), c.attempts)
		}
	}
}

// TestGivenStays: what an attempt was given stays as it is although the next one is heard, since
// its caller may still be reading it.
func TestGivenStays(t *testing.T) {
	text := func(text string) llm.Delta { return llm.Delta{Kind: llm.DeltaText, Text: text} }
	for name, next := range map[string]func(*commit, uint64, string){"anew": (*commit).began, "going on": (*commit).goesOn} {
		c := commit{mode: ModeContinue}
		c.began(1, "p/m")
		c.heard(1, text("a"))
		out, _ := c.heard(1, text("b"))
		next(&c, 2, "p/n")
		for _, word := range []string{"c", "d", "e"} {
			c.heard(2, text(word))
		}
		if len(out) != 1 || out[0].Text != "b" {
			t.Errorf("%s: %v", name, kinds(out))
		}
	}
}

// TestUsageIsTheSum: what attempts cost that were not shown is the caller's, too.
func TestUsageIsTheSum(t *testing.T) {
	c := commit{mode: ModeContinue}
	c.began(1, "p/m")
	c.heard(1, llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 3, OutputTokens: 1}})
	c.began(2, "p/n")
	c.heard(2, llm.Delta{Kind: llm.DeltaUsage, Usage: llm.Usage{InputTokens: 5, OutputTokens: 2}})
	out := c.whole()
	if len(out) != 1 || out[0].Usage != (llm.Usage{InputTokens: 8, OutputTokens: 3}) {
		t.Errorf("%+v", out)
	}
}
