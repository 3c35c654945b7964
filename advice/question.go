package advice

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// Question is a model call that failed, with everything a decision may depend on.
type Question struct {
	Call         string           `json:"call" minLength:"1" maxLength:"256" doc:"Your name for the model call, another one for each: the same call and attempt are answered alike, however often they are asked about." example:"call-7"`
	Attempt      int              `json:"attempt,omitempty" minimum:"0" maximum:"99" doc:"Which of the call's attempts failed, from 0."`
	Model        string           `json:"model" maxLength:"256" pattern:"^[^/]+/." doc:"That failed, provider/model." example:"anthropic/claude-sonnet-4-5"`
	Tried        []TriedCall      `json:"tried,omitempty" maxItems:"99" doc:"The attempts before this one, in order; those that you asked about need not be there."`
	Alternatives []string         `json:"alternatives,omitempty" maxItems:"32" doc:"Models that you could call instead, in order of preference." example:"[\"openai/gpt-5.2\"]"`
	AutoRecover  *bool            `json:"autoRecover,omitempty" doc:"Whether you act on the decision by yourself, or a person is asked; by default as Mulligan is configured."`
	Failure      Evidence         `json:"failure" doc:"What is known of the failure."`
	PartialShown bool             `json:"partialShown,omitempty" doc:"People have seen a part of the answer, and you cannot withdraw it: nothing is repeated then."`
	Tools        Tools            `json:"tools,omitzero" doc:"Of tools that ran, if going on would run them once more."`
	Budget       *recovery.Budget `json:"budget,omitempty" doc:"What the call may use in all; fields of 0 are unlimited. Plugins are told."`
	Session      string           `json:"session,omitempty" maxLength:"128" doc:"The same as sessionKey."`
	SessionKey   string           `json:"sessionKey,omitempty" maxLength:"128" doc:"What you call the conversation; plugins are told."`
	AgentID      string           `json:"agentId,omitempty" maxLength:"128" doc:"What you call the agent; plugins are told."`

	Aborted       bool   `json:"aborted,omitempty" doc:"You ended the attempt yourself. What a person stopped is no failure: do not ask about it."`
	TimedOut      bool   `json:"timedOut,omitempty" doc:"Time was over."`
	PromptError   string `json:"promptError,omitempty" maxLength:"16384" doc:"Why the prompt failed, where it did."`
	LastAssistant string `json:"lastAssistant,omitempty" maxLength:"65536" doc:"What the model said last, for plugins that were granted it."`
}

// TriedCall is an attempt that failed before.
type TriedCall struct {
	Attempt int            `json:"attempt,omitempty" minimum:"0" maximum:"99"`
	Model   string         `json:"model" maxLength:"256" pattern:"^[^/]+/."`
	Kind    failure.Kind   `json:"kind,omitempty" maxLength:"64" doc:"What it failed by; by default what code stands for."`
	Code    failure.Code   `json:"code,omitempty" maxLength:"64" doc:"The code of its failure." example:"MODEL_PROVIDER_TIMEOUT"`
	At      time.Time      `json:"at,omitzero" doc:"When it began."`
	Millis  failure.Millis `json:"ms,omitempty" minimum:"0" maximum:"604800000" doc:"How long it took."`
}

// Tools says what ran before the failure.
type Tools struct {
	Ran    bool     `json:"ran,omitempty" doc:"Some did."`
	Unsafe []string `json:"unsafe,omitempty" maxItems:"64" doc:"Those of them that must not run twice."`
}

// Outcome says how a call went on.
type Outcome struct {
	Call    string    `json:"call" minLength:"1" maxLength:"256" doc:"As in the question."`
	OK      bool      `json:"ok,omitempty" doc:"There is an answer; else you give up."`
	Failure *Evidence `json:"failure,omitempty" doc:"What it failed by last, where you give up."`
	Model   string    `json:"model,omitempty" maxLength:"256" pattern:"^[^/]+/." doc:"That answered or failed; by default the one that was to be asked."`
}

// FieldError says which field of a question is wrong.
type FieldError struct {
	Field string // as in JSON: "failure.status", "tried[0].model"
	Err   error
}

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap gives what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

func wrong(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// The limits for questions over gRPC; over HTTP the OpenAPI schema has them.
const (
	maxName     = 256 // characters
	maxCaller   = 128
	maxAttempt  = 99
	maxModels   = 32
	maxUnsafe   = 64
	maxBody     = 64 << 10
	maxMessage  = 16 << 10
	maxHeaders  = 64
	maxDuration = failure.Millis(7 * 24 * 3_600_000)
)

// check says what is wrong with a question.
func (q *Question) check() error {
	errs := []error{
		checkText("call", q.Call, 1, maxName), checkModel("model", q.Model), q.Failure.check("failure"),
		checkText("session", q.Session, 0, maxCaller), checkText("sessionKey", q.SessionKey, 0, maxCaller), checkText("agentId", q.AgentID, 0, maxCaller),
		checkText("promptError", q.PromptError, 0, maxMessage), checkText("lastAssistant", q.LastAssistant, 0, maxBody),
	}
	if q.Attempt < 0 || q.Attempt > maxAttempt {
		errs = append(errs, wrong("attempt", "%d is not between 0 and %d", q.Attempt, maxAttempt))
	}
	if len(q.Alternatives) > maxModels {
		errs = append(errs, wrong("alternatives", "there are %d; at most %d are allowed", len(q.Alternatives), maxModels))
	}
	for i, name := range q.Alternatives[:min(len(q.Alternatives), maxModels)] {
		errs = append(errs, checkModel(fmt.Sprintf("alternatives[%d]", i), name))
	}
	if len(q.Tried) > maxAttempt {
		errs = append(errs, wrong("tried", "there are %d; at most %d are allowed", len(q.Tried), maxAttempt))
	}
	for i := range q.Tried[:min(len(q.Tried), maxAttempt)] {
		errs = append(errs, q.Tried[i].check(fmt.Sprintf("tried[%d]", i)))
	}
	if len(q.Tools.Unsafe) > maxUnsafe {
		errs = append(errs, wrong("tools.unsafe", "there are %d; at most %d are allowed", len(q.Tools.Unsafe), maxUnsafe))
	}
	if b := q.Budget; b != nil && (b.Tokens < 0 || b.Microdollars < 0) {
		errs = append(errs, wrong("budget", "it is negative; 0 means no limit"))
	}
	return cmp.Or(errs...)
}

func (t *TriedCall) check(at string) error {
	errs := []error{checkModel(at+".model", t.Model), checkKind(at+".kind", t.Kind)}
	if t.Millis < 0 || t.Millis > maxDuration {
		errs = append(errs, wrong(at+".ms", "%d is not between 0 and %d", t.Millis, maxDuration))
	}
	return cmp.Or(errs...)
}

// check says what is wrong with an outcome.
func (o *Outcome) check() error {
	errs := []error{checkText("call", o.Call, 1, maxName)}
	if o.Model != "" {
		errs = append(errs, checkModel("model", o.Model))
	}
	if o.Failure != nil {
		errs = append(errs, o.Failure.check("failure"))
	}
	return cmp.Or(errs...)
}

func checkModel(field, name string) error {
	entry, model, ok := strings.Cut(name, "/")
	if !ok || entry == "" || model == "" {
		return wrong(field, "it needs the form provider/model")
	}
	return checkText(field, name, 1, maxName)
}

func checkKind(field string, k failure.Kind) error {
	if k == "" || k.Known() {
		return nil
	}
	return wrong(field, "%.64q is not a kind of failure", string(k))
}

func checkText(field, text string, least, most int) error {
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text):
		return wrong(field, "it is not valid UTF-8")
	case n < least:
		return &FieldError{field, errors.New("it is missing")}
	case n > most:
		return wrong(field, "it has %d characters, and may have %d", n, most)
	}
	return nil
}
