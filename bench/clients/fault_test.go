package clients

import (
	"fmt"

	"github.com/mulligan-run/mulligan/faultlab"
)

// fault is one way in which the provider fails.
type fault struct {
	name   string // its name in the report
	script string // the lab's; "" = the answer breaks off in the middle of a tool call
	where  where
	step   faultlab.Step // of the script
}

func init() {
	for i, f := range faults {
		steps, err := faultlab.Parse(f.script)
		if err != nil || len(steps) > 1 {
			panic(fmt.Sprint(f.name, ": ", err))
		}
		if len(steps) == 1 {
			faults[i].step = steps[0]
		}
	}
}

// where says which calls of a conversation the fault hits.
type where int

const (
	twice  where = iota // the first call before the tool ran and the first one after it; then the provider is healthy again
	once                // the first call after the tool ran
	before              // the very first call
	down                // all calls after the tool ran, so that only another model can answer
)

// comes reports whether the fault hits the next call.
func (f fault) comes(after bool, played int) bool {
	switch f.where {
	case twice:
		return played == 0
	case once:
		return after && played == 0
	case before:
		return !after && played == 0
	case down:
		return after
	}
	return false
}

// nothing is the conversation without a fault.
var nothing = fault{name: "no fault", script: "answer:unused", where: -1}

// faults are the faults that every client meets. Mulligan can recover from all of them.
var faults = []fault{
	{name: "429, again in 1 s", script: "429:1s", where: twice},
	{name: "429, and it says 0 s (T57)", script: "row:T57", where: twice},
	{name: "429, again in two hours (T58)", script: "row:T58", where: down},
	{name: "429 by a proxy in front, no JSON (T50)", script: "row:T50", where: down},
	{name: "500", script: "500", where: twice},
	{name: "502, a page in HTML (T47)", script: "row:T47", where: twice},
	{name: "503, from then on", script: "503", where: down},
	{name: "529 overloaded, from then on", script: "529", where: down},
	{name: "408 (T45)", script: "row:T45", where: twice},
	{name: "401, the key is revoked", script: "401", where: down},
	{name: "402, no credit left", script: `402:"{\"error\":{\"type\":\"billing_error\",\"message\":\"Your credit balance is too low.\"}}"`, where: down},
	{name: "the connection is reset", script: "refuse", where: twice},
	{name: "200 and no body", script: "empty", where: twice},
	{name: "200, a login page (T13)", script: "row:T13", where: twice},
	{name: "200, an error in JSON (T32)", script: "row:T32", where: twice},
	{name: "200, fewer bytes than announced (T20)", script: "row:T20", where: twice},
	{name: "cut in the middle of an event (T34)", script: "row:T34", where: once},
	{name: "cut in the middle of a sentence", script: `cut:"It is 14 °C and clear in Os"`, where: once},
	{name: "a clean end without the last event (T33)", script: "row:T33", where: once},
	{name: "an event that is no JSON", script: `malformed:"It is 14 °C and clear in Os"`, where: once},
	{name: "overloaded, as an event in the answer", script: `error:"It is 14 °C and clear in Os"`, where: once},
	{name: "cut in the middle of a tool call", script: "", where: before},
	{name: "stalls in the middle of a sentence (T35)", script: "row:T35", where: down},
	{name: "silent, before any header", script: "hang", where: down},
}
