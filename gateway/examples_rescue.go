package gateway

import (
	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/recovery/rescue"
)

// exampleRescue is the examples' run after it completed.
func exampleRescue() rescue.Rescue {
	by := *exampleSuggestion.DecidedBy
	f := exampleFailure
	return rescue.Rescue{
		Run: exampleRun, Session: "golf", Title: examplePrompt, Headline: "Rescued in 1 s: 1 switch", Status: recovery.StatusCompleted, Auto: true,
		Chosen: exampleModel, Model: exampleOther, Plugins: []string{by.Plugin}, StartedAt: exampleTime, UpdatedAt: exampleListed.UpdatedAt, Over: true, Seq: 9,
		Figures: rescue.Figures{Took: 1900, Rescue: 1400, Attempts: 2, Failed: 1, Failures: 1, Switches: 1, Used: recovery.Budget{Tokens: 210}},
		Spans: []rescue.Span{
			{
				Kind: rescue.KindAttempt, State: rescue.StateFailed, Label: exampleModel, Detail: f.Title, Model: exampleModel, To: 412, Seq: 3, EndSeq: 4,
				Attempt: &rescue.SpanAttempt{ID: 1, Round: 1, Messages: 1, Bytes: len(examplePrompt)},
				Failure: &rescue.SpanFailure{
					Failure: f, Confidence: 99, Evidence: []failure.Clue{{Source: failure.ClueStatus, Value: "529", Decided: true}},
					Votes: []rescue.CastVote{{Won: true, Vote: recovery.Vote{
						Plugin: by.Plugin, Version: by.Version, Latency: by.Millis, Action: recovery.ActionSwitchModel, NewModel: exampleOther, Reason: by.Reason,
					}}},
					Decision: &recovery.Decision{Action: recovery.ActionSwitchModel, NewModel: exampleOther, Reason: by.Reason, By: &by},
					Decided:  "Switch to " + exampleOther + ", by auto-recover: " + by.Reason + ".",
				},
			},
			{
				Kind: rescue.KindAttempt, State: rescue.StateOK, Label: exampleOther, Detail: "answered", Model: exampleOther, From: 420, To: 1900, Seq: 7, EndSeq: 8,
				Attempt: &rescue.SpanAttempt{ID: 2, Round: 1, Try: 1, Switched: true, Messages: 1, Bytes: len(examplePrompt)},
			},
		},
		Asked: rescue.Sent{Messages: []rescue.SentMessage{{Role: "user", Text: examplePrompt, Bytes: len(examplePrompt)}}},
	}
}

// exampleWhatIf is that run, as if it had asked a person first.
func exampleWhatIf() rescue.WhatIf {
	off, f := false, exampleFailure
	then := rescue.Course{Action: recovery.ActionSwitchModel, NewModel: exampleOther, By: "auto-recover", Acts: true, Text: "Switch to " + exampleOther + ", by auto-recover."}
	now := then
	now.Acts, now.Text = false, then.Text+" Only offered: it asks first."
	return rescue.WhatIf{Run: exampleRun, Change: rescue.Change{AutoRecover: &off}, Different: 1, Failures: []rescue.Judged{
		{Seq: 4, At: 412, Model: exampleModel, Kind: f.Kind, Title: f.Title, Then: then, Now: now, Different: true},
	}}
}
