package conformance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// question is what any plugin can be asked, in one shape or several: every answer
// that a host finds valid will do, no opinion included.
type question struct {
	Name      string
	Talks     []Talk        // about failures
	occasions []shaped      // about something else
	within    time.Duration // that an answer may take; 0 = what the exam says
}

// part is one shape of a question.
type part struct {
	name  string
	calls int
	ask   func(context.Context, *Plugin) (Answer, error)
}

// parts are the shapes of the question, in the order in which they are asked.
func (q question) parts(within time.Duration) (parts []part) {
	for _, talk := range q.Talks {
		talk.Deadline = within.Milliseconds()
		parts = append(parts, part{talk.Name, max(talk.Times, 1), func(ctx context.Context, p *Plugin) (Answer, error) { return p.answer(ctx, talk) }})
	}
	for _, s := range q.occasions {
		parts = append(parts, part{s.name, 1, func(ctx context.Context, p *Plugin) (Answer, error) { return p.answerTo(ctx, s, within) }})
	}
	return parts
}

// What the events of questions name.
const (
	askedModel = "test/one"
	otherModel = "test/two"
)

// kindQuestions has a question about every kind of failure, each in the same shapes.
func kindQuestions() []question {
	var list []question
	for _, kind := range failure.Kinds() {
		q := question{Name: string(kind)}
		for _, s := range shapes {
			m := eventOf(kind)
			s.change(m)
			q.Talks = append(q.Talks, anyAnswer(s.name, m))
		}
		list = append(list, q)
	}
	return list
}

// shapes are the circumstances of a failure.
var shapes = []struct {
	name   string
	change func(*mulliganv1.RunErrorRequest)
}{
	{"first attempt", func(*mulliganv1.RunErrorRequest) {}},
	{"third attempt", func(m *mulliganv1.RunErrorRequest) {
		m.Attempt, m.Retries, m.RemainingAttempts = 2, 2, 8
		for n := range 2 {
			m.Tried = append(m.Tried, &mulliganv1.Tried{
				Attempt: int32(n), Model: askedModel, Code: m.GetFailure().GetCode(), Ms: 700,
				At: timestamppb.New(time.Date(2026, 5, 4, 3, 2, n, 0, time.UTC)),
			})
		}
	}},
	{"nothing left", func(m *mulliganv1.RunErrorRequest) {
		m.Alternatives, m.AutoRecover, m.IdleBreaker, m.IdleExpiries = nil, false, true, 3
		m.Attempt, m.Retries, m.RemainingAttempts, m.RemainingMs = 10, 10, 0, -1
		m.Remaining = &mulliganv1.Budget{Tokens: -1, Microdollars: -1}
	}},
	{"everything set", everything},
}

// eventOf is a first failure of a kind, with two models to switch to.
func eventOf(kind failure.Kind) *mulliganv1.RunErrorRequest {
	return &mulliganv1.RunErrorRequest{
		DryRun: true, Time: timestamppb.New(time.Date(2026, 5, 4, 3, 2, 5, 0, time.UTC)),
		Run: "run-1", Model: askedModel, MaxRetries: 10, AutoRecover: true, ElapsedMs: 1500, RemainingAttempts: 10,
		ReplaySafety: mulliganv1.ReplaySafety_REPLAY_SAFETY_SAFE,
		Alternatives: []*mulliganv1.Alternative{{Model: otherModel, ContextTokens: 200_000}, {Model: "spare/one"}},
		Failure: protoconv.FailureToProto(failure.Failure{
			Kind: kind, Code: kind.Code(), Retryable: kind.Retryable(), Origin: failure.OriginModel,
			Phase: failure.PhaseBeforeFirstEvent, Provider: "test", Model: askedModel,
			Title: "The model failed", Message: "The provider said so.", Detail: "it is " + string(kind),
		}),
	}
}

func ordinary() *mulliganv1.RunErrorRequest { return eventOf(failure.KindUnavailable) }

func everything(m *mulliganv1.RunErrorRequest) {
	m.Session, m.Attempt, m.Retries = "session-1", 1, 1
	m.Remaining = &mulliganv1.Budget{Tokens: 5000, Microdollars: 250_000}
	m.RemainingMs, m.PartialShown, m.IdleExpiries = 60_000, true, 1
	m.ReplaySafety, m.UnsafeTools = mulliganv1.ReplaySafety_REPLAY_SAFETY_UNSAFE, []string{"send_mail", "pay"}
	f := m.GetFailure()
	f.Variant, f.HttpStatus, f.ProviderCode, f.RequestId = "stalled", 429, "rate_limit_exceeded", "req_1"
	f.Tool, f.LastStep, f.Timer = "send_mail", "answer", mulliganv1.Timer_TIMER_IDLE
	f.RetryAfterMs, f.LimitMs, f.ElapsedMs, f.LastStepElapsedMs = 7500, 30_000, 31_000, 1250
	f.ResetsAt = timestamppb.New(time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC))
	f.Detail = strings.Repeat("It is busy. ", 680) // nearly 8 KiB, as much as a host sends
}

// anyAnswer makes a talk to which every valid answer will do.
func anyAnswer(name string, m *mulliganv1.RunErrorRequest) Talk {
	event, err := protojson.Marshal(m)
	if err != nil {
		panic(err) // the messages are of this file
	}
	return Talk{Name: name, Event: event, Any: true}
}

// hostileQuestions are events that a plugin must answer though nothing like them
// occurs every day: those of newer hosts, and large, strange and many ones.
func hostileQuestions() []question {
	change := func(name string, f func(*mulliganv1.RunErrorRequest)) Talk {
		m := ordinary()
		f(m)
		return anyAnswer(name, m)
	}
	large, many := anyAnswer("4 MiB", ordinary()), anyAnswer("32 at once", ordinary())
	large.Padding, many.Times = 4<<20+1000, 32
	tomorrow := anyAnswer("fields of tomorrow", ordinary())
	tomorrow.Extra, _ = base64.StdEncoding.DecodeString("oh8NZnJvbSB0b21vcnJvd6gfB7EfAQEBAQEBAQG9HwICAgIaCqIfBG1vcmWoHwE=")
	return []question{
		{Name: "an empty event", Talks: []Talk{{Name: "empty", Event: json.RawMessage("{}"), Any: true}}},
		{Name: "a newer host", Talks: []Talk{
			change("a kind by number", func(m *mulliganv1.RunErrorRequest) { m.Failure.Kind = 77 }),
			change("a kind by name", func(m *mulliganv1.RunErrorRequest) { m.Failure.Kind, m.Failure.KindName = 0, "brand_new" }),
			change("other enums", func(m *mulliganv1.RunErrorRequest) {
				m.Failure.Origin, m.Failure.Phase, m.Failure.Timer, m.ReplaySafety = 9, 9, 99, 9
			}),
			tomorrow,
		}},
		{Name: "the last numbers", Talks: []Talk{change("as large as they get", func(m *mulliganv1.RunErrorRequest) {
			most := int32(recovery.MaxAttemptsInAll - 1)
			m.Attempt, m.Retries, m.MaxRetries, m.RemainingAttempts, m.IdleExpiries = most, most, most, 1, 1<<31-1
			m.Remaining = &mulliganv1.Budget{Tokens: 1<<63 - 1, Microdollars: 1<<63 - 1}
			m.ElapsedMs, m.RemainingMs, m.Failure.ElapsedMs, m.Failure.LimitMs = 1<<53, 1<<53, 1<<53, 1<<53
			m.Failure.RetryAfterMs, m.Failure.HttpStatus = int64(failure.MaxDelay), 999
			m.Failure.ResetsAt = timestamppb.New(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
		})}},
		{Name: "all of Unicode", Talks: []Talk{change("text", func(m *mulliganv1.RunErrorRequest) {
			m.Failure.Title, m.Failure.Detail = unicodeText, strings.Repeat(unicodeText, 50)
			m.UnsafeTools, m.Session, m.Alternatives[0].Model = []string{unicodeText}, unicodeText, "test/"+unicodeText
		})}},
		{Name: "an event of 4 MiB", Talks: []Talk{large}},
		{Name: "32 calls at once", Talks: []Talk{many}},
	}
}

// unicodeText has what breaks careless code: a NUL, quotes, a line's end, right to left,
// a combining mark, a family of four, and the last character that there is.
const unicodeText = "\x00\"'\\\n\r\u2028 é e\u0301 Ünï¢ødé 世界 \u202eעברית\u202c 👨‍👩‍👧‍👦 \U0010ffff"
