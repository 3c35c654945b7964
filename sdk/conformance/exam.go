package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// Topics of an exam, in the order in which they come.
const (
	TopicProcess   = "process"   // what it does as a process: Checks
	TopicFailures  = "failures"  // what it says to every kind of failure
	TopicOccasions = "occasions" // what it says to whatever else it offers to be asked about
	TopicHostile   = "hostile"   // what it must survive
	TopicBounds    = "bounds"    // how much it may use
)

// Exam holds any plugin to what is demanded of all of them, with mutual TLS. It needs
// no commands: whatever the plugin decides is right if a host can take it.
type Exam struct {
	Command  Command
	Deadline time.Duration                 // of an answer; 0 = 2 s
	Wanted   func(topic, name string) bool // what is examined; nil = everything
	Report   func(Result)                  // hears every result as it comes; required
}

// Result is how a plugin did in one respect.
type Result struct {
	Topic, Name string
	Took        time.Duration
	Skipped     string // why it was not examined; empty = it was
	Err         error  // what came instead of what was expected; nil = it passed
	Demand      string // what was expected
	Advice      string // what to do about Err
	Answers     []Answer
}

// Answer is what a plugin said to an event.
type Answer struct {
	Shape string // of the event
	Vote  recovery.Vote
	Took  time.Duration
	Note  string // why it will not count, though it is valid
}

// Portrait is who the plugin says it is, and how quick it is.
type Portrait struct {
	Name, Version string
	Timing        *Timing // nil if it was not measured

	occasions []string // that it offers beside run_error
}

// Hold holds the exam. A plugin that does not start is asked nothing else; the error
// is ctx's.
func (e Exam) Hold(ctx context.Context) (Portrait, error) {
	portrait, alive := e.begin(ctx)
	if alive {
		e.checks(ctx, TopicProcess, false)
		noise := e.questions(ctx, portrait.occasions)
		e.checks(ctx, TopicHostile, true)
		noise()
		e.memory(ctx)
		portrait.Timing = e.timing(ctx)
	}
	return portrait, ctx.Err()
}

// begin reports whether the plugin starts and takes its configuration, without which
// nothing else can be examined.
func (e Exam) begin(ctx context.Context) (Portrait, bool) {
	var portrait Portrait
	for _, check := range Checks[:2] {
		result := e.check(ctx, TopicProcess, check)
		if result.Err != nil || e.wants(TopicProcess, check.Name) {
			e.report(ctx, result)
		}
		if result.Err != nil {
			return portrait, false
		}
	}
	_ = with(ctx, e.Command, true, func(p *Plugin) error {
		described, err := p.service.Describe(ctx, &mulliganv1.DescribeRequest{})
		portrait.Name, portrait.Version, portrait.occasions = described.GetName(), described.GetVersion(), described.GetOccasions()
		return err
	})
	return portrait, ctx.Err() == nil
}

func (e Exam) wants(topic, name string) bool { return e.Wanted == nil || e.Wanted(topic, name) }

// report tells a result, unless it came of a person's impatience.
func (e Exam) report(ctx context.Context, r Result) {
	if ctx.Err() == nil {
		e.Report(r)
	}
}

// checks runs those that an ordinary plugin must pass, each with a process of its own.
func (e Exam) checks(ctx context.Context, topic string, survival bool) {
	for _, check := range Checks[2:] {
		if !check.Obeys && check.Survival == survival && ctx.Err() == nil && e.wants(topic, check.Name) {
			e.report(ctx, e.check(ctx, topic, check))
		}
	}
}

func (e Exam) check(ctx context.Context, topic string, check Check) Result {
	began := time.Now()
	err := check.Run(ctx, e.Command, true)
	return Result{
		Topic: topic, Name: check.Name, Took: time.Since(began), Err: err, Demand: check.Demand, Advice: check.Advice,
	}
}

// sitting is the process that answers questions. One that died is replaced.
type sitting struct {
	exam    Exam
	plugin  *Plugin
	calls   int // that the process was asked
	replace int // how many more processes there may be
}

// questions asks everything that an ordinary plugin must have an answer to. The
// function that it gives reports what the plugin wrote to standard error meanwhile.
func (e Exam) questions(ctx context.Context, occasions []string) (noise func()) {
	s := &sitting{exam: e, replace: 4}
	defer s.end()
	for _, topic := range []struct {
		name      string
		questions []question
	}{{TopicFailures, kindQuestions()}, {TopicOccasions, occasionQuestions(occasions)}, {TopicHostile, hostileQuestions()}} {
		for _, q := range topic.questions {
			if ctx.Err() == nil && e.wants(topic.name, q.Name) {
				e.report(ctx, s.ask(ctx, topic.name, q))
			}
		}
	}
	if s.plugin == nil || !e.wants(TopicBounds, noiseName) {
		return func() {}
	}
	heard := s.noise()
	return func() { e.report(ctx, heard) }
}

func (s *sitting) end() {
	if s.plugin != nil {
		s.plugin.Kill()
	}
}

// ready has a living plugin.
func (s *sitting) ready(ctx context.Context) error {
	if s.plugin != nil && !s.plugin.process.over(time.Millisecond) {
		return nil
	}
	if s.end(); s.replace == 0 {
		return errors.New("too many processes have died")
	}
	s.replace--
	s.calls = 0
	var err error
	if s.plugin, err = Start(ctx, s.exam.Command, true); err != nil {
		return err
	}
	return s.plugin.Configure(ctx, s.exam.Command.Config)
}

func (s *sitting) ask(ctx context.Context, topic string, q question) Result {
	within := cmp.Or(q.within, s.exam.Deadline, slack*answerWithin)
	r := Result{
		Topic: topic, Name: q.Name,
		Demand: fmt.Sprintf("an answer that a host can take, or no opinion, within %v", within),
	}
	if err := s.ready(ctx); err != nil {
		r.Skipped = "no process to ask: " + err.Error()
		r.Err = err
		return r
	}
	began := time.Now()
	for _, part := range q.parts(within) {
		s.calls += part.calls
		answer, err := part.ask(ctx, s.plugin)
		if err != nil {
			r.Err, r.Advice = fmt.Errorf("%s: %w", part.name, said(err)), adviceAbout(err)
			if s.plugin.process.over(100 * time.Millisecond) {
				r.Err = fmt.Errorf("%w; the process ended; standard error: %s", r.Err, s.plugin.process.stderr.tail())
			}
			break
		}
		r.Answers = append(r.Answers, answer)
	}
	r.Took = time.Since(began)
	return r
}

// answer is what the plugin says to a talk that takes any answer, the first one if it
// is asked several times.
func (p *Plugin) answer(ctx context.Context, t Talk) (Answer, error) {
	calls := max(t.Times, 1)
	type one struct {
		answer Answer
		err    error
	}
	heard := make(chan one, calls)
	for n := range calls {
		go func() {
			began := time.Now()
			reply, err := p.ask(ctx, t, n)
			a := Answer{Shape: t.Name, Took: time.Since(began)}
			if err == nil {
				err = t.judge(n, reply, nil)
			}
			if err == nil {
				a.Vote, err = protoconv.Reply(reply)
				a.Note = noteOn(a.Vote, t)
			}
			heard <- one{a, err}
		}()
	}
	first := <-heard
	for range calls - 1 {
		if next := <-heard; first.err == nil && next.err != nil {
			first = next
		}
	}
	return first.answer, first.err
}

// noteOn says why a valid answer will not count.
func noteOn(v recovery.Vote, t Talk) string {
	if v.Action != recovery.ActionSwitchModel {
		return ""
	}
	request, err := t.request(0)
	if err != nil {
		return ""
	}
	for _, a := range request.GetAlternatives() {
		if a.GetModel() == v.NewModel {
			return ""
		}
	}
	return fmt.Sprintf("%q is none of the event's alternatives, so this will not count", v.NewModel)
}

// said is a gRPC status as people read one: "UNKNOWN: it went boom".
func said(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	return fmt.Errorf("%v: %s", s.Code(), s.Message())
}

// adviceAbout is what an author can do about an answer that a host cannot take.
func adviceAbout(err error) string {
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return "limit what takes long, or give the plugin more time: deadline, up to 5s, in mulligan.yaml"
	case codes.ResourceExhausted:
		return "set the server's limit for received messages to 64 MiB"
	case codes.Unavailable:
		return stayUp
	case codes.Unimplemented:
		return "serve mulligan.v1.RecoveryPlugin with all of its methods"
	}
	if _, ok := status.FromError(err); ok {
		return "what the function raises counts as no opinion, and as a failure of the plugin: handle it there, and look at standard error for where it came from"
	}
	return `correct the decision: docs/plugin-protocol.md, "The answer", has what a host takes`
}

const noiseName = "standard error"

// What a plugin may write to standard error for each call, on average, in bytes and
// lines, and in a line, in bytes: a host drops or cuts the rest.
const (
	maxNoise      = 16 << 10
	maxNoiseLines = 20
	maxNoiseLine  = 8 << 10
)

func (s *sitting) noise() Result {
	r := Result{
		Topic: TopicBounds, Name: noiseName,
		Demand: fmt.Sprintf("at most %d lines and %d KiB a call on average, and no line of more than %d KiB", maxNoiseLines, maxNoise>>10, maxNoiseLine>>10),
		Advice: "log less: a host keeps 200 lines a second and 1 MiB a minute, and cuts long lines",
	}
	c := s.plugin.process.stderr
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := max(s.calls, 1)
	if c.lines/calls > maxNoiseLines || c.size/calls > maxNoise || c.longest > maxNoiseLine+1 {
		begin := c.text.String()
		r.Err = fmt.Errorf("%d lines and %d KiB in %d calls, the longest line of %d bytes; it begins: %s",
			c.lines, c.size>>10, calls, c.longest, strings.ToValidUTF8(begin[:min(len(begin), 200)], ""))
	}
	return r
}
