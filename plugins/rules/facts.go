package rules

import (
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// Facts are what conditions and reasons may refer to, by the names in the yaml tags;
// docs/rules.md is generated from the doc tags. The provider's own words are left out,
// because a policy that depends on wording breaks with the provider's next release.
type Facts struct {
	Failure      Failure       `yaml:"failure" doc:"what went wrong, see below"`
	Model        string        `yaml:"model" doc:"the model that failed, for example anthropic/claude-sonnet-4-5"`
	Attempt      int           `yaml:"attempt" doc:"the attempt that failed, within one model call, from 0; a switch does not reset it"`
	Retries      int           `yaml:"retries" doc:"retries of this model call so far"`
	MaxRetries   int           `yaml:"max_retries" doc:"retries that the run's policy allows for one model call"`
	AutoRecover  bool          `yaml:"auto_recover" doc:"whether the decision is acted on, or offered to a person"`
	Elapsed      time.Duration `yaml:"elapsed" doc:"since the run began, deliberate long waits left out"`
	Remaining    Remaining     `yaml:"remaining" doc:"what is left to the run, see below"`
	Alternatives []Alternative `yaml:"alternatives" doc:"the models that may be switched to now, in the run's order, see below"`
	Tried        []Tried       `yaml:"tried" doc:"the failed attempts of this model call, this one included, the oldest first, see below"`
	ReplaySafety string        `yaml:"replay_safety" doc:"whether the attempt may be repeated: safe; unsafe, a tool that must not run twice is in the air; unknown, one was when the program stopped"`
	UnsafeTools  []string      `yaml:"unsafe_tools" doc:"the tools that make it so"`
	PartialShown bool          `yaml:"partial_shown" doc:"text of the failed attempt was seen by people"`
	IdleBreaker  bool          `yaml:"idle_breaker" doc:"the model kept silent too often in a row: nothing is retried by itself"`
	IdleExpiries int           `yaml:"idle_expiries" doc:"how often it kept silent in a row, without a finished step"`

	At          time.Time         `yaml:"at" doc:"when the attempt ended, or the call is about to begin; of a replayed failure, when it did"`
	Labels      map[string]string `yaml:"labels" doc:"the words by which the run can be listed, for example labels[\"team\"]; ask \"team\" in labels first"`
	SessionKey  string            `yaml:"session_key" doc:"what the caller itself calls its conversation"`
	AgentID     string            `yaml:"agent_id" doc:"what the caller itself calls its agent"`
	Spent       Spent             `yaml:"spent" doc:"what the run has used so far, see below"`
	InputTokens int64             `yaml:"input_tokens" doc:"what is sent, in tokens, about"`
	Tools       []string          `yaml:"tools" doc:"the tools that the model may use"`
	Images      bool              `yaml:"images" doc:"there are pictures in the conversation"`
	Schema      bool              `yaml:"schema" doc:"the answer has to keep to a JSON schema"`
	Round       int               `yaml:"round" doc:"of before_call: which model call of the run it is, from 1; else 0"`
	FailedKinds []string          `yaml:"failed_kinds" doc:"what failed in the run so far, this failure included: the kind of each attempt, in order"`
	RecentKinds []string          `yaml:"recent_kinds" doc:"how the last calls of the model's entry ended, of all runs, the newest last: a kind, or empty where it was answered"`
	Counts      map[string]int    `yaml:"counts" doc:"what the counters of the file have counted, for example counts.failures"`
}

// Failure is the part of a failure that a rule may depend on.
type Failure struct {
	Kind         string        `yaml:"kind" doc:"what went wrong, see Kinds"`
	Code         string        `yaml:"code" doc:"the stable upper-case name, see Kinds; several kinds share one"`
	Variant      string        `yaml:"variant" doc:"a finer word, for example missing or stalled; often empty"`
	Origin       string        `yaml:"origin" doc:"whose failure it is: model, tool, prompt, hook or runner"`
	Phase        string        `yaml:"phase" doc:"how far the attempt had come: prompt, before_connect, before_first_event, mid_stream, end_of_stream or tool"`
	Retryable    bool          `yaml:"retryable" doc:"whether the same input may succeed later"`
	Provider     string        `yaml:"provider" doc:"the configured provider entry, for example anthropic"`
	Model        string        `yaml:"model" doc:"the full name of the model that failed"`
	HTTPStatus   int           `yaml:"http_status" doc:"the HTTP status; 0 = none"`
	ProviderCode string        `yaml:"provider_code" doc:"the code in the provider's answer, for example insufficient_quota"`
	Tool         string        `yaml:"tool" doc:"the tool, where one failed"`
	RetryAfter   time.Duration `yaml:"retry_after" doc:"what the provider demands to wait; 0s = nothing. A retry never undercuts it, whatever a rule says"`
	At           time.Time     `yaml:"at" doc:"when the attempt ended; of a replayed failure, when it did"`
	ResetsAt     time.Time     `yaml:"resets_at" doc:"when the quota starts anew; ask has(failure.resets_at) first"`
	ResetsIn     time.Duration `yaml:"resets_in" doc:"from at to resets_at; 0s = not known"`
	Timer        string        `yaml:"timer" doc:"the clock that fired: connect, first_event, bytes, idle, step, max_turn, run or tool; otherwise empty"`
	Limit        time.Duration `yaml:"limit" doc:"what that clock was set to"`
	Elapsed      time.Duration `yaml:"elapsed" doc:"how long the attempt, step or run had taken"`
	LastStep     string        `yaml:"last_step" doc:"what finished last: a tool's name, answer, or empty"`
	Title        string        `yaml:"title" doc:"our own headline for people, for a reason"`
}

// Remaining is what a run has left. Unlimited is a huge number; used up is 0.
type Remaining struct {
	Attempts int           `yaml:"attempts" doc:"attempts of this model call, under the limit that no policy lifts"`
	Time     time.Duration `yaml:"time" doc:"until the run's time is over"`
	Tokens   int64         `yaml:"tokens" doc:"of the run's budget"`
	Dollars  float64       `yaml:"dollars" doc:"of the run's budget"`
}

// Spent is what a run has used.
type Spent struct {
	Tokens  int64   `yaml:"tokens" doc:"of every kind"`
	Dollars float64 `yaml:"dollars" doc:"as far as prices are known"`
}

// Alternative is a model that the run could be switched to.
type Alternative struct {
	Model         string  `yaml:"model" doc:"its full name, provider/model"`
	Provider      string  `yaml:"provider" doc:"the part before the first slash"`
	ContextTokens int64   `yaml:"context_tokens" doc:"the size of its context; 0 = not known"`
	OutputPrice   float64 `yaml:"output_price" doc:"dollars for a million output tokens; -1 = not known"`
	Local         bool    `yaml:"local" doc:"it is served on this machine"`
	Health        string  `yaml:"health" doc:"how its last call ended, of all runs: well or failing; empty = not known"`
}

// Tried is a failed attempt.
type Tried struct {
	Model string        `yaml:"model" doc:"the model that was asked"`
	Code  string        `yaml:"code" doc:"what became of it, as failure.code"`
	At    time.Time     `yaml:"at" doc:"when it began"`
	Took  time.Duration `yaml:"took" doc:"how long it took"`
}

// unlimited is more than any run has.
var unlimited = Remaining{Attempts: math.MaxInt, Time: math.MaxInt64, Tokens: math.MaxInt64, Dollars: math.Inf(1)}

// factsOf extracts from an event what rules may know.
func factsOf(e plugin.Event) *Facts {
	f := &Facts{
		Failure: failureOf(e.Failure), Model: e.Model, Attempt: e.Attempt, Retries: e.Retries, MaxRetries: e.MaxRetries,
		AutoRecover: e.AutoRecover, Elapsed: e.Elapsed, Remaining: remainingOf(e.RemainingAttempts, e.RemainingTime, e.Remaining), ReplaySafety: e.ReplaySafety,
		UnsafeTools: e.UnsafeTools, PartialShown: e.PartialShown, IdleBreaker: e.IdleBreaker, IdleExpiries: e.IdleExpiries,
	}
	f.Alternatives, f.Tried = alternativesOf(e.Models), triedOf(e.Tried)
	f.Labels, f.SessionKey, f.AgentID, f.Spent = e.Labels, e.SessionKey, e.AgentID, spentOf(e.Spent)
	f.InputTokens, f.Tools, f.Images, f.Schema = e.InputTokens, e.Tools, e.Images, e.Schema
	f.FailedKinds, f.RecentKinds = kindsAsText(e.FailedKinds), recentKinds(e.RecentCalls)
	f.Failure.At = e.Time
	f.complete()
	return f
}

func failureOf(f failure.Failure) Failure {
	return Failure{
		Kind: string(f.Kind), Code: string(f.Code), Variant: f.Variant, Origin: string(f.Origin), Phase: string(f.Phase),
		Retryable: f.Retryable, Provider: f.Provider, Model: f.Model, HTTPStatus: f.HTTPStatus, ProviderCode: f.ProviderCode,
		Tool: f.Tool, RetryAfter: f.RetryAfter.Duration(), ResetsAt: f.ResetsAt, Timer: string(f.Timer),
		Limit: f.Limit.Duration(), Elapsed: f.Elapsed.Duration(), LastStep: f.LastStep, Title: f.Title,
	}
}

// micros are the microdollars in a dollar.
const micros = 1e6

func remainingOf(attempts int, left time.Duration, budget recovery.Budget) Remaining {
	r := unlimited
	r.Attempts = attempts
	if left != 0 {
		r.Time = max(0, left)
	}
	if budget.Tokens != 0 {
		r.Tokens = max(0, budget.Tokens)
	}
	if budget.Microdollars != 0 {
		r.Dollars = max(0, float64(budget.Microdollars)/micros)
	}
	return r
}

// complete derives missing facts from others.
func (f *Facts) complete() {
	for i := range f.Alternatives {
		a := &f.Alternatives[i]
		a.Provider = providerOf(a.Model)
	}
	if f.Failure.At.IsZero() && len(f.Tried) > 0 {
		if last := f.Tried[len(f.Tried)-1]; !last.At.IsZero() {
			f.Failure.At = last.At.Add(last.Took)
		}
	}
	if f.At.IsZero() {
		f.At = f.Failure.At
	}
	if !f.Failure.ResetsAt.IsZero() && !f.Failure.At.IsZero() {
		f.Failure.ResetsIn = max(0, f.Failure.ResetsAt.Sub(f.Failure.At))
	}
	if f.Labels == nil {
		f.Labels = map[string]string{}
	}
	if f.Counts == nil {
		f.Counts = map[string]int{}
	}
	if f.ReplaySafety == "" {
		f.ReplaySafety = "unknown"
	}
}

// Happened sets the time of the failure if it is unknown.
func (f *Facts) Happened(at time.Time) {
	if f.Failure.At.IsZero() {
		f.Failure.At = at
		f.complete()
	}
}

func providerOf(model string) string {
	provider, _, _ := strings.Cut(model, "/")
	return provider
}

// nameOf is the name of a field in rules.
func nameOf(f reflect.StructField) string { return f.Tag.Get("yaml") }
