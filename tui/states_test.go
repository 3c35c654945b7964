package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// states are the rows of the table of states that every client draws, with what brings
// each about.
var states = map[string]func(*scene){
	"thinking": func(s *scene) {
		s.begins(nil)
	},
	"thinking_5s": func(s *scene) {
		s.begins(nil)
		s.after(5 * time.Second)
	},
	"slow": func(s *scene) {
		s.begins(nil)
		s.after(12 * time.Second)
	},
	"slow_retry": func(s *scene) {
		s.begins(nil)
		s.after(20 * time.Second)
	},
	"slow_again": func(s *scene) {
		s.begins(nil)
		s.cutsShort("a1")
		s.after(25 * time.Second)
	},
	"cut_short": func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.cutsShort("a2")
	},
	"streaming": func(s *scene) {
		s.begins(nil)
		s.says("A *mulligan* is a **second shot**.\n\nIt is tak")
	},
	"tool": func(s *scene) {
		s.uses("run_tests")
		s.after(42 * time.Second)
	},
	"tool_failed": func(s *scene) {
		s.uses("run_tests")
		s.after(1200 * time.Millisecond)
		s.happens(recovery.ToolReturned{
			CallID: "c1", Outcome: recovery.OutcomeError, Elapsed: 1200,
			Result: llm.ToolResult{CallID: "c1", Name: "run_tests", Text: "exit status 1", IsError: true},
		})
		s.goesOn()
	},
	"quiet_retry": func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindOverloaded, nil)
		s.decides(recovery.Decision{Action: recovery.ActionRetry, Delay: 1000})
	},
	"retry_wait": func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
	},
	"retrying": func(s *scene) {
		s.retried(failure.KindOverloaded)
	},
	"switching": func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindOverloaded, nil)
		s.decides(recovery.Decision{Action: recovery.ActionSwitchModel, NewModel: "openai/gpt"})
	},
	"wait_reset": func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindQuota, func(f *failure.Failure) { f.ResetsAt = began.Add(6 * time.Hour) })
		s.decides(recovery.Decision{Action: recovery.ActionRetry, Delay: failure.InMillis(6 * time.Hour)})
	},
	"offline": func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindUnreachable, nil)
		s.chat.last().view.State.Open.Offline = true
		s.state.Open.Offline = true
		s.decides(recovery.Decision{Action: recovery.ActionRetry, Delay: 1000})
	},
	"store": func(s *scene) {
		s.begins(nil)
		s.happens(recovery.Paused{Reason: "no space left on device"})
	},
	"suggestion": func(s *scene) {
		s.asked(failure.KindOverloaded)
	},
	"suggestion_key": func(s *scene) {
		s.asked(failure.KindAuth)
	},
	"partial": func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.says("A mulligan is a second shot that")
		s.fails(failure.KindStreamInterrupted, nil)
		s.decides(retry)
	},
	"chosen": func(s *scene) {
		s.asked(failure.KindOverloaded)
		s.happens(recovery.Accepted{Suggestion: s.state.Suggestion.ID, Action: recovery.ButtonSwitchModel})
		s.goesOn()
	},
	"recovered": func(s *scene) {
		s.retried(failure.KindOverloaded)
		s.answers("A second shot.")
		s.happens(recovery.Ended{Status: recovery.StatusCompleted})
	},
	"details": func(s *scene) {
		s.retried(failure.KindOverloaded)
		s.answers("A second shot.")
		s.happens(recovery.Ended{Status: recovery.StatusCompleted})
		s.sends("/details")
	},
	"failed": func(s *scene) {
		s.begins(nil)
		s.fails(failure.KindUnavailable, func(f *failure.Failure) { f.HTTPStatus, f.Detail = 503, `{"error":"try later"}` })
		s.decides(recovery.Decision{Action: recovery.ActionFail})
		s.goesOn() // it ends
	},
	"stopped": func(s *scene) {
		s.begins(nil)
		s.says("A mulligan is")
		s.happens(recovery.CancelRequested{}, recovery.Ended{Status: recovery.StatusCancelled})
	},
	"tool_stopped": func(s *scene) {
		s.begins(nil)
		s.uses("run_tests")
		s.happens(recovery.CancelRequested{}, recovery.Ended{Status: recovery.StatusCancelled})
		s.after(time.Minute)
	},
	"expired": func(s *scene) {
		s.asked(failure.KindOverloaded)
		s.after(25 * time.Hour)
		s.happens(recovery.Due{Timer: failure.TimerExpiry, Failure: s.state.Open.Seq})
		s.goesOn()
	},
	"expired_unclosed": func(s *scene) { // nobody has written it down yet
		s.asked(failure.KindOverloaded)
		s.after(25 * time.Hour)
	},
	"superseded": func(s *scene) {
		s.asked(failure.KindOverloaded)
		end, _ := s.state.Supersede()
		s.happens(end)
	},
	"help": func(s *scene) {
		s.sends("/help")
	},
}

func (s *scene) asked(kind failure.Kind) {
	s.Helper()
	s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
	s.fails(kind, func(f *failure.Failure) { f.HTTPStatus = 529 })
	s.decides(retry)
}

// cutsShort lets a person end a call that is slow by an action.
func (s *scene) cutsShort(action string) {
	s.Helper()
	s.after(20 * time.Second)
	id, _ := s.state.CutShort()
	s.happens(s.state.Answering(recovery.Accepted{Suggestion: id, Action: action}, s.now)...)
	s.goesOn()
}

func (s *scene) retried(kind failure.Kind) {
	s.Helper()
	s.begins(nil)
	s.fails(kind, func(f *failure.Failure) { f.HTTPStatus, f.Detail = 529, `{"type":"overloaded_error"}` })
	s.decides(retry)
	s.after(4 * time.Second)
	s.happens(recovery.Due{Timer: failure.TimerWait, Failure: s.state.Open.Seq})
	s.goesOn()
}

func (s *scene) uses(tool string) {
	s.Helper()
	s.begins(nil)
	a := s.state.Attempt
	call := llm.ToolCall{ID: "c1", Name: tool, Args: []byte("{}")}
	s.happens(recovery.Answered{
		Attempt: a.ID, Stop: llm.StopToolUse,
		Message: llm.Message{Role: llm.RoleAssistant, Model: a.Model, Parts: []llm.Part{{Text: "Let me see."}, {Call: &call}}},
	})
	s.happens(recovery.ToolBegan{CallID: "c1", Name: tool})
}

// TestStates compares every state with its golden frame, in a usual terminal and in a
// narrow one.
func TestStates(t *testing.T) {
	for name, bring := range states {
		for _, columns := range []int{80, 40} {
			t.Run(fmt.Sprintf("%s_%d", name, columns), func(t *testing.T) {
				play(t, columns, 24, func(s *scene) {
					bring(s)
					s.shows(fmt.Sprintf("%s_%d", name, columns))
				})
			})
		}
	}
}

// TestNothingShownTwice: what a failed attempt had said is withdrawn, and with it that it
// had recovered.
func TestNothingShownTwice(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.retried(failure.KindOverloaded)
		s.says("A mulligan is a second")
		s.has("Recovered after 1 retry")
		s.fails(failure.KindStreamInterrupted, nil)
		s.lacks("Recovered")
		s.decides(recovery.Decision{Action: recovery.ActionRetry})
		s.lacks("A mulligan is a second")
		s.answers("A mulligan is a second shot.")
		s.has("Recovered after 2 retries")
		if n := strings.Count(s.screen(), "A mulligan is a second"); n != 1 {
			s.Errorf("it is shown %d times:\n%s", n, s.screen())
		}
	})
}

// TestASmallCardSaysWhatFailed: where there is room for a single line, it is the title.
func TestASmallCardSaysWhatFailed(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(func(p *recovery.Policy) { p.AutoRecover = false })
		s.fails(failure.KindOverloaded, nil)
		s.decides(retry)
		for height := 24; height >= 8; height-- {
			s.feeds(tea.WindowSizeMsg{Width: 40, Height: height})
			s.has("● Anthropic is overloaded")
			s.has("[1] Retry")
		}
	})
}

// TestScrollStays: what is read does not move when more comes.
func TestScrollStays(t *testing.T) {
	play(t, 40, 12, func(s *scene) {
		s.begins(nil)
		for i := range 40 {
			s.says(fmt.Sprintf("line %d\n\n", i))
		}
		s.feeds(tea.KeyPressMsg{Code: tea.KeyPgUp})
		before := s.screen()
		for i := range 10 {
			s.says(fmt.Sprintf("more %d\n\n", i))
		}
		if after := s.screen(); after != before {
			s.Errorf("from\n%s\nto\n%s", before, after)
		}
		s.feeds(tea.KeyPressMsg{Code: tea.KeyEnd, Mod: tea.ModCtrl})
		s.has("more 9")
	})
}

// TestSizes: no size breaks a frame, in any state.
func TestSizes(t *testing.T) {
	for name, bring := range states {
		t.Run(name, func(t *testing.T) {
			play(t, 80, 24, func(s *scene) {
				bring(s)
				for _, size := range [][2]int{{200, 60}, {40, 12}, {24, 8}, {1, 1}, {80, 24}} {
					s.feeds(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					rows := strings.Split(s.screen(), "\n")
					if len(rows) != s.chat.height {
						s.Errorf("%v: %d lines", size, len(rows))
					}
					for _, row := range rows {
						if width(row) > s.chat.width {
							s.Errorf("%v: %q", size, row)
						}
					}
				}
			})
		})
	}
}

// TestHistory: the runs that a session had are shown before what is sent now.
func TestHistory(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.feeds(historyMsg{session: client.Session{Runs: []client.Listed{{ID: "r9", Title: "second"}, {ID: "r8", Title: "first"}}}})
		screen := s.screen()
		if one, two := strings.Index(screen, "❯ first"), strings.Index(screen, "❯ second"); one < 0 || two < one {
			s.Errorf("the history:\n%s", screen)
		}
	})
}

// TestASessionIsGoneOnWith: what its next message starts with is shown, and that there is
// more of it than is.
func TestASessionIsGoneOnWith(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		on := true
		session := client.Session{Defaults: client.Defaults{Model: "openai/gpt", AutoRecover: &on}}
		for i := range maxHistory + 1 {
			session.Runs = append(session.Runs, client.Listed{ID: fmt.Sprintf("r%d", 100-i), Title: fmt.Sprintf("message %d", 100-i)})
		}
		s.feeds(historyMsg{session: session})
		s.has("openai/gpt · auto-recover on")
		s.has("message 100")
		s.chat.scrollBy(1000)
		s.has("Only the last 20 messages are shown here.")
		if screen := s.screen(); !strings.Contains(screen, "message 81") || strings.Contains(screen, "message 80") {
			s.Errorf("the history:\n%s", screen)
		}
	})
}

// TestAway: a gateway that does not answer is told, and that it is back is seen.
func TestAway(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		s.chat.cfg.Link = &Link{}
		s.chat.cfg.Link.down.Store(true)
		s.has("The gateway does not answer. Trying again…")
		s.chat.complain(errors.New("dial tcp 127.0.0.1:8484: connect: connection refused"))
		s.lacks("dial tcp")
		s.chat.cfg.Link.down.Store(false)
		s.feeds(itemsMsg{turn: s.chat.last()})
		s.has("Thinking…")
		s.lacks("does not answer")
	})
}

// TestACutAnswerIsShownUntilTheOtherHasText: and again where that one breaks off.
func TestACutAnswerIsShownUntilTheOtherHasText(t *testing.T) {
	for name, end := range map[string]struct {
		end     func(*scene)
		has, no string
	}{
		"it is answered":   {func(s *scene) { s.answers("The moon is far away.") }, "The moon is far away.", "The moon is a "},
		"it fails":         {func(s *scene) { s.fails(failure.KindOverloaded, nil) }, "The moon is a", "The moon is far"},
		"it is stopped":    {func(s *scene) { s.happens(recovery.CancelRequested{}); s.goesOn() }, "The moon is a", "The moon is far"},
		"the time is over": {func(s *scene) { s.happens(recovery.Due{Timer: failure.TimerMaxTurn}); s.goesOn() }, "The moon is a", "The moon is far"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 80, 24, func(s *scene) {
				s.begins(nil)
				a := s.state.Attempt
				s.happens(recovery.Answered{
					Attempt: a.ID, Stop: llm.StopLength,
					Message: llm.Message{Role: llm.RoleAssistant, Model: a.Model, Parts: []llm.Part{{Text: "The moon is a"}}},
				})
				s.goesOn()
				s.has("The moon is a")
				s.says("The moon is far")
				s.has("The moon is far")
				s.lacks("The moon is a")
				end.end(s)
				s.has(end.has)
				s.lacks(end.no)
				if n := strings.Count(s.screen(), "The moon is"); n != 1 {
					s.Errorf("it is shown %d times:\n%s", n, s.screen())
				}
			})
		})
	}
}

// TestALongNoticeFits: what is said above the composer leaves the composer on the screen, however
// small the terminal and however long both are.
func TestALongNoticeFits(t *testing.T) {
	play(t, 80, 24, func(s *scene) {
		s.begins(nil)
		for _, draft := range []string{"hi", strings.Repeat("a line\n", 9)} {
			for _, size := range [][2]int{{24, 8}, {40, 9}, {40, 14}} {
				s.feeds(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				s.chat.compose(draft)
				s.chat.complain(errors.New("the gateway refuses this: " + strings.Repeat("with many words ", 40)))
				rows := strings.Split(s.screen(), "\n")
				if len(rows) != size[1] {
					s.Errorf("%v:\n%s", size, strings.Join(rows, "\n"))
				}
				s.has("❯ ")
				s.has("Esc stops")
				s.has("The gateway refuses")
				s.has("…")
			}
		}
	})
}
